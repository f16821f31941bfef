import MynahCore
import MynahSupport
import MynahTestSupport

@testable import MynahHost

extension FuzzTarget {
    /// The Security Manager of each role, with the user's and the controller's part in the input too.
    static let smp = FuzzTarget("smp") { bytes in
        guard let first = bytes.first, let central = DeviceAddress("C6:05:04:03:02:01", kind: .random),
            let peripheral = DeviceAddress("01:02:03:04:05:06", kind: .public)
        else { return }
        let isInitiator = first & 1 != 0
        var configuration = PairingMachine.Configuration()
        configuration.ioCapability = IOCapability.allCases[Int(first >> 1 & 7) % IOCapability.allCases.count]
        configuration.hasSecureConnections = first & 0x10 == 0
        configuration.wantsAuthentication = first & 0x20 != 0
        configuration.asksConsent = first & 0x40 != 0
        var random = SecurityRandom(SeededGenerator(seed: 1))
        var machine = PairingMachine(
            isInitiator ? .initiator : .responder, configuration,
            identity: PairingIdentity(address: peripheral, resolvingKey: SecretKey(from: &random)),
            own: isInitiator ? central : peripheral, peer: isInitiator ? peripheral : central,
            random: random)
        var now = Duration.seconds(100)
        check(isInitiator ? machine.start(at: now) : machine.requestSecurity(at: now))
        // Each public key costs a multiplication on the curve, which is not what is looked for.
        for (kind, body) in Steps(bytes.dropFirst()).prefix(40) {
            switch kind {
            case 1: check(machine.answer(body.first == 0 ? .declined : .agreed, at: now))
            case 2:
                var reader = ByteReader(body)
                let number = reader.readUInt32()
                check(machine.answer(number.map { .passkey($0) } ?? .declined, at: now))
            case 3: check(machine.encryptionChanged(body.first != 0, at: now))
            case 4:
                now += .seconds(Int64(body.first ?? 1))
                check(machine.expire(at: now))
            case 5: _ = machine.longTermKey(ediv: 0, rand: 0)
            default: check(machine.receive(body, at: now))
            }
            if case .idle = machine.state { precondition(machine.deadline == nil, "nothing has a deadline") }
        }
    }

    private static func check(_ actions: [PairingAction]) {
        for case .send(let pdu) in actions {
            let back = try? SMPPDU.decode(pdu.bytes)
            precondition(back == pdu, "what is sent would not be understood")
        }
    }
}
