import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// Answers commands, sometimes twice or not at all, and keeps nothing of what it is sent.
private final class IllController: HCITransport {
    private struct State {
        var receive: (@Sendable (H4Packet) -> Void)?
        var count = 0
        var completes = true
    }
    private let state = Lock(State())

    func open(
        receive: @escaping @Sendable (H4Packet) -> Void, ended: @escaping @Sendable (RadioError?) -> Void
    ) async throws(RadioError) {
        state.withLock { $0.receive = receive }
    }

    /// Whether it gives credits back.
    func setCompletes(_ completes: Bool) { state.withLock { $0.completes = completes } }

    func tell(_ packet: H4Packet) { state.withLock { $0.receive }?(packet) }

    func send(_ packet: H4Packet) {
        switch packet.type {
        case .command:
            guard let command = HCICommand(packet.body) else { return }
            let values: [UInt8] =
                switch command.opcode {
                case .leReadLocalSupportedFeatures: Array(repeating: 0xFF, count: 8)
                case .leReadBufferSize: [27, 0, 4]
                case .readBDADDR: [1, 2, 3, 4, 5, 6]
                default: []
                }
            let code = ScriptedController.bytes(command.opcode.rawValue)
            tell(HCIEvent(HCIEvent.commandComplete, [1] + code + [0] + values).packet)
        case .aclData:
            let completes = state.withLock { state in
                state.count += 1
                return state.completes
            }
            guard completes, let data = ACLPacket(packet.body) else { return }
            tell(
                HCIEvent(
                    HCIEvent.numberOfCompletedPackets, [1] + data.handle.littleEndianBytes + [1, 0]
                ).packet)
        default: break
        }
    }

    func close() {}

    var sent: Int { state.withLock { $0.count } }
}

/// Answers every request.
private struct AnsweringSink: RadioSink {
    func handle(_ event: RadioEvent) -> RadioAnswer {
        switch event {
        case .read: .answer(.success([0x63]))
        case .write(let request): request.wantsResponse ? .answer(.success([])) : .none
        default: .none
        }
    }
}

