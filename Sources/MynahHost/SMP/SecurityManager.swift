import MynahCore
import MynahHCI
import MynahSupport

/// The Security Manager of a radio: pairing and encryption on every link, and the bonds (Core Specification,
/// Vol 3, Part H).
///
/// This state machine has no I/O. Its driver passes on events, carries out the actions, and calls `expire` at
/// a link's `deadline`. The driver also stores the calls that wait for a link to be secured; here a number
/// identifies each of them.
struct SecurityManager: Sendable {
    /// An action for the driver.
    enum Action {
        /// Send a PDU on the Security Manager's channel.
        case send(SMPPDU, link: ConnectionHandle)
        /// Start encryption with a key, as the central; a refusal is passed to `encryptionChanged`.
        case encrypt(link: ConnectionHandle, Peer.ID, Bond.LongTermKey)
        /// Answer the controller's request for a long-term key; `nil` means that there is no key.
        case giveKey(SecretKey?, link: ConnectionHandle)
        /// Ask the user, and pass the answer to `answered`; a passkey to display needs no answer.
        case ask(Question)
        /// The peer's address or bond has changed.
        case peerChanged(Peer, link: ConnectionHandle)
        /// The peer has paired: report this to the roles of the link.
        case paired(Peer, link: ConnectionHandle)
        /// A link was encrypted with the key of this bond, or of a pairing if `by` is `nil`.
        case secured(link: ConnectionHandle, by: Bond?)
        /// A link was encrypted with a bond for the first time.
        ///
        /// The driver must restore the client's configuration from the bond.
        case restore(Bond, link: ConnectionHandle)
        /// A bond was made; the driver must add the client's configuration to it with `update`.
        case bonded(link: ConnectionHandle)
        /// Report an event of a link on which this side is the peripheral.
        case event(RadioEvent)
        /// Report an event of a link on which this side is the central.
        case centralEvent(CentralEvent)
        /// Report a problem that does not belong to a link.
        case warn(RadioWarning)
        /// End waiting calls with an error, or successfully if the error is `nil`.
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
        /// The number of the question on its link, so that a late answer is not mistaken for another
        /// question's.
        var number: Int
    }

    /// The settings for pairing on all links.
    struct Configuration: Hashable, Sendable {
        /// Whether pairing is accepted; if not, every Pairing Request is refused.
        var isPairable = true
        var hasSecureConnections = true
        /// The path of the file of bonds, or `nil` if they are stored only in memory.
        var file: String?
    }

    /// The addresses for a pairing on a link.
    struct Addresses: Hashable, Sendable {
        /// The address that this side used on the air when the link began (Vol 3, Part H, 2.2.3).
        var own: DeviceAddress
        var peer: DeviceAddress
        /// The identity address that this side distributes.
        var identity: DeviceAddress
    }

