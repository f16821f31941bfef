import MynahCore
import MynahHCI
import MynahSupport

/// The Security Manager of a radio: pairing and encryption on every link, and the bonds (Core Specification,
/// Vol 3, Part H).
///
/// A part without I/O. The driver passes on events, carries out the actions, and calls `expire` when a link's
/// `deadline` has come. The calls that wait for a link to be secured are numbers, which the driver gives.
struct SecurityManager: Sendable {
    /// An action for the driver.
    enum Action {
        /// Send a PDU over the Security Manager's channel.
        case send(SMPPDU, link: ConnectionHandle)
        /// Encrypt a link with a key, as its central; a refusal is reported by `encryptionChanged`.
        case encrypt(link: ConnectionHandle, Peer.ID, Bond.LongTermKey)
        /// Answer the controller's request for a long-term key; with `nil` there is none.
        case giveKey(SecretKey?, link: ConnectionHandle)
        /// Ask the user; the answer goes to `answered`. A number to display needs no answer.
        case ask(Question)
        /// The peer's name, address or bond has changed.
        case peerChanged(Peer, link: ConnectionHandle)
        /// The peer has paired, which is reported to the halves that use the link.
        case paired(Peer, link: ConnectionHandle)
        /// A link is encrypted, with the key of this bond or with that of a pairing.
        case secured(link: ConnectionHandle, by: Bond?)
        /// A link is encrypted with the key of a bond for the first time: the client configuration in the
        /// bond applies again.
        case restore(Bond, link: ConnectionHandle)
        /// A bond was made. Other parts add their knowledge of the peer with `update`.
        case bonded(link: ConnectionHandle)
        /// Report something of a link on which this side is the peripheral.
        case event(RadioEvent)
        /// Report something of a link on which this side is the central.
        case centralEvent(CentralEvent)
        /// Warn of a problem that belongs to no link.
        case warn(RadioWarning)
        /// End calls that wait, with an error or well.
        case end([UInt64], RadioError?)
        /// Write the bonds to their file.
        case saveBonds
    }

    /// A question to the user.
    struct Question: Hashable {
        var link: ConnectionHandle
        var peer: Peer.ID
        /// This side's role on the link.
        var role: LEConnection.Role
        var step: PairingStep
        /// Counts the questions of a link, so that a late answer answers no other.
        var number: Int
    }

    /// How the radio pairs, on every link.
    struct Configuration: Hashable, Sendable {
        /// Whether this device pairs.
        ///
        /// If not, every Pairing Request is refused with Pairing Not Supported.
        var isPairable = true
        var hasSecureConnections = true
        /// Where the bonds are kept, or `nil` if they are in memory only.
        var file: String?
    }

    /// The addresses that pairing on a link covers.
    struct Addresses: Hashable, Sendable {
        /// The addresses that were on the air when the link began (Vol 3, Part H, 2.2.3).
        var own: DeviceAddress
        var peer: DeviceAddress
        /// The identity address that this side distributes.
        var identity: DeviceAddress
    }

    /// The key with which the controllers are about to encrypt.
    enum Encryption: Hashable {
        case idle
        /// The key of the current pairing.
        case pairing
        /// The key of the bond with this identity.
        case bond(DeviceAddress)
    }

    /// The state of one link.
    struct Entry: Sendable {
        let role: LEConnection.Role
        let addresses: Addresses
        var peer: Peer
        var security: LinkSecurity
        /// The pairing machine, made when it is first needed.
        var machine: PairingMachine?
        var encryption = Encryption.idle
        /// The number of the last question.
        var lastQuestion = 0
        /// The last question of this pairing to this side's user.
        var question: PairingStep?
        /// `true` if the last question needs an answer, and has none yet.
        var isAsking = false
        /// The calls that wait for the link to be secured.
        var waiters: [UInt64] = []
        /// The client's state was restored from the bond.
        var isRestored = false
        /// The link is encrypted with the key of a bond that was deleted since.
        var isBondDeleted = false
    }

    /// How many peers' failures are remembered.
    static let attemptLimit = 64
    static let linkEnded = RadioError(.disconnected, "the link ended before it was secured")
    static let bondDeleted = RadioError(
        .pairingFailed, "the link is still encrypted with the key of the deleted bond",
        remedy: "disconnect, connect and pair again")

    let configuration: Configuration
    /// The device's IO capability.
    var ioCapability = IOCapability.noInputNoOutput
    /// The largest key that it takes part in, in octets.
    private(set) var largestKeySize = 16
    var random: SecurityRandom
    /// The bonds, and our own identity towards them.
    private(set) var bonds: BondStore
    /// False if there is a file with other bonds, which could not be read nor set aside.
    private var maySave = true
    /// The waiting times after failed pairings, by the peers' addresses on the air.
    private var attempts: [DeviceAddress: PairingAttempts] = [:]
    var entries = SortedMap<ConnectionHandle, Entry>()

    init(_ configuration: Configuration = Configuration(), random: SecurityRandom = SecurityRandom()) {
        self.configuration = configuration
        self.random = random
        bonds = BondStore(from: &self.random)
    }

    /// Begins as a device with these capabilities.
    mutating func begin(as identity: DeviceIdentity) {
        (ioCapability, largestKeySize) = (identity.ioCapability, identity.largestKeySize)
    }

    // MARK: Links

    /// A link began; a peer that is bonded is known by its identity.
    mutating func linkBegan(
        _ link: ConnectionHandle, _ role: LEConnection.Role, to peer: Peer, _ addresses: Addresses
    ) {
        entries[link] = Entry(
            role: role, addresses: addresses, peer: peer, security: LinkSecurity(isBonded: peer.isPaired))
    }

