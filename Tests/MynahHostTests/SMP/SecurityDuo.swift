import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport

@testable import MynahHost

/// The security managers of a central and a peripheral with one link between them, the controllers that
/// encrypt it, and a user of both who agrees; no radio.
struct SecurityDuo {
    typealias Role = LEConnection.Role
    typealias Action = SecurityManager.Action

    /// An action that is held back until it is released.
    enum Hold: Hashable {
        /// Answers of this side's user.
        case answers(Role)
        /// The controllers' reports that the link is encrypted.
        case encryption
    }

    static let link: ConnectionHandle = 0x40

    var central: SecurityManager
    var peripheral: SecurityManager
    var now = Duration.seconds(1000)
    var holds: Set<Hold> = []
    /// How many PDUs are still delivered; the others are lost.
    var deliveries = Int.max
    /// The last question to each side's user.
    var questions: [Role: SecurityManager.Question] = [:]
    /// Everything that each side has asked for.
    private(set) var actions: [Role: [Action]] = [:]
    private var queue: [(Role, Action)] = []
    private var links: UInt32 = 0

    init(
        _ central: IOCapability = .noInputNoOutput, _ peripheral: IOCapability = .noInputNoOutput,
        configuration: SecurityManager.Configuration = .init(), seed: UInt64 = 1
    ) {
        self.central = SecurityManager(
            configuration, random: SecurityRandom(SeededGenerator(seed: seed)))
        self.peripheral = SecurityManager(
            configuration, random: SecurityRandom(SeededGenerator(seed: seed + 1)))
        self.central.ioCapability = central
        self.peripheral.ioCapability = peripheral
        connect()
    }

    static func address(of role: Role) -> DeviceAddress {
        DeviceAddress(value: role == .central ? 0xC605_0403_0201 : 0x0605_0403_0201, kind: .public)
    }

    subscript(role: Role) -> SecurityManager {
        get { role == .central ? central : peripheral }
        set { if role == .central { central = newValue } else { peripheral = newValue } }
    }

    /// A link begins, with a peer of another number than before.
    mutating func connect() {
        links += 1
        for role in [Role.central, .peripheral] {
            let (own, other) = (Self.address(of: role), Self.address(of: role.other))
            let identity = self[role].identity(of: other)
            let peer = Peer(id: Peer.ID(links), address: identity ?? other, isPaired: identity != nil)
            self[role].linkBegan(
                Self.link, role, to: peer, .init(own: own, peer: other, identity: own))
        }
    }

    /// The link ends, and another begins; what was on its way is lost.
    mutating func reconnect() {
        for role in [Role.central, .peripheral] {
            take(role) { $0.linkEnded(Self.link, &$2) }
        }
        queue = []
        connect()
    }

    /// This side's peer on the current link.
    var peer: Peer.ID { Peer.ID(links) }

    /// One side takes something; what it asks for waits for `run`.
    mutating func take(
        _ role: Role, _ body: (inout SecurityManager, Duration, inout [Action]) -> Void
    ) {
        var wanted: [Action] = []
        body(&self[role], now, &wanted)
        actions[role, default: []] += wanted
        queue += wanted.map { (role, $0) }
    }

    /// The error that the central's calls ended with last.
    var error: RadioError? {
        for case .end(_, let error?) in (actions[.central] ?? []).reversed() { return error }
        return nil
    }

    mutating func pair(_ role: Role = .central, waiter: UInt64 = 1) {
        let peer = peer
        take(role) { $0.pair(Self.link, peer, waiter: waiter, at: $1, &$2) }
    }

    /// Carries everything out until nothing is left.
    mutating func run() {
        while !queue.isEmpty {
            let (role, action) = queue.removeFirst()
            carryOut(action, of: role)
        }
    }

    private mutating func carryOut(_ action: Action, of role: Role) {
        switch action {
        case .send(let pdu, _):
            guard deliveries > 0 else { return }
            deliveries -= 1
            take(role.other) { $0.receive(pdu.bytes, Self.link, at: $1, &$2) }
        case .ask(let question):
            questions[role] = question
            if !holds.contains(.answers(role)) {
                take(role) { $0.answered(question, .agreed, at: $1, &$2) }
            }
        case .encrypt(_, _, let key):
            var writer = ByteWriter(capacity: 8)
            writer.write(key.rand)
            let random = writer.bytes
            take(.peripheral) {
                $0.keyRequested(Self.link, random: random, diversifier: key.ediv, &$2)
            }
        case .giveKey(let key, _): if !holds.contains(.encryption) { encrypted(key != nil) }
        default: break
        }
    }

    /// The controllers report what became of the link.
    mutating func encrypted(_ isOn: Bool) {
        let status: HCIStatus = isOn ? .success : .pinOrKeyMissing
        if isOn { take(.peripheral) { $0.encryptionChanged(Self.link, status, at: $1, &$2) } }
        take(.central) { $0.encryptionChanged(Self.link, status, at: $1, &$2) }
    }

    /// Drops what is on its way.
    mutating func dropAll() { queue = [] }

    /// The actions of one side since the last call, in words.
    mutating func asked(_ role: Role) -> String {
        defer { actions[role] = [] }
        return (actions[role] ?? []).map(Self.word).joined(separator: ", ")
    }

    static func word(_ action: Action) -> String {
        switch action {
        case .send(.pairingFailed(let reason), _): "send pairingFailed 0x" + Hex.encode([reason.rawValue])
        case .send(let pdu, _): "send \(pdu.code)"
        case .encrypt: "encrypt"
        case .giveKey(let key, _): key == nil ? "no key" : "give key"
        case .ask(let question):
            switch question.step {
            case .agree: "ask to agree"
            case .compare: "ask to compare"
            case .display: "show a number"
            case .enter: "ask for a number"
            }
        case .peerChanged(let peer, _): peer.isPaired ? "peer is paired" : "peer is not paired"
        case .secured(_, let bond): bond == nil ? "secured" : "secured by bond"
        case .restore: "restore"
        case .bonded: "bonded"
        case .paired: "paired"
        case .event(.warning(let warning)), .centralEvent(.warning(let warning)), .warn(let warning):
            "warn \(warning.code)"
        case .event(let event): "\(event)"
        case .centralEvent(let event): "\(event)"
        case .end(let calls, let error):
            "end \(calls.map { "\($0)" }.joined(separator: " ")) \(error?.code.rawValue ?? "well")"
        case .saveBonds: "save"
        }
    }
}

extension LEConnection.Role {
    var other: Self { self == .central ? .peripheral : .central }
}
