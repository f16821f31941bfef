import MynahSupport
import Testing

@Suite struct ByteTests {
    @Test func `integers are little-endian both ways`() {
        var writer = ByteWriter()
        writer.write(UInt8(1))
        writer.write(UInt16(0x0302))
        writer.write(UInt32(0x0706_0504))
        writer.write(UInt64(0x0F0E_0D0C_0B0A_0908))
        writer.write([16, 17] as [UInt8])
        #expect(writer.bytes == Array(1...17))
        var reader = ByteReader(writer.bytes)
        #expect(reader.readUInt8() == 1)
        #expect(reader.readUInt16() == 0x0302)
        #expect(reader.readUInt32() == 0x0706_0504)
        #expect(reader.readUInt64() == 0x0F0E_0D0C_0B0A_0908)
        #expect(reader.readBytes(2) == [16, 17])
        #expect(reader.isAtEnd)
    }

    @Test func `a reader never goes past its end, and a short read takes nothing`() {
        var reader = ByteReader([1, 2, 3])
        #expect(reader.readUInt32() == nil)
        #expect(reader.readUInt64() == nil)
        #expect(reader.readBytes(4) == nil)
        #expect(reader.readBytes(-1) == nil)
        #expect(reader.remaining == 3)
        #expect(reader.readRest() == [1, 2, 3])
        #expect(reader.readUInt8() == nil)
        #expect(reader.readRest() == [])
    }

    @Test func `a slice is read from its own start`() {
        var reader = ByteReader([9, 9, 1, 2][2...])
        #expect(reader.readUInt16() == 0x0201)
        #expect(reader.isAtEnd)
    }

    @Test(
        arguments: [
            ("", []), ("00ff", [0, 255]), ("00 FF", [0, 255]), ("AA:bb-CC", [0xAA, 0xBB, 0xCC]),
            (" 01 ", [1]),
        ] as [(String, [UInt8])])
    func `hexadecimal text with or without separators is bytes`(text: String, bytes: [UInt8]) {
        #expect(Hex.decode(text) == bytes)
    }

    @Test(arguments: ["0", "0 0", "0x01", "0g", "é", "01 2"])
    func `text that is no pairs of digits is no bytes`(text: String) {
        #expect(Hex.decode(text) == nil)
    }

    @Test func `every byte survives hexadecimal text`() {
        let all = Array(UInt8.min...UInt8.max)
        #expect(Hex.decode(Hex.encode(all)) == all)
    }

    @Test(
        arguments: [
            ("", []), ("AQI=", [1, 2]), ("AQ==", [1]), ("AQID", [1, 2, 3]), ("+/+/", [0xFB, 0xFF, 0xBF]),
            ("AQ\n I=", [1, 2]),
        ] as [(String, [UInt8])])
    func `base64 is bytes`(text: String, bytes: [UInt8]) {
        #expect(Base64.decode(text) == bytes)
    }

    @Test(arguments: ["A", "AQI", "A===", "AQ=A", "AQ==AQ==", "AQI*", "====", "=AAA"])
    func `text that is no base64 is no bytes`(text: String) {
        #expect(Base64.decode(text) == nil)
    }
}