    /// Removes a link that has ended, and ends the calls that wait for it.
    mutating func linkEnded(_ link: ConnectionHandle, _ actions: inout [Action]) {
        guard let index = entries.index(of: link) else { return }
        end(index, Self.linkEnded, &actions)
        entries[link] = nil
    }

    /// How a link is protected; not at all if there is no such link.
    subscript(link: ConnectionHandle) -> LinkSecurity {
        guard let index = entries.index(of: link) else { return LinkSecurity() }
        return entries[at: index].security
    }

    /// The time at which `expire` has to be called for a link, or `nil` if no procedure is under way.
    func deadline(of link: ConnectionHandle) -> Duration? {
        entries.index(of: link).flatMap { entries[at: $0].machine?.deadline }
    }

    /// Ends the calls that wait for a link to be secured.
    mutating func end(_ index: Int, _ error: RadioError?, _ actions: inout [Action]) {
        guard !entries[at: index].waiters.isEmpty else { return }
        actions.append(.end(entries[at: index].waiters, error))
        entries[at: index].waiters = []
    }

    /// The failed attempts of a peer, which determine its waiting time.
    subscript(attempts address: DeviceAddress) -> PairingAttempts {
        get { attempts[address] ?? PairingAttempts() }
        set {
            guard newValue != PairingAttempts() else { return attempts[address] = nil }
            // A peer that makes up an address for each attempt is not kept out by any list.
            if attempts.count >= Self.attemptLimit, attempts[address] == nil { attempts = [:] }
            attempts[address] = newValue
        }
    }

    // MARK: Bonds

    /// Loads the content of the file of bonds.
    mutating func load(_ contents: BondFile.Contents, _ actions: inout [Action]) {
        maySave = contents.mayReplace
        if let store = contents.store { bonds = store }
        if let warning = contents.warning {
            actions.append(.warn(RadioWarning("bondsUnusable", warning)))
        }
    }

    /// The identity of the bonded peer that uses an address, or `nil` if there is none.
    func identity(of address: DeviceAddress) -> DeviceAddress? { bonds[address]?.identity }

    /// The static random address, which is stored with the bonds.
    mutating func staticAddress(_ actions: inout [Action]) -> DeviceAddress {
        if let kept = bonds.staticAddress { return kept }
        let new = PrivateAddress.fixed(from: &random)
        bonds.staticAddress = new
        save(&actions)
        return new
    }

    /// Forgets a peer's keys, which are new when it pairs again; returns whether there were any.
    mutating func forgetBond(with address: DeviceAddress, _ actions: inout [Action]) -> Bool {
        guard let identity = identity(of: address) else { return false }
        bonds.forget(identity)
        save(&actions)
        for index in entries.indices where entries[at: index].peer.address == identity {
            entries[at: index].security.isBonded = false
            entries[at: index].isBondDeleted = entries[at: index].security.isEncrypted
            entries[at: index].peer.isPaired = false
            actions.append(.peerChanged(entries[at: index].peer, link: entries.keys[index]))
        }
        return true
    }

    /// Pairing gave a bond.
    mutating func keep(_ bond: Bond, _ index: Int, _ actions: inout [Action]) {
        if let old = bonds[bond.identity], bond.isWeaker(than: old) {
            let message = "\(bond.identity) paired again with less security than before: \(bond)"
            actions.append(.warn(RadioWarning("bondWeaker", message)))
        }
        let link = entries.keys[index]
        entries[at: index].security.isBonded = true
        entries[at: index].isBondDeleted = false
        entries[at: index].isRestored = true
        entries[at: index].peer.address = bond.identity
        actions.append(.peerChanged(entries[at: index].peer, link: link))
        var bond = bond
        let onAir = entries[at: index].addresses.peer
        if onAir.isIdentity, onAir != bond.identity { bond.usedAddress = onAir }
        bonds.keep(bond)
        actions.append(.bonded(link: link))
        save(&actions)
    }

    /// Changes the bond of a link's peer; returns `false` if the peer is not bonded.
    @discardableResult
    mutating func update(_ link: ConnectionHandle, _ change: (inout Bond) -> Void) -> Bool {
        guard let index = entries.index(of: link), entries[at: index].security.isBonded,
            let address = entries[at: index].peer.address
        else { return false }
        return bonds.update(address, change)
    }

    /// Changes and saves the bond of a link's peer, if there is one.
    mutating func remember(
        _ link: ConnectionHandle, _ actions: inout [Action], _ change: (inout Bond) -> Void
    ) {
        if update(link, change) { save(&actions) }
    }

    /// Notes the configuration of a bonded client.
    ///
    /// Until the link is encrypted, the bond has the valid configuration, and nothing is noted.
    mutating func rememberClient(
        _ link: ConnectionHandle, _ actions: inout [Action], _ change: (inout Bond) -> Void
    ) {
        guard let index = entries.index(of: link), entries[at: index].isRestored else { return }
        remember(link, &actions, change)
    }

    /// The PDU with our signature, or `nil` if there is no key for it (Vol 3, Part C, 10.4.1).
    mutating func sign(_ pdu: [UInt8], _ link: ConnectionHandle, _ actions: inout [Action]) -> [UInt8]? {
        var signed: [UInt8]?
        update(link) { signed = $0.sign(pdu) }
        if signed != nil { save(&actions) }
        return signed
    }

    /// Whether a command that came unencrypted was signed by the bonded peer just now (Vol 3, Part C,
    /// 10.4.2).
    mutating func verify(signed pdu: [UInt8], _ link: ConnectionHandle, _ actions: inout [Action]) -> Bool {
        var isGood = false
        update(link) { isGood = $0.verify(signed: pdu) }
        if isGood { save(&actions) }
        return isGood
    }

    private func save(_ actions: inout [Action]) {
        if maySave { actions.append(.saveBonds) }
    }
}
