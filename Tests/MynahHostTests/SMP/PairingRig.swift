import MynahCore
import MynahTestSupport

@testable import MynahHost

/// A central and a peripheral that pair with each other, and the user of both.
struct PairingRig {
    /// A PDU before it is taken: who takes it, and in which state.
    struct Delivery {
        var taker: PairingMachine
        var pdu: SMPPDU
        var now: Duration
    }

    /// The mistakes of a user.
    struct User {
        var consents = true
        var agrees = true
        var types = true
        /// Added to what is typed on a side.
        var slip: [PairingRole: UInt32] = [:]
    }

    static let central = DeviceAddress(littleEndian: [1, 2, 3, 4, 5, 0xC6], kind: .random)
    static let peripheral = DeviceAddress(littleEndian: [6, 5, 4, 3, 2, 1], kind: .public)

    var initiator: PairingMachine
    var responder: PairingMachine
    var user = User()
    var now = Duration.seconds(1000)
    /// The actions of each side, without its PDUs.
    var done: [PairingRole: [PairingAction]] = [.initiator: [], .responder: []]
    var deliveries: [Delivery] = []
    var shown: [UInt32] = []
    private var queue: [(PairingRole, PairingAction)] = []
    private var typing: [PairingRole] = []
    /// Changes a PDU between the sides; `nil` drops it.
    var tamper: (PairingRole, SMPPDU) -> SMPPDU? = { $1 }

    init?(
        _ central: PairingMachine.Configuration = .init(),
        _ peripheral: PairingMachine.Configuration = .init(), seed: UInt64 = 1
    ) {
        guard let own = Self.central, let peer = Self.peripheral,
            let identity = DeviceAddress("AA:BB:CC:00:00:01", kind: .public)
        else { return nil }
        var random = SecurityRandom(SeededGenerator(seed: seed))
        initiator = PairingMachine(
            .initiator, central,
            identity: PairingIdentity(address: identity, resolvingKey: SecretKey(from: &random)), own: own,
            peer: peer, random: SecurityRandom(SeededGenerator(seed: random.next())))
        responder = PairingMachine(
            .responder, peripheral,
            identity: PairingIdentity(address: peer, resolvingKey: SecretKey(from: &random)), own: peer,
            peer: own, random: SecurityRandom(SeededGenerator(seed: random.next())))
    }

    /// Both with these capabilities, wanting authentication.
    init?(
        _ central: IOCapability, _ peripheral: IOCapability, isSecureConnections: Bool, seed: UInt64 = 1
    ) {
        func configuration(_ capability: IOCapability) -> PairingMachine.Configuration {
            var configuration = PairingMachine.Configuration()
            configuration.ioCapability = capability
            configuration.wantsAuthentication = true
            configuration.hasSecureConnections = isSecureConnections
            return configuration
        }
        self.init(configuration(central), configuration(peripheral), seed: seed)
    }

    subscript(role: PairingRole) -> PairingMachine {
        get { role == .initiator ? initiator : responder }
        set { if role == .initiator { initiator = newValue } else { responder = newValue } }
    }

    /// The central pairs, until nobody has anything to do.
    mutating func pair() {
        take(initiator.start(at: now), of: .initiator)
        run()
    }

    mutating func take(_ actions: [PairingAction], of role: PairingRole) {
        queue += actions.map { (role, $0) }
    }

    mutating func run() {
        while true {
            if !queue.isEmpty {
                let (role, action) = queue.removeFirst()
                carryOut(action, of: role)
            } else if !typing.isEmpty, let number = shown.last ?? bothType {
                let role = typing.removeFirst()
                let typed = number &+ (user.slip[role] ?? 0)
                take(self[role].answer(user.types ? .passkey(typed) : .declined, at: now), of: role)
            } else {
                return
            }
        }
    }

    /// The number that a user makes up who has to type it on both sides.
    private var bothType: UInt32? { initiator.configuration.ioCapability == .keyboardOnly ? 987_654 : nil }

    private mutating func carryOut(_ action: PairingAction, of role: PairingRole) {
        let other: PairingRole = role == .initiator ? .responder : .initiator
        if case .send(let sent) = action {
            guard let pdu = tamper(role, sent) else { return }
            deliveries.append(Delivery(taker: self[other], pdu: pdu, now: now))
            return take(self[other].receive(pdu.bytes, at: now), of: other)
        }
        done[role]?.append(action)
        switch action {
        case .ask(.display(let number)): shown.append(number)
        case .ask(.compare(let number)):
            shown.append(number)
            take(self[role].answer(user.agrees ? .agreed : .declined, at: now), of: role)
        case .ask(.enter): typing.append(role)
        case .ask(.agree): take(self[role].answer(user.consents ? .agreed : .declined, at: now), of: role)
        case .encrypt(let key) where role == .initiator:
            let isSame = responder.longTermKey(ediv: 0, rand: 0) == key
            take(responder.encryptionChanged(isSame, at: now), of: .responder)
            take(initiator.encryptionChanged(isSame, at: now), of: .initiator)
        default: break
        }
    }

    func bond(of role: PairingRole) -> Bond? {
        for case .bonded(let bond)? in done[role] ?? [] { return bond }
        return nil
    }

    func security(of role: PairingRole) -> LinkSecurity? {
        for case .secured(let security)? in done[role] ?? [] { return security }
        return nil
    }

    func failure(of role: PairingRole) -> PairingFailure? {
        for case .failed(let failure)? in done[role] ?? [] { return failure }
        return nil
    }

    /// The numbers that were asked or shown, by kind.
    func asked(_ role: PairingRole) -> [String] {
        (done[role] ?? []).compactMap { action in
            guard case .ask(let step) = action else { return nil }
            return switch step {
            case .display: "display"
            case .compare: "compare"
            case .enter: "enter"
            case .agree: "agree"
            }
        }
    }

    var isOver: Bool {
        guard case .idle = initiator.state, case .idle = responder.state else { return false }
        return initiator.deadline == nil && responder.deadline == nil
    }
}
