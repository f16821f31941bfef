import MynahConsole
import Testing

@Suite struct WholeNumberTests {
    @Test(arguments: [("0", 0), ("18446744073709551615", UInt64.max), ("12", 12)])
    func `a whole number is taken`(text: String, number: UInt64) throws {
        #expect(try WholeNumber.parse(text, in: 0...UInt64.max) == number)
    }

    @Test(arguments: ["", "abc", "-1", "1.5", "0x10", "18446744073709551616", " 1"])
    func `anything else is refused with what is taken`(text: String) {
        let problem = #expect(throws: WholeNumber.Problem.self) {
            try WholeNumber.parse(text, in: 0...UInt64.max)
        }
        #expect(problem?.description == "expected a whole number from 0 to 18446744073709551615")
    }

    @Test func `a number past the range is refused`() {
        #expect(throws: WholeNumber.Problem.self) {
            try WholeNumber.parse("1000000", in: 0...UInt32(999_999))
        }
    }
}
