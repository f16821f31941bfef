import MynahCore
import MynahHCI
import MynahSupport

/// Drives the Security Manager of every link: pairing, encryption and bonds.
///
/// The driver is confined to the radio's executor.
final class SecurityDriver {
    /// An action for the driver of the links.
    enum Action {
        /// Send the data that was queued.
        case sendData
        /// The identity of a link's peer has become known.
        case peerChanged(Peer, link: ConnectionHandle)
        /// The link is encrypted, after pairing or with a bond.
        case secured(link: ConnectionHandle, Bond?)
        /// Restore a bonded client's saved configuration on its new link.
        case restore(Bond, link: ConnectionHandle)
        /// A bond was made: save the client configuration of its link in it.
        case bonded(link: ConnectionHandle)
    }

    private let environment: Environment
    private let timer: HostTimer
    private let sinks: RadioSinks
    private let controller: ControllerDriver
    private let acl: ACLDriver
    /// Passes an action to the driver of the links.
    var act: (Action) -> Void = { _ in }
    /// The radio that the driver belongs to, for answers that come later.
    weak var radio: HostRadio?
    var manager: SecurityManager
    /// Calls of `pair` that have not ended, by number.
    private(set) var pairings: [UInt64: CheckedContinuation<Result<Void, RadioError>, Never>] = [:]
    private var lastPairing: UInt64 = 0

    init(
        _ environment: Environment, _ timer: HostTimer, _ sinks: RadioSinks, _ controller: ControllerDriver,
        _ acl: ACLDriver
    ) {
        self.environment = environment
        self.timer = timer
        self.sinks = sinks
        self.controller = controller
        self.acl = acl
        let options = environment.options
        manager = SecurityManager(
            .init(
                isPairable: options.isPairable, hasSecureConnections: options.hasSecureConnections,
                file: options.bonds?.path),
            random: environment.random)
    }

    /// The security state of a link.
    subscript(link: ConnectionHandle) -> LinkSecurity { manager[link] }

    /// The bonds with peers, and the radio's own keys.
    var bonds: BondStore { manager.bonds }

    /// Pairs, or encrypts with the key of a bond, and returns when the link is encrypted.
    ///
    /// If the peer is a central, a Security Request is sent to it. Throws `pairingFailed`, or `disconnected`
    /// if the link ends first.
    func pair(_ peer: Peer.ID) async throws(RadioError) {
        let handle = try acl.table.handle(of: peer)
        let result = await withCheckedContinuation { continuation in
            lastPairing += 1
            pairings[lastPairing] = continuation
            change(handle) { $0.pair(handle, peer, waiter: lastPairing, at: $1, &$2) }
        }
        try result.get()
    }

    /// Deletes the bond with a peer; returns whether there was one.
    func forgetBond(with address: DeviceAddress) -> Bool {
        change { $0.forgetBond(with: address, &$2) }
    }

    /// The source of the radio's own address, for a controller with this public address.
    func addressSource(_ publicAddress: DeviceAddress?) -> OwnAddress.Source {
        OwnAddress.Source(
            policy: environment.options.address, publicAddress: publicAddress,
            staticAddress: { self.change { $0.staticAddress(&$2) } },
            resolvingKey: manager.bonds.identityResolvingKey, random: manager.random.split())
    }

    /// A new static random address, different from all others of the radio.
    func newStaticAddress() -> DeviceAddress {
        var random = manager.random.split()
        return PrivateAddress.fixed(from: &random)
    }

    /// The rotation of an advertising set's resolvable private addresses.
    func newRotation(at now: Duration) -> AddressRotation {
        var interval = AddressRotation.interval
        if case .resolvablePrivate(let wanted) = environment.options.address {
            interval = max(wanted, .seconds(1))
        }
        return AddressRotation(
            manager.bonds.identityResolvingKey, every: interval, at: now, random: manager.random.split())
    }

    /// Handles the timeout of a pairing.
    func pairingDue(_ link: ConnectionHandle) {
        change(link) { $0.expire(link, at: $1, &$2) }
    }

    /// Changes the state of the security manager, and carries out its actions.
    @discardableResult
    func change<Result>(
        _ link: ConnectionHandle? = nil,
        _ body: (inout SecurityManager, Duration, inout [SecurityManager.Action]) -> Result
    ) -> Result {
        var actions: [SecurityManager.Action] = []
        let result = body(&manager, environment.now(), &actions)
        for action in actions { carryOut(action) }
        if let link { timer[.pairing(link)] = manager.deadline(of: link) }
        return result
    }

    private func carryOut(_ action: SecurityManager.Action) {
        switch action {
        case .send(let pdu, let link):
            acl.queue(L2CAPFrame(channel: L2CAPFrame.Channel.securityManager, payload: pdu.bytes), to: link)
            act(.sendData)
        case .encrypt(let link, let peer, let key):
            controller.send(.encrypt, of: link, peer, .enableEncryption(link, key))
        case .giveKey(let key, let link):
            controller.send(.longTermKeyReply(link, key), "answering a request for a long term key")
        case .ask(let question): ask(question)
        case .peerChanged(let peer, let link):
            acl.table[link]?.peer = peer
            act(.peerChanged(peer, link: link))
        case .paired(let peer, let link): sinks.paired(peer, acl.table[link]?.halves ?? [])
        case .secured(let link, let bond): act(.secured(link: link, bond))
        case .restore(let bond, let link): act(.restore(bond, link: link))
        case .bonded(let link): act(.bonded(link: link))
        case .event(let event): sinks.tell(event)
        case .centralEvent(let event): sinks.tellCentral(event)
        case .warn(let warning): sinks.warn(warning)
        case .end(let calls, let error):
            let result: Result<Void, RadioError> = error.map { .failure($0) } ?? .success(())
            for call in calls { pairings.removeValue(forKey: call)?.resume(returning: result) }
        case .saveBonds: saveBonds()
        }
    }

    // MARK: The user

    private func ask(_ question: SecurityManager.Question) {
        let (peer, step) = (question.peer, question.step)
        let answer =
            question.role == .peripheral
            ? sinks.tell(.pairing(peer, step)) : sinks.tellCentral(.pairing(peer, step))
        switch answer {
        case .none: answered(question, nil)
        case .pairing(let answer): answered(question, answer)
        case .pairingLater(let pending):
            pending.whenAnswered { [weak radio] answer in
                radio?.perform { $0.security.answered(question, answer) }
            }
        // These are answers to reads and writes, not to pairing.
        case .answer, .later: answered(question, .declined)
        }
    }

    private func answered(_ question: SecurityManager.Question, _ answer: PairingAnswer?) {
        change(question.link) { $0.answered(question, answer, at: $1, &$2) }
    }

    // MARK: The file of bonds

    /// Reads the saved bonds.
    func loadBonds() {
        guard let file = environment.options.bonds else { return }
        change { $0.load(file.load(acceptsSimulated: $0.random.isSimulated), &$2) }
    }

    /// Queues the bonds to be written to their file, on the file writer's thread.
    private func saveBonds() {
        environment.options.bonds?.save(manager.bonds) { [weak radio] problem in
            let warning = RadioWarning("bondsNotKept", "the bonds cannot be saved: \(problem)")
            radio?.perform { $0.sinks.warn(warning) }
        }
    }
}
