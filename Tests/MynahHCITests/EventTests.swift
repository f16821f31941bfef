import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@Suite struct EventTests {
    private func content(_ hex: String) throws -> HCIEventContent? {
        let body = try #require(Hex.decode(hex))
        return HCIEvent(body).flatMap { HCIEventContent($0) }
    }

    @Test func `events are decoded`() throws {
        let peer = try #require(DeviceAddress("F0:F1:F2:F3:F4:F5", kind: .random))
        #expect(try content("0E 04 01 030C 00") == .commandComplete(.reset, credits: 1, [0]))
        #expect(
            try content("0F 04 0C 02 0D20")
                == .commandStatus(.leCreateConnection, credits: 2, .commandDisallowed))
        #expect(
            try content("05 04 00 4010 13")
                == .disconnectionComplete(.success, handle: 0x040, reason: .remoteUserTerminatedConnection))
        #expect(try content("08 04 00 4000 01") == .encryptionChange(.success, handle: 0x40, isOn: true))
        #expect(
            try content("13 09 02 4000 0100 4100 0200")
                == .completedPackets([.init(handle: 0x40, count: 1), .init(handle: 0x41, count: 2)]))
        #expect(
            try content("3E 13 01 00 4000 01 01 F5F4F3F2F1F0 1800 0000 4800 00")
                == .connectionComplete(.success, LEConnection(handle: 0x40, role: .peripheral, peer: peer)))
        #expect(
            try content("3E 0D 05 4000 0102030405060708 3412")
                == .longTermKeyRequest(handle: 0x40, random: [1, 2, 3, 4, 5, 6, 7, 8], diversifier: 0x1234))
        #expect(
            try content("3E 0F 02 01 00 01 F5F4F3F2F1F0 03 020106 C4")
                == .advertisingReports([
                    LEAdvertisingReport(kind: .connectable, address: peer, data: [2, 1, 6], rssi: -60)
                ]))
    }

    @Test(arguments: [(0x81, -127), (0xC4, -60), (0x00, 0), (0x14, 20)] as [(UInt8, Int8)])
    func `an RSSI is -127 dBm to 20 dBm`(octet: UInt8, dBm: Int8) throws {
        #expect(SignalStrength.dBm(octet) == dBm)
        #expect(try rssi(octet) == dBm)
    }

    @Test(arguments: [0x15, 0x7E, 0x7F, 0x80] as [UInt8])
    func `an RSSI that no radio has is not known`(octet: UInt8) throws {
        #expect(SignalStrength.dBm(octet) == nil)
        #expect(try rssi(octet) == nil)
    }

    private func rssi(_ octet: UInt8) throws -> Int8? {
        let found = try content("3E 0F 02 01 00 01 F5F4F3F2F1F0 03 020106 \(Hex.encode([octet]))")
        guard case .advertisingReports(let reports)? = found else { return 1 }
        return try #require(reports.first).rssi
    }

    @Test(arguments: [
        "0E 03 01 030C", "0E 02 01 030C", "05 03 00 4000", "13 05 02 4000 0100", "3E 01 05", "3E 02 02 01",
        "3E 0F 02 01 09 01 F5F4F3F2F1F0 03 020106 C4", "3E 00",
    ])
    func `an event that is shorter than its length is not decoded`(hex: String) throws {
        let found = try content(hex)
        #expect(found == nil || found == .commandComplete(.reset, credits: 1, []))
    }

    @Test func `commands and data survive being written and read`() {
        let command = HCICommand(.leSetAdvertisingEnable, [1])
        #expect(command.packet.bytes == [0x01, 0x0A, 0x20, 0x01, 0x01])
        #expect(HCICommand(command.packet.body) == command)
        let data = ACLPacket(handle: 0x40, boundary: .firstFlushable, data: [1, 2, 3])
        #expect(data.packet.bytes == [0x02, 0x40, 0x20, 0x03, 0x00, 1, 2, 3])
        #expect(ACLPacket(data.packet.body) == data)
        #expect(ACLPacket([0x40, 0x20, 0x04, 0x00, 1, 2, 3]) == nil)
    }

    @Test func `any event at all is taken apart or refused`() {
        var random = SeededGenerator(seed: 5)
        var known = 0
        for _ in 0..<200_000 {
            let code: UInt8 =
                [0x05, 0x08, 0x0E, 0x0F, 0x13, 0x30, 0x3E, 0xFF].randomElement(using: &random) ?? 0
            let count = Int.random(in: 0..<40, using: &random)
            var parameters = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            if code == 0x3E, count > 0 { parameters[0] %= 20 }
            if HCIEventContent(HCIEvent(code, parameters)) != nil { known += 1 }
        }
        #expect(known > 50_000)
    }
}
