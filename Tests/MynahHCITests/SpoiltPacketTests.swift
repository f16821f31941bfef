import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHCI

/// Packets that no host and no neighbour should send.
///
/// Tests/Fuzz does the same a hundred times as often, guided by coverage.
@Suite struct SpoiltPacketTests {
    static let commands = [
        "0C03", "0620 0F A000A000000000000000000000 0700", "0820 20 03020106", "0A20 01 01",
        "0B20 07 01 1000 1000 00 00", "0C20 02 01 00", "0620 0F A000 A000 01 00 00 0100000000C0 07 00",
        "0D20 19 1000 1000 00 00 0200000000C0 00 1800 1800 0000 4800 0000 0000", "0E20 00",
        "0604 03 4000 13", "1320 0E 4000 1800 2800 0000 4800 0000 0000", "2220 06 4000 FB00 4842",
        "3220 07 4000 00 02 02 0000", "1620 02 4000", "1D04 02 4000",
        "1920 1C 4000 0000000000000000 0000 11111111111111111111111111111111",
        "1A20 12 4000 11111111111111111111111111111111", "1B20 02 4000", "1120 07 00 0200000000C0",
        "2720 27 00 0200000000C0 11111111111111111111111111111111 22222222222222222222222222222222",
        "2D20 01 01", "2E20 02 8403",
        "3620 19 01 0000 A00000 FFFFFF 07 00 00 000000000000 00 7F 01 00 01 00 00",
        "3720 07 01 03 01 03 020106", "3920 06 01 01 01 0000 00", "4120 08 00 00 01 01 1000 1000",
        "4220 06 01 00 0000 0000", "3C20 01 01", "3D20 00",
    ]

    private func bytes(_ hex: [String]) -> [[UInt8]] { hex.compactMap { Hex.decode($0) } }

    @Test func `two controllers survive all packets of hosts and PDUs of others, and keep none of them`() {
        var air = Air(seed: 1)
        air.isShared = true
        let stations = [UInt8(1), 2].map {
            air.join(ControllerConfiguration(address: AirRig.address($0), cipher: AirRig.cipher))
        }
        var commands = PacketMutator(seed: 2, bytes(Self.commands))
        var data = PacketMutator(seed: 3, bytes(["4020 0700 0300 0400 0A0300", "4010 0200 0102"]))
        let from = "0900000000000000 0000000000000000 64000000"
        var frames = PacketMutator(
            seed: 4,
            bytes([
                "\(from) 00 13 00 0900000000C0 00 FF 00 00 0300 020106",
                "\(from) 00 01 01 0900000000C0 01 00 0100000000C0 03 01 F8 0300 020106",
                "\(from) 01 1B 00 0900000000C0 00 FF 00 00 0300 020106",
                "\(from) 02 00 0900000000C0 00 0100000000C0",
                "\(from) 03 00 0900000000C0 00 0100000000C0 78563412 1800 0000 4800",
                "\(from) 04 78563412 0000 0000 00 0300 0400 0A0300",
                "\(from) 04 78563412 0100 0100 0B FB00 4842 FB00 4842",
                "\(from) 04 78563412 0000 0000 03 0102030405060708 0100 1112131415161718",
            ]))
        var told = 0
        func round(_ count: Int) {
            for index in 0..<count {
                let station = stations[index & 1]
                let outputs: [Air.Output] =
                    switch commands.number(below: 8) {
                    case 0..<4: air.handle(H4Packet(.command, commands.next()), of: station)
                    case 4: air.handle(H4Packet(.aclData, data.next()), of: station)
                    case 5: air.advance(to: air.now + Int64(commands.number(below: 60_000)))
                    default: AirFrame(frames.next()).map { air.handle($0) } ?? []
                    }
                for case .host(_, let packet) in outputs where packet.type == .event {
                    told += 1
                    #expect(HCIEvent(packet.body).flatMap { HCIEventContent($0) } != nil)
                }
            }
        }
        round(2000)
        // The least of several: what is kept grows with each, and other tests of the process do not.
        let growth = (0..<4).map { _ in
            let before = residentMemory()
            round(15_000)
            return residentMemory() - before
        }
        #expect(told > 10_000)
        #expect(growth.min() ?? .max < 4_000)
        #expect(air.dueCount <= Air.spareEntries + 2 * air.count)
    }

    @Test
    func `a set that is due in hours leaves few entries behind, however often another one ends before it`() {
        var rig = AirRig()
        let station = rig.join(1)
        rig.send(
            .leSetExtendedAdvertisingParameters,
            "01 0000 FFFFFF FFFFFF 07 00 00 000000000000 00 7F 01 00 01 00 00", station)
        rig.send(
            .leSetExtendedAdvertisingParameters,
            "02 0000 200000 200000 07 00 00 000000000000 00 7F 01 00 01 01 00", station)
        rig.send(.leSetExtendedAdvertisingEnable, "01 01 01 0000 00", station)
        rig.pass(milliseconds: 20)
        var most = 0
        for _ in 0..<500 {
            // One event, and it ends.
            rig.send(.leSetExtendedAdvertisingEnable, "01 01 02 0000 01", station)
            rig.pass(milliseconds: 30)
            most = max(most, rig.air.dueCount)
        }
        // They do pile up, to an end.
        #expect(most > 32)
        #expect(most <= Air.spareEntries + 2 * rig.air.count)
    }

    @Test func `every decoded frame of an air is encoded to the same frame`() {
        let from = "0900000000000000 0000000000000000 64000000"
        let bodies = [
            "00 13 00 0900000000C0 00 FF 00 00 0300 020106",
            "03 00 0200000000C0 00 0100000000C0 78563412 1800 0000 4800",
            "04 78563412 0000 0000 0A 0B 00 FFFF 0100", "04 78563412 0000 0000 10 0600 1800 0000 4800",
        ]
        var spoilt = PacketMutator(seed: 5, bytes(bodies.map { "\(from) \($0)" }))
        var understood = 0
        for _ in 0..<20_000 {
            guard let frame = AirFrame(spoilt.next()) else { continue }
            understood += 1
            if AirFrame(frame.bytes) != frame { Issue.record("written otherwise: \(frame)") }
        }
        #expect(understood > 2000)
    }
}
