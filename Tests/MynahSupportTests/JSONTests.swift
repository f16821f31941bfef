import MynahSupport
import Testing

@Suite struct JSONTests {
    @Test func `an object keeps the order of its keys`() {
        let value = JSON.object([
            .init("b", .integer(1)), .init("a", .array([.bool(true), .null])), .init("c", .string("")),
        ])
        #expect(value.text == #"{"b":1,"a":[true,null],"c":""}"#)
    }

    @Test(arguments: [
        ("\"", #""\"""#), ("\\", #""\\""#), ("\n\r\t", #""\n\r\t""#), ("\u{1}", #""\u0001""#),
        ("é🫀", "\"é🫀\""), ("\u{7F}", #""\u007F""#), ("a\u{80}\u{85}\u{9F}", #""a\u0080\u0085\u009F""#),
        ("\u{2028}\u{2029}", #""\u2028\u2029""#), ("\u{A0}Â", "\"\u{A0}Â\""),
        ("\u{2027}\u{202A}‡\u{E0A8}\u{428}", "\"\u{2027}\u{202A}‡\u{E0A8}\u{428}\""),
    ])
    func `characters that JSON reserves or a terminal acts on are escaped, the rest stays`(
        text: String, written: String
    ) {
        #expect(JSON.string(text).text == written)
    }

    @Test(arguments: [
        (1.0, "1"), (181.25, "181.25"), (Double.infinity, "null"), (.nan, "null"), (-0.5, "-0.5"),
    ])
    func `numbers are as short as they can be`(number: Double, written: String) {
        #expect(JSON.number(number).text == written)
    }

    @Test func `pretty text breaks only what holds something`() {
        let value = JSON.object([
            .init("a", .array([.object([.init("b", .array([]))])])), .init("c", .array([.integer(1)])),
        ])
        #expect(
            value.prettyText == """
                {
                  "a": [
                    {"b":[]}
                  ],
                  "c": [1]
                }
                """)
    }
}
