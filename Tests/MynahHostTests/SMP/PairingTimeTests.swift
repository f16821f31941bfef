import MynahCore
import MynahTestSupport
import Testing

@testable import MynahHost

@Suite struct PairingTimeTests {
    @Test func `at each step thirty seconds of nothing end pairing, and the channel with it`() throws {
        for isSecure in [false, true] {
            var rig = try #require(PairingRig(.keyboardOnly, .displayYesNo, isSecureConnections: isSecure))
            rig.pair()
            for delivery in rig.deliveries.dropFirst() {
                var machine = delivery.taker
                let deadline = try #require(machine.deadline)
                #expect(deadline == delivery.now + .seconds(30))
                #expect(machine.expire(at: deadline - .nanoseconds(1)) == [])
                #expect(machine.expire(at: deadline) == [.failed(.timedOut)])
                #expect(machine.deadline == nil)
                #expect(machine.receive(delivery.pdu.bytes, at: deadline) == [])
                #expect(machine.receive(SMPPDU.pairingRequest(machine.ownFeatures).bytes, at: deadline) == [])
                #expect(machine.start(at: deadline) == [] && machine.requestSecurity(at: deadline) == [])
                #expect(!machine.attempts.isAllowed(at: deadline))
            }
        }
    }

    @Test func `a PDU that comes as the time is over comes too late`() throws {
        var rig = try #require(PairingRig())
        rig.pair()
        let delivery = try #require(rig.deliveries.last { $0.pdu.code == .pairingRandom })
        var machine = delivery.taker
        #expect(
            machine.receive(delivery.pdu.bytes, at: delivery.now + .seconds(30)) == [.failed(.timedOut)])
    }

    @Test func `the time begins anew with each PDU that is sent`() throws {
        var rig = try #require(PairingRig())
        let request = try #require(rig.initiator.start(at: .zero).first)
        guard case .send(let pdu) = request else { return #expect(Bool(false), "\(request)") }
        #expect(rig.initiator.deadline == .seconds(30))
        _ = rig.responder.receive(pdu.bytes, at: .seconds(2))
        #expect(rig.responder.deadline == .seconds(32))
        _ = rig.responder.answer(.agreed, at: .seconds(20))
        #expect(rig.responder.deadline == .seconds(50))
    }

    @Test func `a failure has to be waited after, twice as long each time`() throws {
        var rig = try #require(PairingRig(.displayYesNo, .displayYesNo, isSecureConnections: true))
        rig.user.agrees = false
        var waits: [Duration] = []
        for _ in 0..<9 {
            rig.done = [.initiator: [], .responder: []]
            rig.pair()
            #expect(rig.failure(of: .responder) != nil)
            var wait = Duration.zero
            while !rig.responder.attempts.isAllowed(at: rig.now + wait) { wait += .seconds(1) }
            waits.append(wait)
            rig.now += wait
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 64, 64, 64].map { .seconds($0) })
        rig.now -= .seconds(1)
        #expect(rig.initiator.start(at: rig.now) == [.failed(.refused(.repeatedAttempts))])
        let request = SMPPDU.pairingRequest(rig.initiator.ownFeatures).bytes
        #expect(
            rig.responder.receive(request, at: rig.now) == [
                .send(.pairingFailed(.repeatedAttempts)), .failed(.refused(.repeatedAttempts)),
            ])
        rig.now += .seconds(1)
        rig.user.agrees = true
        rig.done = [.initiator: [], .responder: []]
        rig.pair()
        #expect(rig.done[.responder]?.last == .paired)
        #expect(rig.responder.attempts == PairingAttempts())
    }

    @Test func `the wait becomes shorter again, when nothing fails for a while`() {
        var attempts = PairingAttempts()
        for _ in 0..<3 { attempts.failed(at: .zero) }
        #expect(!attempts.isAllowed(at: .seconds(3)) && attempts.isAllowed(at: .seconds(4)))
        attempts.failed(at: .seconds(640))
        #expect(attempts.isAllowed(at: .seconds(641)))
        var last = PairingAttempts()
        last.failed(at: Duration.seconds(Int64.max / 2))
        last.failed(at: .seconds(Int64.min / 2))
        #expect(last.isAllowed(at: .seconds(0)))
    }

    // MARK: Security Request

    @Test func `a peripheral asks for security, and pairs when asked back`() throws {
        var rig = try #require(PairingRig())
        let wants: AuthenticationRequirements = [.bonding, .secureConnections]
        #expect(rig.responder.requestSecurity(at: rig.now) == [.send(.securityRequest(wants))])
        #expect(rig.responder.deadline == rig.now + .seconds(30))
        #expect(rig.responder.requestSecurity(at: rig.now) == [])
        #expect(rig.initiator.requestSecurity(at: rig.now) == [])
        #expect(
            rig.initiator.receive(SMPPDU.securityRequest(wants).bytes, at: rig.now)
                == [.securityRequested(wants)])
        rig.pair()
        #expect(rig.done[.initiator]?.last == .paired && rig.done[.responder]?.last == .paired)
    }

    @Test func `one that crosses the request of the central is passed over`() throws {
        var rig = try #require(PairingRig())
        let request = rig.initiator.start(at: rig.now)
        _ = rig.responder.requestSecurity(at: rig.now)
        #expect(rig.initiator.receive([0x0B, 0x09], at: rig.now) == [])
        rig.take(request, of: .initiator)
        rig.run()
        #expect(rig.done[.initiator]?.last == .paired && rig.done[.responder]?.last == .paired)
    }

    @Test func `with a bond encryption is enough, and a refusal ends the asking`() throws {
        var rig = try #require(PairingRig())
        _ = rig.responder.requestSecurity(at: .zero)
        #expect(rig.responder.encryptionChanged(false, at: .zero) == [] && rig.responder.deadline != nil)
        #expect(rig.responder.encryptionChanged(true, at: .zero) == [])
        #expect(rig.responder.deadline == nil)
        _ = rig.responder.requestSecurity(at: .zero)
        #expect(
            rig.responder.receive([0x05, 0x05], at: .zero) == [.failed(.refusedByPeer(.pairingNotSupported))])
        _ = rig.responder.requestSecurity(at: .zero)
        #expect(rig.responder.expire(at: .seconds(30)) == [.failed(.timedOut)])
        #expect(rig.responder.attempts.isAllowed(at: .seconds(30)))
    }

    // MARK: Anything at all

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `any PDUs at all, at any step, end or go on, and nothing traps`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let capabilities = PairingMethodTests.order
        var rig = try #require(
            PairingRig(
                capabilities[Int.random(in: 0..<5, using: &random)],
                capabilities[Int.random(in: 0..<5, using: &random)], isSecureConnections: seed % 2 == 0,
                seed: seed))
        rig.pair()
        for delivery in rig.deliveries {
            for _ in 0..<12 {
                var machine = delivery.taker
                var pdu = delivery.pdu.bytes
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    pdu[Int.random(in: 0..<pdu.count, using: &random)] ^= UInt8.random(
                        in: 1...255, using: &random)
                case 1:
                    pdu = (0..<Int.random(in: 0..<80, using: &random)).map { _ in
                        .random(in: 0...255, using: &random)
                    }
                case 2: pdu[0] = UInt8.random(in: 0...0x10, using: &random)
                default: pdu = PairingFaultTests.samples.randomElement(using: &random)?.bytes ?? []
                }
                for action in machine.receive(pdu, at: delivery.now) {
                    if case .send(let answer) = action { #expect(answer.bytes.count == answer.code.length) }
                }
                _ = machine.answer(.agreed, at: delivery.now)
                _ = machine.answer(.passkey(.random(in: 0...UInt32.max, using: &random)), at: delivery.now)
                _ = machine.encryptionChanged(true, at: delivery.now)
                for _ in 0..<4 {
                    let more = (0..<Int.random(in: 1..<70, using: &random)).map { _ in
                        UInt8.random(in: 0...255, using: &random)
                    }
                    _ = machine.receive(more, at: delivery.now)
                }
                #expect(!machine.expire(at: delivery.now + .seconds(60)).contains(.paired))
            }
        }
    }

    @Test func `a machine's keys are in no description`() throws {
        var rig = try #require(PairingRig())
        rig.pair()
        let bond = try #require(rig.bond(of: .responder))
        let key = try #require(bond.ownKey).value
        let digits = key.bytes.map { "\($0)" }.joined(separator: ", ")
        var words =
            "\(bond) \(String(reflecting: bond)) \(rig.responder) \(String(reflecting: rig.initiator))"
        dump(bond, to: &words)
        dump(rig.responder, to: &words)
        for delivery in rig.deliveries { dump(delivery.taker, to: &words) }
        #expect(!words.contains(digits) && words.contains("(secret)"))
        #expect("\(key)" == "(secret)" && String(reflecting: key) == "(secret)")
    }
}
