import MynahSupport
import MynahTestSupport
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
            (" 01 ", [1]), ("01 02\n03\t04\r\n", [1, 2, 3, 4]),
        ] as [(String, [UInt8])])
    func `hexadecimal text with or without separators is bytes`(text: String, bytes: [UInt8]) {
        #expect(Hex.decode(text) == bytes)
    }

    @Test(arguments: ["0", "0 0", "0\n1", "0x01", "0g", "é", "01 2"])
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

    @Test(arguments: 0..<300)
    func `any order of reads takes each byte once and stops at the end`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bytes = random.bytes(upTo: 40)
        var reader = ByteReader(bytes)
        var taken = ByteWriter()
        for _ in 0..<60 {
            let before = reader.remaining
            let width = [1, 2, 4, 8][Int.random(in: 0..<4, using: &random)]
            switch (Bool.random(using: &random), width) {
            case (true, _): if let run = reader.readBytes(width) { taken.write(run) }
            case (_, 1): if let value = reader.readUInt8() { taken.write(value) }
            case (_, 2): if let value = reader.readUInt16() { taken.write(value) }
            case (_, 4): if let value = reader.readUInt32() { taken.write(value) }
            default: if let value = reader.readUInt64() { taken.write(value) }
            }
            #expect(reader.remaining == (before >= width ? before - width : before))
        }
        #expect(taken.bytes + reader.readRest() == bytes)
        #expect(reader.isAtEnd)
    }

    @Test func `a count from a peer may be anything`() {
        var reader = ByteReader([1])
        #expect(reader.readBytes(.max) == nil)
        #expect(reader.readBytes(.min) == nil)
        #expect(reader.readBytes(0) == [])
        #expect(reader.readInteger(as: UInt128.self) == nil)
        #expect(reader.remaining == 1)
    }

    @Test(arguments: UInt8.min...UInt8.max)
    func `a byte is a digit or none`(character: UInt8) {
        let digits = Array("0123456789abcdef".utf8)
        let value = digits.firstIndex(of: character | (character >= 0x41 && character <= 0x46 ? 0x20 : 0))
        #expect(Hex.value(ofDigit: character).map(Int.init) == value)
    }

    @Test(arguments: 0..<100)
    func `bytes survive base64 text made elsewhere`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bytes = random.bytes(upTo: 30)
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0..<4 {
                text.append(place <= group.count ? alphabet[bits >> (18 - 6 * place) & 63] : "=")
            }
        }
        #expect(Base64.decode(text) == bytes)
    }
}
