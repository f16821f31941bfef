import MynahSupport
import Testing

@Suite struct PcapngTests {
    @Test func `a section header names the program, padded to four bytes`() {
        let expected =
            "0A0D0D0A 2C000000 4D3C2B1A 0100 0000 FFFFFFFFFFFFFFFF" + "0400 0500 4D796E6168 000000"
            + "00000000"
            + "2C000000"
        #expect(Pcapng.sectionHeader(application: "Mynah") == Hex.decode(expected))
    }

    @Test func `an interface has its link type, no limit and its name`() {
        let expected = "01000000 20000000 C900 0000 00000000 0200 0300 686369 00 00000000 20000000"
        #expect(Pcapng.interface(linkType: 201, name: "hci") == Hex.decode(expected))
    }

    @Test func `a packet has its time in two halves, both lengths and padded data`() {
        let expected =
            "06000000 28000000 01000000 15CD0500 F168DE3A 05000000 05000000 0102030405 000000 28000000"
        let packet = Pcapng.packet(
            interface: 1, microseconds: 0x0005_CD15_3ADE_68F1, data: [1, 2, 3, 4, 5])
        #expect(packet == Hex.decode(expected))
    }

    @Test func `aligned data has no padding, and a comment follows it`() {
        let expected =
            "06000000 30000000 00000000 00000000 07000000 04000000 04000000 0A0B0C0D"
            + "0100 0200 4869 0000 00000000 30000000"
        let packet = Pcapng.packet(
            interface: 0, microseconds: 7, data: [0x0A, 0x0B, 0x0C, 0x0D], comment: "Hi")
        #expect(packet == Hex.decode(expected))
    }

    @Test func `a text longer than its length field is cut between two characters`() {
        let block = Pcapng.interface(linkType: 1, name: String(repeating: "é", count: 40_000))
        var reader = ByteReader(block)
        _ = reader.readBytes(18)
        #expect(reader.readUInt16() == 65534)
        #expect(block.count % 4 == 0)
        #expect(Pcapng.wholeBlocks(in: block[...]) == block.count)
    }

    @Test func `whole blocks are counted up to the first that is cut off`() {
        let first = Pcapng.sectionHeader(application: "Mynah")
        let second = Pcapng.packet(interface: 0, microseconds: 1, data: [1])
        let bytes = first + second
        #expect(Pcapng.wholeBlocks(in: bytes[...]) == bytes.count)
        for length in first.count..<bytes.count {
            #expect(Pcapng.wholeBlocks(in: bytes[..<length]) == first.count)
        }
        #expect(Pcapng.wholeBlocks(in: bytes[..<7]) == 0)
        #expect(Pcapng.wholeBlocks(in: [6, 0, 0, 0, 4, 0, 0, 0]) == 0)
    }
}