/// Packets that no peer and no controller should send.
///
/// Tests/Fuzz does the same to the machines inside, a hundred times as often.
@Suite(.timeLimit(.minutes(15))) struct SpoiltPacketTests {
    static let events = [
        "3E 13 01 00 4000 01 01 F5F4F3F2F1F0 1800 0000 4800 00", "05 04 00 4000 13", "0E 04 01 0A20 00",
        "0F 04 00 01 0604", "13 05 01 4000 0100", "13 09 02 4000 FFFF 4100 0000", "08 04 00 4000 01",
        "30 03 00 4000", "3E 0A 03 00 4000 1800 0000 4800", "3E 0D 05 4000 0102030405060708 0100",
        "3E 0D 05 4000 0000000000000000 0000", "3E 0B 06 4000 0600 0C80 0000 4800",
        "3E 0F 02 01 00 01 0102030405C6 03 020106 C8", "3E 06 12 00 00 4000 03",
        "3E 1F 0A 00 4100 01 01 0102030405C6 000000000000 010203040546 1800 0000 4800 00",
    ]
    static let attributes = [
        "020502", "10 0100 FFFF 0028", "06 0100 FFFF 0028 0F18", "08 0100 FFFF 0328", "04 0100 FFFF",
        "0A 1200", "0C 1500 0A00", "0E 0300 1200", "20 0300 1200", "12 1300 0300", "12 1500 01020304",
        "52 1500 01", "D2 1500 01 000000000000000000000000", "16 1500 0000 0102", "18 01", "18 00", "1E",
        "08 0100 FFFF 372A", "12 0C00 07", "12 0900 0200", "1B 0300 01", "1D 0300 02", "0B 61",
        "01 0A 0300 0A",
    ]
    static let others = [
        "05 12 01 0800 1800 2800 0000 4800", "05 14 02 0A00 8000 4000 0002 F700 0500",
        "05 06 03 0400 4000 4100",
        "05 01 03 0200 0000", "06 01 03 00 09 10 07 07", "06 01 03 00 01 10 07 07", "06 0B 0D", "06 05 08",
        "06 03 11111111111111111111111111111111", "06 04 11111111111111111111111111111111",
    ]

    private func bytes(_ hex: [String]) -> [[UInt8]] { hex.compactMap { Hex.decode($0) } }

    @Test
    func `a radio survives all packets of controllers and peers, keeps none of them, and goes on`()
        async throws
    {
        let controller = IllController()
        let sink = AnsweringSink()
        let radio = HostRadio(transport: controller)
        _ = try await radio.start(DeviceIdentity(name: "Mynah"), sink: sink)
        let rate = CharacteristicDefinition(uuid: "2A37", properties: [.read, .notify, .indicate])
        let control = CharacteristicDefinition(
            uuid: "2A39", properties: [.read, .write, .writeWithoutResponse])
        _ = try await radio.publish([ServiceDefinition(uuid: "180D", characteristics: [rate, control])])

        var events = PacketMutator(seed: 1, bytes(Self.events))
        var attributes = PacketMutator(seed: 2, bytes(Self.attributes))
        var others = PacketMutator(seed: 3, bytes(Self.others))
        func packet() -> H4Packet {
            switch events.number(below: 8) {
            case 0..<3:
                // After a Hardware Error the radio drops everything until the controller was set up again.
                var event = events.next()
                if event.first == HCIEvent.hardwareError { event[0] = HCIEvent.leMeta }
                return H4Packet(.event, event)
            case 3..<7:
                let payload = attributes.next()
                let frame = L2CAPFrame(channel: 4, payload: payload).packets(for: 0x40, of: 64)[0]
                return frame.packet
            default:
                let payload = others.next()
                let frame = L2CAPFrame(
                    channel: UInt16(payload.first ?? 0), payload: Array(payload.dropFirst()))
                return frame.packets(for: 0x40, of: 64)[0].packet
            }
        }
        func round(_ bursts: Int) async throws {
            for burst in 0..<bursts {
                controller.setCompletes(burst % 4 != 0)
                // The link is established again, after any outcome.
                controller.tell(H4Packet(.event, bytes(Self.events)[0]))
                for _ in 0..<200 { controller.tell(packet()) }
                // The actor takes its turn after every packet before.
                _ = await radio.look { $0.acl.table.lastPeer }
                if burst % 8 == 7 {
                    // All links end, and with them what was on its way.
                    for handle in await radio.look({ $0.acl.table.handles }) {
                        controller.tell(
                            HCIEvent(
                                HCIEvent.disconnectionComplete,
                                [0] + handle.littleEndianBytes + [0x13]
                            ).packet)
                    }
                }
            }
        }
        try await round(40)
        // The least of several: what is kept grows with each, and other tests of the process do not.
        var growth = Int.max
        for _ in 0..<4 {
            let before = residentMemory()
            try await round(50)
            growth = min(growth, residentMemory() - before)
        }
        #expect(controller.sent > 500)
        #expect(growth < 12_000)
        #expect(await radio.look { $0.acl.outbound.queue.count } <= 16 * DataQueue.limit)
        await radio.stop()
    }

    @Test
    func `a central that asks on and on through a controller that takes nothing is not remembered for ever`()
        async throws
    {
        let controller = IllController()
        let sink = AnsweringSink()
        let radio = HostRadio(transport: controller)
        _ = try await radio.start(DeviceIdentity(name: "Mynah"), sink: sink)
        controller.setCompletes(false)
        controller.tell(H4Packet(.event, bytes(Self.events)[0]))
        let request = L2CAPFrame(channel: 4, payload: [0x10, 1, 0, 0xFF, 0xFF, 0, 0x28])
        for _ in 0..<3000 {
            for packet in request.packets(for: 0x40, of: 27) { controller.tell(packet.packet) }
        }
        let count = await radio.look { $0.acl.outbound.queue.count }
        #expect((DataQueue.limit..<DataQueue.limit + 32).contains(count))
        await radio.stop()
    }

    @Test func `a server's answers fit for all requests, and its queue is bounded`() {
        var rig = ATTRig()
        var attributes = PacketMutator(seed: 4, bytes(Self.attributes))
        var sent = 0
        for index in 0..<60_000 {
            var actions = rig.server.receive(attributes.next(), rig.database, rig.security)
            if rig.server.pending != nil {
                actions += rig.server.answered(.success([0x63]), rig.database, rig.security)
            }
            if index % 500 == 0 { rig.security.isEncrypted.toggle() }
            for case .send(let pdu) in actions {
                sent += 1
                if pdu.isEmpty || pdu.count > rig.server.mtu { Issue.record("a PDU of \(pdu.count) bytes") }
            }
            if rig.server.prepared.entries.count > PrepareQueue.limit { Issue.record("the queue has no end") }
        }
        #expect(sent > 20_000)
    }

    @Test(arguments: [PairingRole.initiator, .responder])
    func `pairing ends, however it is spoilt, and can begin again`(role: PairingRole) throws {
        var spoilt = PacketMutator(
            seed: 5, bytes(Self.others.filter { $0.hasPrefix("06") }.map { String($0.dropFirst(2)) }))
        let rig = try #require(PairingRig())
        var machine = rig[role]
        var now = Duration.seconds(1000)
        var ended = 0
        for _ in 0..<20_000 {
            now += .milliseconds(100)
            var actions = machine.receive(spoilt.next(), at: now)
            if case .idle = machine.state { actions += machine.start(at: now) }
            if case .consenting = machine.state { actions += machine.answer(.agreed, at: now) }
            if case .closed = machine.state { machine = rig[role] }
            for case .failed in actions { ended += 1 }
            if case .idle = machine.state { #expect(machine.deadline == nil) }
        }
        #expect(ended > 20)
    }
}
