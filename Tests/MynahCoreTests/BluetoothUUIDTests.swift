import MynahCore
import Testing

@Suite struct BluetoothUUIDTests {
    static let spellings: [BluetoothUUID] = ["180D", "0000180d", "0000180D-0000-1000-8000-00805F9B34FB"]

    @Test func `three spellings of one value are equal and hash alike`() {
        #expect(Set(Self.spellings).count == 1)
        #expect(Self.spellings.map(\.assignedNumber) == [0x180D, 0x180D, 0x180D])
    }

    @Test func `each keeps the width it was written in`() {
        #expect(Self.spellings.map(\.width) == [.bits16, .bits32, .bits128])
        #expect(Self.spellings.map(\.littleEndianBytes.count) == [2, 4, 16])
        #expect(
            Self.spellings.map(\.description) == ["180D", "0000180D", "0000180D-0000-1000-8000-00805F9B34FB"])
        #expect(Self.spellings.map(\.shortest.width) == [.bits16, .bits16, .bits16])
    }

    @Test func `the air has the least significant byte first`() {
        #expect(BluetoothUUID("180D").littleEndianBytes == [0x0D, 0x18])
        #expect(
            BluetoothUUID("6E400001-B5A3-F393-E0A9-E50E24DCCA9E").littleEndianBytes == [
                0x9E, 0xCA, 0xDC, 0x24, 0x0E, 0xE5, 0xA9, 0xE0, 0x93, 0xF3, 0xA3, 0xB5, 0x01, 0x00, 0x40,
                0x6E,
            ])
    }

    @Test(arguments: ["180D", "12345678", "6E400001-B5A3-F393-E0A9-E50E24DCCA9E"])
    func `the bytes of the air give the same UUID back`(text: String) throws {
        let uuid = try #require(BluetoothUUID(text))
        let again = try #require(BluetoothUUID(littleEndian: uuid.littleEndianBytes))
        #expect(again == uuid)
        #expect(again.width == uuid.width)
    }

    @Test(arguments: ["0x180d", "0X180D", "0x0000180D", "0000180d00001000800000805f9b34fb"])
    func `prefixes, lower case and missing dashes are read`(text: String) {
        #expect(BluetoothUUID(text) == "180D")
    }

    @Test(arguments: [
        "", "180", "180DD", "0x180", "xyzw", "180G", "6E400001B5A3-F393-E0A9-E50E24DCCA9E",
        "6E400001-B5A3-F393-E0A9-E50E24DCCA9", "6E400001-B5A3-F393-E0A9-E50E24DCCA9EA", "--------",
        "180D\u{301}",
    ])
    func `anything else is no UUID`(text: String) {
        #expect(BluetoothUUID(text) == nil)
    }

    @Test(arguments: [0, 1, 3, 5, 15, 17])
    func `other counts of bytes are no UUID`(count: Int) {
        #expect(BluetoothUUID(littleEndian: Array(repeating: 0, count: count)) == nil)
    }

    @Test func `a UUID of one's own has no short value`() {
        let uuid: BluetoothUUID = "6E400001-B5A3-F393-E0A9-E50E24DCCA9E"
        #expect(uuid.shortValue == nil)
        #expect(uuid.shortest.width == .bits128)
        #expect(BluetoothUUID("12345678").assignedNumber == nil)
        #expect(BluetoothUUID("12345678").shortValue == 0x1234_5678)
    }
}
