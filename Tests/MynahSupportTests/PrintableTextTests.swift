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
}
