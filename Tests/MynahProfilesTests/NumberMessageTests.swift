import MynahProfiles
import Testing

/// Messages about values that are nearly what is meant.
@Suite struct NumberMessageTests {
    @Test(arguments: [
        ("app: {iOS: 9223372036854775808}", "iOS must be between 7 and 99, not 9223372036854775808"),
        ("app: {iOS: 0x10000000000000000}", "iOS must be between 0x7 and 0x63, not 0x10000000000000000"),
        ("app: {iOS: -99999999999999999999}", "iOS must be between 7 and 99, not -99999999999999999999"),
        ("app: {iOS: seven}", "error: iOS must be a whole number, as 18 or 0x12, not \"seven\""),
        (
            "variables: {big: 1_000}",
            "warning: the variable big is the text \"1_000\"; write 1000 for a number, or quote it"
        ),
        (
            "app: {accessorySetup: {serviceUUID: 180D}}\ncentral: {}",
            "error: accessorySetup must be a list, as in [a, b], not a mapping"
        ),
    ])
    func `one fault is one message`(text: String, message: String) {
        let found = problems(head(text + "\n"))
        #expect(found.count == 1)
        #expect(found.first?.hasSuffix(message) == true, "\(found)")
    }

    @Test func `a variable with quotes is text without a warning`() {
        #expect(problems(head("variables: {big: \"1_000\", code: 1_a}\n")) == [])
    }
}
