import MynahCore

/// What a radio keeps for security, besides what each link has.
struct SecurityKeeper {
    /// How many peers' failures are remembered.
    static let attemptLimit = 64

    var random = SecurityRandom()
    /// The bonds, and our own identity towards them.
    var bonds: BondStore
    /// The peers that failed to pair, and how long they have to wait.
    private var attempts: [DeviceAddress: PairingAttempts] = [:]
    /// False: there is a file with others, which could not be read nor set aside.
    var maySave = true

    init() {
        bonds = BondStore(from: &random)
    }

    subscript(attempts address: DeviceAddress) -> PairingAttempts {
        get { attempts[address] ?? PairingAttempts() }
        set {
            guard newValue != PairingAttempts() else { return attempts[address] = nil }
            // Whoever makes up an address for each attempt is not kept out by any list.
            if attempts.count >= Self.attemptLimit, attempts[address] == nil { attempts = [:] }
            attempts[address] = newValue
        }
    }
}

/// What a link has of security.
struct LinkPairing {
    /// With which key the controllers are about to encrypt.
    enum Encryption: Hashable {
        case idle
        /// That of the pairing which is under way.
        case pairing
        /// That of the bond with this identity.
        case bond(DeviceAddress)
    }

    /// The addresses that were on the air as the link came to be, which pairing covers (Core Specification, Vol 3, Part H,
    /// 2.2.3).
    var own: DeviceAddress
    var peer: DeviceAddress
    /// Made when it is first needed.
    var machine: PairingMachine?
    var encryption = Encryption.idle
    /// Counts what the user is asked, so that a late answer answers nothing else.
    var question = 0
    /// Who waits for the link to be secured.
    var waiters: [CheckedContinuation<Result<Void, RadioError>, Never>] = []
    /// What the bond remembers is in place.
    var isRestored = false

    init(own: DeviceAddress, peer: DeviceAddress) {
        self.own = own
        self.peer = peer
    }
}
