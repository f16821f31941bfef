import MynahSupport
import Testing

@testable import MynahEmulator

/// The examples of RFC 8949, Appendix A, as far as they are values that MCUmgr has.
@Suite struct CBORTests {
    static let examples: [(hex: String, value: CBOR)] = [
        ("00", .unsigned(0)), ("01", .unsigned(1)), ("0A", .unsigned(10)), ("17", .unsigned(23)),
        ("1818", .unsigned(24)), ("1864", .unsigned(100)), ("1903E8", .unsigned(1000)),
        ("1A000F4240", .unsigned(1_000_000)), ("1B000000E8D4A51000", .unsigned(1_000_000_000_000)),
        ("1BFFFFFFFFFFFFFFFF", .unsigned(.max)), ("3BFFFFFFFFFFFFFFFF", .negative(.max)),
        ("20", .negative(0)), ("29", .negative(9)), ("3863", .negative(99)), ("3903E7", .negative(999)),
        ("F4", .boolean(false)), ("F5", .boolean(true)), ("F6", .null),
        ("40", .bytes([])), ("4401020304", .bytes([1, 2, 3, 4])),
        ("60", .text("")), ("6161", .text("a")), ("6449455446", .text("IETF")), ("62225C", .text("\"\\")),
        ("62C3BC", .text("ü")), ("64F0908591", .text("\u{10151}")),
        ("80", .array([])), ("83010203", .array([.unsigned(1), .unsigned(2), .unsigned(3)])),
        (
            "8301820203820405",
            .array([
                .unsigned(1), .array([.unsigned(2), .unsigned(3)]), .array([.unsigned(4), .unsigned(5)]),
            ])
        ),
        ("A0", .map([])),
        (
            "A26161016162820203",
            .map([.init("a", .unsigned(1)), .init("b", .array([.unsigned(2), .unsigned(3)]))])
        ),
        ("826161A161626163", .array([.text("a"), .map([.init("b", .text("c"))])])),
    ]

    @Test(arguments: examples)
    func `an example is read, and written the same`(hex: String, value: CBOR) throws {
        let bytes = try #require(Hex.decode(hex))
        #expect(try CBOR(decoding: bytes) == value)
        #expect(value.encoded == bytes)
    }

    static let indefinite: [(hex: String, value: CBOR)] = [
        ("5F42010243030405FF", .bytes([1, 2, 3, 4, 5])), ("5FFF", .bytes([])),
        ("7F657374726561646D696E67FF", .text("streaming")), ("9FFF", .array([])),
        ("9F018202039F0405FFFF", examples[28].value),
        ("BF61610161629F0203FFFF", examples[30].value),
        // Heads that are longer than they need to be.
        ("1800", .unsigned(0)), ("1B0000000000000001", .unsigned(1)), ("590001FF", .bytes([0xFF])),
    ]

    @Test(arguments: indefinite)
    func `a value of indefinite length is read`(hex: String, value: CBOR) throws {
        #expect(try CBOR(decoding: try #require(Hex.decode(hex))) == value)
    }

    static let malformed = [
        // Nothing, more than a value, or less.
        "", "0000", "18", "1901", "1B00000000000000", "42FF", "6261", "8201", "A1", "A16161", "5F41", "7F",
        "9F01",
        "BF6161",
        // Lengths beyond all memory.
        "5BFFFFFFFFFFFFFFFF", "7BFFFFFFFFFFFFFFFF", "9BFFFFFFFFFFFFFFFF", "BBFFFFFFFFFFFFFFFF",
        "9A7FFFFFFF00",
        // Reserved heads, and a break without a beginning.
        "1C", "1D", "1E", "1F", "3F", "FF", "83FF0102", "DF",
        // Strings in a string of another type, or of indefinite length.
        "5F6161FF", "7F4161FF", "5F5F4101FFFF", "5F01FF",
        // A map with a key that is no text, the same key twice, or half an entry.
        "A10102", "A2616101616102", "BF6161FF", "A1F501",
        // Text that is not UTF-8.
        "61FF", "62C328",
        // Tags, undefined, other simple values, and floating-point numbers.
        "C074323031332D30332D32315432303A30343A30305A", "C100", "F7", "F0", "F818", "F97C00", "FA47C35000",
        "FB3FF199999999999A",
    ]

    @Test(arguments: malformed)
    func `anything else is malformed`(hex: String) throws {
        let bytes = try #require(Hex.decode(hex))
        #expect(throws: CBOR.Malformed()) { try CBOR(decoding: bytes) }
    }

    @Test func `values are nested to a limit`() throws {
        func nested(_ count: Int, _ open: UInt8, _ rest: [UInt8]) -> [UInt8] {
            [UInt8](repeating: open, count: count) + rest
        }
        #expect(throws: Never.self) { try CBOR(decoding: nested(CBOR.deepest, 0x81, [0x00])) }
        #expect(throws: CBOR.Malformed()) { try CBOR(decoding: nested(CBOR.deepest + 1, 0x81, [0x00])) }
        #expect(throws: CBOR.Malformed()) { try CBOR(decoding: nested(100_000, 0x9F, [])) }
        #expect(throws: CBOR.Malformed()) { try CBOR(decoding: nested(100_000, 0x81, [])) }
    }

    @Test func `hostile bytes are read or malformed, and what is read is written so that it is read again`() {
        var random = SeededRandom(seed: 1)
        let heads: [UInt8] = [0x18, 0x41, 0x61, 0x81, 0xA1, 0x5F, 0x7F, 0x9F, 0xBF, 0xFF, 0xF5, 0x39, 0x59]
        var count = 0
        for _ in 0..<20_000 {
            let bytes = (0..<Int(random.next() % 24)).map { _ in
                random.next() % 2 == 0
                    ? heads[Int(random.next() % UInt64(heads.count))]
                    : UInt8(truncatingIfNeeded: random.next())
            }
            guard let value = try? CBOR(decoding: bytes) else { continue }
            count += 1
            #expect((try? CBOR(decoding: value.encoded)) == value, "\(bytes)")
        }
        #expect(count > 100)
    }
}
