import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@Suite struct OverflowAreaTests {
    @Test func `each of 128 measured UUIDs has a bit of its own`() {
        #expect(OverflowPair.observed.count == 143)
        #expect(Set(OverflowPair.observed.prefix(128).map(\.index)) == Set(0..<128))
    }

    @Test(arguments: OverflowPair.observed)
    func `a UUID sets the bit that it was seen to set, and no other`(pair: OverflowPair) {
        #expect(OverflowArea.index(of: pair.uuid) == pair.index)
        #expect(pair.index ^ 7 == pair.highestFirst)
        var mask = [UInt8](repeating: 0, count: 16)
        mask[pair.byte] = pair.mask
        #expect(OverflowArea([pair.uuid]).mask == mask)
    }

    /// Observed on the air as 16-bit UUIDs, and computed for well-known ones.
    @Test(
        arguments: [
            ("C007", 36, 4, 0x10), ("C008", 59, 7, 0x08), ("1001", 57, 7, 0x02), ("3333", 57, 7, 0x02),
            ("3AC5", 109, 13, 0x20), ("FD64", 83, 10, 0x08), ("F061", 78, 9, 0x40),
            ("00000000-0000-0000-0000-000000000000", 0, 0, 0x01),
            ("180D", 61, 7, 0x20), ("180F", 115, 14, 0x08), ("180A", 1, 0, 0x02), ("1812", 100, 12, 0x10),
            ("FD6F", 89, 11, 0x02), ("FFF7", 22, 2, 0x40), ("C019", 26, 3, 0x04), ("CAFE", 35, 4, 0x08),
            ("6E400001-B5A3-F393-E0A9-E50E24DCCA9E", 46, 5, 0x40),
        ] as [(BluetoothUUID, Int, Int, UInt8)])
    func `a short UUID sets the bit of its 128 bits`(
        uuid: BluetoothUUID, index: Int, byte: Int, bit: UInt8
    ) {
        #expect(OverflowArea.index(of: uuid) == index)
        #expect(OverflowArea.index(of: uuid.in128Bits) == index)
        #expect(OverflowArea([uuid]).mask[byte] == bit)
    }

    @Test func `a 32-bit UUID is expanded as a 16-bit one is, which is an assumption`() {
        #expect(
            OverflowArea.index(of: "12345678")
                == OverflowArea.index(of: "12345678-0000-1000-8000-00805F9B34FB"))
        #expect(OverflowArea.index(of: "0000180D") == 61)
    }

    @Test func `the bits of a byte are counted from the lowest`() {
        // Read from the highest, as the article that published the table has it, this would be 0x80.
        let area = OverflowArea(["00000000-0000-0000-0000-000000000039"])
        #expect(area.mask == [UInt8](repeating: 0, count: 15) + [0x01])
    }

    @Test func `Apple Watch's set-up service is told by its bit, and by no other`() {
        let service: BluetoothUUID = "9AA4730F-B25C-4CC3-B821-C931559FC196"
        #expect(OverflowArea.index(of: service) == OverflowArea.watchSetupIndex)
        for pair in OverflowPair.observed {
            #expect(OverflowArea([pair.uuid]).setsOffWatchSetup == (pair.index == 66))
        }
    }

    @Test func `the mask goes out as an iPhone with iOS 11 sent it`() {
        let area = OverflowArea(["2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6"])
        #expect(Hex.encode([area.structure].bytes) == "14FF4C000100000000000000000000080000000000")
    }

    @Test func `UUIDs share the mask, and two of them a bit`() {
        let area = OverflowArea(["C007", "1001"])
        #expect(Hex.encode(area.mask) == "00000000100000020000000000000000")
        #expect(area.contains("C007"))
        #expect(area.contains("3333"))
        #expect(!area.contains("C008"))
        #expect(OverflowArea(["1001", "3333"]) == OverflowArea(["3333"]))
        #expect(!area.isEmpty)
        #expect(OverflowArea().isEmpty)
    }

    @Test func `the area is found by its type among Apple's other data`() throws {
        let mask = "00000000000000000000080000000000"
        let bytes = try #require(Hex.decode("02011A020A0C0BFF4C0010061A1E01020304" + "14FF4C0001" + mask))
        let areas = [ADStructure].decode(bytes).structures.compactMap { OverflowArea($0) }
        #expect(areas == [OverflowArea(["FD64"])])
    }

    @Test(arguments: [
        "14FF4C0002" + zeros, "14FF4D0001" + zeros, "14164C0001" + zeros, "13FF4C0001" + zeros.dropLast(2),
        "15FF4C0001" + zeros + "00", "03FF4C00", "04FF4C0001", "01FF",
    ])
    func `anything else holds none`(text: String) throws {
        let structure = try #require([ADStructure].decode(Hex.decode(text) ?? []).structures.first)
        #expect(OverflowArea(structure) == nil)
    }

    private static let zeros = String(repeating: "00", count: 16)

    @Test func `any set of UUIDs reads back from the air`() throws {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<1000 {
            let uuids = (0..<Int.random(in: 0...20, using: &random)).compactMap { _ in
                BluetoothUUID(littleEndian: (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) })
            }
            let area = OverflowArea(uuids)
            let read = try #require(OverflowArea(area.structure))
            #expect(read == area)
            #expect(uuids.allSatisfy { read.contains($0) })
            #expect(read.mask.reduce(0) { $0 + $1.nonzeroBitCount } <= uuids.count)
        }
    }
}