    /// The kind of key with which a link is being encrypted.
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
        /// The pairing machine, or `nil` before it is first needed.
        var machine: PairingMachine?
        var encryption = Encryption.idle
        /// The number of the last question.
        var lastQuestion = 0
        /// The last question to this side's user in the current pairing, or `nil` if there was none.
        var question: PairingStep?
        /// Whether the last question still needs an answer.
        var isAsking = false
        /// The numbers of the calls that wait for the link to be secured.
        var waiters: [UInt64] = []
        /// Whether the client's configuration was restored from the bond, or a new bond was made on the link.
        var isRestored = false
        /// `true` if the link is encrypted with the key of a bond that was deleted later.
        var isBondDeleted = false
    }

    /// The largest number of peers whose failed attempts are stored.
    static let attemptLimit = 64
    static let linkEnded = RadioError(.disconnected, "the link ended before it was secured")
    static let bondDeleted = RadioError(
        .pairingFailed, "the link is still encrypted with the key of the deleted bond",
        remedy: "disconnect, connect and pair again")

    let configuration: Configuration
    /// The device's IO capability.
    var ioCapability = IOCapability.noInputNoOutput
    /// The largest key size that the device accepts, in bytes.
    private(set) var largestKeySize = 16
    var random: SecurityRandom
    /// The bonds with peers, and the radio's own keys and address.
    private(set) var bonds: BondStore
    /// Whether the bonds may be saved.
    ///
    /// If their file was unusable and could not be renamed, they must not be.
    private var maySave = true
    /// The failed attempts, by the peer's address on the air.
    private var attempts: [DeviceAddress: PairingAttempts] = [:]
    var entries = SortedMap<ConnectionHandle, Entry>()

    init(_ configuration: Configuration = Configuration(), random: SecurityRandom = SecurityRandom()) {
        self.configuration = configuration
        self.random = random
        bonds = BondStore(from: &self.random)
    }

    /// Applies the pairing settings of a device.
    mutating func begin(as identity: DeviceIdentity) {
        (ioCapability, largestKeySize) = (identity.ioCapability, identity.largestKeySize)
    }

    // MARK: Links

    /// Adds a link; the address of a bonded peer is its identity address.
    mutating func linkBegan(
        _ link: ConnectionHandle, _ role: LEConnection.Role, to peer: Peer, _ addresses: Addresses
    ) {
        entries[link] = Entry(
            role: role, addresses: addresses, peer: peer, security: LinkSecurity(isBonded: peer.isPaired))
    }

    /// Removes a link, and ends the calls that wait for it with an error.
    mutating func linkEnded(_ link: ConnectionHandle, _ actions: inout [Action]) {
        guard let index = entries.index(of: link) else { return }
        end(index, Self.linkEnded, &actions)
        entries[link] = nil
    }

    /// The security of a link, or the lowest security if there is no such link.
    subscript(link: ConnectionHandle) -> LinkSecurity {
        guard let index = entries.index(of: link) else { return LinkSecurity() }
        return entries[at: index].security
    }

    /// The time for a call of `expire` for a link, or `nil` if no pairing is in progress.
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
            // A peer that uses a new address for each attempt cannot be stopped by any list.
            if attempts.count >= Self.attemptLimit, attempts[address] == nil { attempts = [:] }
            attempts[address] = newValue
        }
    }

    // MARK: Bonds

    /// Adopts the contents of the file of bonds.
    mutating func load(_ contents: BondFile.Contents, _ actions: inout [Action]) {
        maySave = contents.mayReplace
        if let store = contents.store { bonds = store }
        if let warning = contents.warning {
            actions.append(.warn(RadioWarning("bondsUnusable", warning)))
        }
    }

    /// The identity address of the bonded peer that uses an address, or `nil` if there is none.
    func identity(of address: DeviceAddress) -> DeviceAddress? { bonds[address]?.identity }

    /// The radio's static random address, which is generated once and saved with the bonds.
    mutating func staticAddress(_ actions: inout [Action]) -> DeviceAddress {
        if let kept = bonds.staticAddress { return kept }
        let new = PrivateAddress.fixed(from: &random)
        bonds.staticAddress = new
        save(&actions)
        return new
    }

    /// Deletes the bond with a peer; returns whether there was one.
    ///
    /// The peer gets new keys when it pairs again.
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

    /// Adds the bond that a pairing has made, and saves the bonds.
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

    /// Changes a client's configuration in its bond, and saves the bond.
    ///
    /// Does nothing before the configuration was restored from the bond, at the first encryption of the link,
    /// or before a bond was made.
    mutating func rememberClient(
        _ link: ConnectionHandle, _ actions: inout [Action], _ change: (inout Bond) -> Void
    ) {
        guard let index = entries.index(of: link), entries[at: index].isRestored else { return }
        remember(link, &actions, change)
    }

    /// The PDU with this side's signature, or `nil` if there is no key for it (Vol 3, Part C, 10.4.1).
    mutating func sign(_ pdu: [UInt8], _ link: ConnectionHandle, _ actions: inout [Action]) -> [UInt8]? {
        var signed: [UInt8]?
        update(link) { signed = $0.sign(pdu) }
        if signed != nil { save(&actions) }
        return signed
    }

    /// Whether a command has a valid signature of the bonded peer with a new counter (Vol 3, Part C, 10.4.2).
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
