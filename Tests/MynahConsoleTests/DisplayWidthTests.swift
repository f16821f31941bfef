import MynahConsole
import Testing

@Suite struct DisplayWidthTests {
    @Test(arguments: [
        ("", 0), ("Mynah HRM", 9), ("●…─", 3), ("héllo", 5), ("e\u{301}", 1), ("Ω½", 2),
        // East Asian wide and fullwidth characters, and halfwidth ones.
        ("心率", 4), ("カ", 2), ("ｶ", 1), ("Ａ", 2), ("한", 2), ("각", 2), ("\u{1112}\u{1161}\u{11AB}", 2),
        ("가각", 4), ("\u{303F}", 1), ("𠀀", 2), ("\u{3000}", 2), ("☰䷀", 4), ("🈚", 2), ("🉐", 2),
        // Combining, enclosing and zero-width characters; a soft hyphen is drawn.
        ("a\u{20DD}", 1), ("\u{200B}", 0), ("a\u{200D}b", 2), ("\u{FEFF}", 0), ("a\u{AD}b", 3),
        ("か\u{3099}", 2), ("\u{301}", 0), ("का", 2), ("กำ", 2),
        // Emoji, by default or by variation selector 16.
        ("💓", 2), ("❤", 1), ("❤\u{FE0F}", 2), ("☎\u{FE0F}", 2), ("1\u{FE0F}\u{20E3}", 2), ("⌚", 2),
        ("👍🏽", 2), ("🏽", 2), ("🫠", 2),
        // One glyph of several: joined emoji, flags.
        ("👨‍👩‍👧", 2), ("👩\u{200D}🔬", 2), ("❤\u{FE0F}\u{200D}🔥", 2), ("🏳\u{FE0F}\u{200D}🌈", 2), ("🇩🇪", 2),
        ("🇩🇪🇫🇷", 4), ("🇩", 1), ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", 2),
        // A terminal draws none of these.
        ("\u{1B}", 0), ("\t", 0), ("\u{85}", 0), ("\u{2028}", 0),
    ])
    func `a text takes as many columns as a terminal gives it`(text: String, columns: Int) {
        #expect(DisplayWidth.of(text) == columns)
    }
}
