import MynahCore
import MynahRun
import Testing

@Suite struct PairingAnswerTests {
    @Test(
        arguments: [
            ("y", .agreed), ("Yes", .agreed), (" YES ", .agreed), ("n", .declined), ("No", .declined),
            ("nO", .declined),
            ("", nil), ("yeah", nil), ("nope", nil), ("quit", nil), ("read 2A37", nil), ("123456", nil),
        ] as [(String, PairingAnswer?)])
    func `a comparison takes a yes or a no and nothing else`(line: String, answer: PairingAnswer?) {
        #expect(PairingAnswer(comparing: line) == answer)
    }

    @Test(
        arguments: [
            ("123456", .passkey(123_456)), ("012 345", .passkey(12_345)), ("7", .passkey(7)),
            ("no", .declined),
            ("N", .declined),
            ("", nil), ("1234567", nil), ("+12345", nil), ("-1", nil), ("yes", nil), ("12a456", nil),
            ("١٢٣", nil),
        ] as [(String, PairingAnswer?)])
    func `a passkey is up to six digits, and a no refuses`(line: String, answer: PairingAnswer?) {
        #expect(PairingAnswer(entering: line) == answer)
    }
}
