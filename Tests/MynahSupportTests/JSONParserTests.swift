import MynahSupport
import MynahTestSupport
import Testing

@Suite struct JSONParserTests {
    private func parse(_ text: String) throws(JSON.ParseError) -> JSON {
        try JSON(parsing: Array(text.utf8))
    }

    @Test(arguments: [
        ("null", JSON.null), (" true ", .bool(true)), ("-12", .integer(-12)), ("1.5", .number(1.5)),
        ("0", .integer(0)), ("1e3", .number(1000)), (#""a\n\u00e9\ud83e\udec0/\/""#, .string("a\né🫀//")),
        (#""\ud800x""#, .string("\u{FFFD}x")), ("[]", .array([])),
        ("[1,[2]]", .array([.integer(1), .array([.integer(2)])])),
        (#"{"b":{},"a":[null]}"#, .object([.init("b", .object([])), .init("a", .array([.null]))])),
    ])
    func `valid JSON is parsed`(text: String, value: JSON) throws {
        #expect(try parse(text) == value)
    }

    @Test(arguments: [
        "", "nul", "{", "[1", "[1,]", "{\"a\"}", "{\"a\":}", "{a:1}", "01", "+1", "1.", ".5", "0x10", "1_0",
        "inf", "NaN",
        "\"", "\"\\x\"", "\"\\u12\"", "\"\n\"", "1 2", "[1]]", "--1", "1e", "1.e3", "1e999", "-1e999",
    ])
    func `invalid JSON is refused, with the position of the error`(text: String) {
        let error = #expect(throws: JSON.ParseError.self) { try parse(text) }
        #expect((0...text.utf8.count).contains(error?.offset ?? -1))
    }

    @Test func `nesting has an end`() throws {
        let deep = String(repeating: "[", count: 100_000)
        #expect(throws: JSON.ParseError.self) { try parse(deep) }
        #expect(try parse(String(repeating: "[", count: 60) + String(repeating: "]", count: 60)) != .null)
    }

    @Test func `JSON is read as it was written, on one line and on several`() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<500 {
            let value = Self.random(&random, level: 0)
            #expect(try parse(value.text) == value)
            #expect(try parse(value.prettyText) == value)
        }
    }

    @Test(arguments: ["-0e91", "1.0", "1e30", "-1e-300", "0.5", "9223372036854775808"])
    func `a number is written so that it is read the same`(text: String) throws {
        let written = try parse(text).text
        #expect(try parse(written).text == written)
    }

    @Test func `any bytes at all are read or refused`() {
        var random = SeededGenerator(seed: 8)
        let letters = Array(#"{}[]":,\u0e-.19tfn "#.utf8) + [0x00, 0xFF, 0xC3]
        var refused = 0
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0..<24, using: &random)).map { _ in
                letters.randomElement(using: &random) ?? 0
            }
            do { _ = try JSON(parsing: bytes) } catch { refused += 1 }
        }
        #expect(refused > 10_000)
    }

    private static func random(_ random: inout SeededGenerator, level: Int) -> JSON {
        switch Int.random(in: 0..<(level > 3 ? 5 : 7), using: &random) {
        case 0: .null
        case 1: .bool(Bool.random(using: &random))
        case 2: .integer(Int.random(in: .min ... .max, using: &random))
        case 3: .number(Double(Int.random(in: -1000...1000, using: &random)) + 0.25)
        case 4: .string(["", "a\"\\\n", "🫀\u{1}", "/"].randomElement(using: &random) ?? "")
        case 5:
            .array(
                (0..<Int.random(in: 0..<4, using: &random)).map { _ in Self.random(&random, level: level + 1)
                })
        default:
            .object(
                (0..<Int.random(in: 0..<4, using: &random)).map { number in
                    .init("k\(number)", Self.random(&random, level: level + 1))
                })
        }
    }
}
