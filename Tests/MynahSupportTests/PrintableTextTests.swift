import MynahSupport
import Testing

@Suite struct PrintableTextTests {
    @Test(arguments: [
        ("Mynah HRM", "Mynah HRM"),
        ("心率 💓", "心率 💓"),
        ("a\u{1B}[2Jb", "a\u{FFFD}[2Jb"),
        ("a\u{7F}\u{85}\u{9B}b", "a\u{FFFD}\u{FFFD}\u{FFFD}b"),
        ("a\u{2028}\u{202E}b", "a\u{FFFD}\u{FFFD}b"),
        // Joined emoji need their zero-width joiner, which is a format character too.
        ("👩\u{200D}🔬", "👩\u{200D}🔬"),
    ])
    func `characters that a terminal would act on are replaced`(text: String, shown: String) {
        #expect(PrintableText.of(text) == shown)
    }

    /// Characters of each general category that no reader sees alone.
    static let unseen: [Unicode.Scalar] = [
        // Spaces, and separators of lines and paragraphs.
        " ", "\u{A0}", "\u{3000}", "\u{2028}", "\u{2029}",
        // Marks: nonspacing, spacing and enclosing, and variation selectors.
        "\u{301}", "\u{903}", "\u{20DD}", "\u{FE0F}", "\u{E0100}",
        // Format characters and private use, and code points that are not assigned.
        "\u{200B}", "\u{200D}", "\u{202E}", "\u{AD}", "\u{600}", "\u{FEFF}", "\u{E0041}",
        "\u{E000}", "\u{F8FF}", "\u{F0000}", "\u{10FFFD}", "\u{378}",
        // Letters and symbols without a picture.
        "\u{3164}", "\u{115F}", "\u{FFA0}", "\u{2800}", "\u{1D159}", "\u{13441}",
    ]

    @Test(arguments: unseen)
    func `a name of characters that nobody sees is none`(scalar: Unicode.Scalar) {
        let name = String(scalar)
        #expect(PrintableText.problem(ofName: name) == "has no visible character")
        #expect(PrintableText.problem(ofName: name + " " + name) == "has no visible character")
        // Beside a letter they are fine.
        #expect(PrintableText.problem(ofName: "a" + name) == nil)
    }

    @Test(arguments: [
        "a", "É", "e\u{301}", "心率", "ไทย", "💓", "👩\u{200D}🔬", "7", "½", "-", "«", "€", "^", "\u{FFFD}",
    ])
    func `letters, numbers, punctuation and symbols make a name`(name: String) {
        #expect(PrintableText.problem(ofName: name) == nil)
    }

    @Test(arguments: ["\0", "a\n", "\u{1B}[2J", "\u{80}a"])
    func `a name has no control character`(name: String) {
        #expect(PrintableText.problem(ofName: name) == "has a control character in it")
    }
}
