import MynahSupport
import Testing

@Suite struct WholeDigitsTests {
    @Test(arguments: [
        "", "-", "12", "-9223372036854775808", "18446744073709551615", "0018446744073709551615", "1.5",
        "1e30",
        "0x10", "0xFFFFFFFFFFFFFFFF", "0x", "0xG0000000000000000", "72 bpm", "a",
        // A Double has these digits: JavaScript writes 2^66 so.
        "100000000000000000000", "73786976294838210000", "-73786976294838210000", "+100000000000000000000",
    ])
    func `a number that keeps its digits has no problem, and neither has other text`(text: String) {
        #expect(WholeDigits.problem(of: text) == nil)
    }

    @Test(arguments: [
        ("-9223372036854775809", "-9.223372036854776e+18"),
        ("18446744073709551616", "1.8446744073709552e+19"),
        ("18446744073709551617", "1.8446744073709552e+19"),
        ("+18446744073709551616", "1.8446744073709552e+19"),
        ("73786976294838206464", "7.378697629483821e+19"),
    ])
    func `a number that would lose digits is named with all of them`(text: String, rounded: String) {
        #expect(
            WholeDigits.problem(of: text) == """
                the whole number \(text) needs more than 64 bits; where a number may be rounded, write \
                \(rounded)
                """)
    }

    @Test func `a hexadecimal number has at most 64 bits`() {
        for text in ["0x10000000000000000", "0Xfffffffffffffffff"] {
            #expect(WholeDigits.problem(of: text) == "the whole number \(text) needs more than 64 bits")
        }
    }

    @Test func `a number without end is not printed whole, and none is proposed`() {
        let long = String(repeating: "9", count: 400)
        #expect(
            WholeDigits.problem(of: long)
                == "the whole number \(long.prefix(40))… needs more than 64 bits")
    }

    @Test func `JSON is read with rounded numbers, or not at all`() throws {
        let bytes = Array(#"{"a": [18446744073709551617]}"#.utf8)
        #expect(try JSON(parsing: bytes)["a"] == .array([.number(0x1p64)]))
        let error = #expect(throws: JSON.ParseError.self) { try JSON(parsing: bytes, rounding: false) }
        #expect(error?.isRounded == true && error?.offset == 7)
        #expect(error?.message.contains("18446744073709551617") == true)
        for text in ["18446744073709551615", "-9223372036854775808", "73786976294838210000", "1e300", "0.1"] {
            #expect(try JSON(parsing: Array(text.utf8), rounding: false) == JSON(parsing: Array(text.utf8)))
        }
    }
}
