@testable import MynahHCI
import MynahSupport
import Testing

@Suite struct LinkLayerPacketTests {
    /// Computed bit by bit from the figure of Vol 6, Part B, 3.1.1; Wireshark checks the first one too.
    @Test(
        arguments: [
            ("42 09 C0DEAFBEADDE 020106", 0x55_5555, "B946A1"),
            ("01 00", 0x12_3456, "48DC8A"),
            ("", 0x55_5555, "AAAAAA"),
        ] as [(String, UInt32, String)]) func `a CRC is sent with its last register position first`(
            _ pdu: String, _ start: UInt32, _ expected: String
        ) throws
    {
        let crc = LinkLayerPacket.crc(of: try #require(Hex.decode(pdu)), start: start)
        let bytes = [0, 8, 16].map { UInt8(truncatingIfNeeded: crc >> UInt32($0)) }
        #expect(bytes == Hex.decode(expected))
    }

    @Test func `channels have the index of their frequency`() {
        #expect((0...39).map { LinkLayerPacket.radioChannel(of: $0) }.sorted() == Array(0...39))
        let some: [UInt8] = [37, 0, 10, 38, 11, 36, 39]
        #expect(some.map { LinkLayerPacket.radioChannel(of: $0) } == [0, 1, 11, 12, 13, 38, 39])
    }

    @Test func `a record has the channel, both access addresses, flags and the CRC`() throws {
        let packet = LinkLayerPacket(
            channel: 38, access: LinkLayerPacket.advertisingAccess,
            crcStart: LinkLayerPacket.advertisingCRCStart,
            pdu: try #require(Hex.decode("42 09 C0DEAFBEADDE 020106")))
        #expect(
            packet.bytes
                == Hex.decode("0C 00 00 00 D6BE898E 110C D6BE898E 4209C0DEAFBEADDE020106 B946A1"))
    }

    @Test func `flags say the direction, the PHY and whether it was decrypted`() {
        var packet = LinkLayerPacket(
            channel: 0, access: 1, crcStart: 0x12_3456, kind: .fromPeripheral, phy: 2, isDecrypted: true,
            pdu: [1, 0])
        #expect(Array(packet.bytes[8..<10]) == [0x99, 0x4D])
        packet.phy = 3
        packet.isDecrypted = false
        #expect(Array(packet.bytes[8...]) == Hex.decode("918D 01000000 00 0100 48DC8A"))
    }
}
