import Testing

@testable import MynahConsole

@Suite struct ScreenLineTests {
    @Test(arguments: [
        ("Mynah HRM", 5, "Myna…"), ("Mynah", 5, "Mynah"), ("Mynah", 0, ""), ("Mynah", 1, "…"),
        // A wide character that does not fit ends the line, although a narrow one after it would.
        ("心率計", 4, "心…"), ("心率計a", 6, "心率…"), ("👨‍👩‍👧b", 1, "…"), ("👨‍👩‍👧b", 3, "👨‍👩‍👧b"),
        ("e\u{301}e\u{301}x", 2, "e\u{301}…"),
        ("\u{1B}[1mab\u{1B}[0mcd", 3, "\u{1B}[1mab\u{1B}[0m…"),
        ("\u{1B}[7mab\u{1B}[0m", 1, "\u{1B}[7m…\u{1B}[0m"),
        ("a\nb\r\nc", 5, "a b c"),
    ])
    func `a line is cut between characters and marked, and its escape sequences are kept`(
        line: String, width: Int, cut: String
    ) {
        #expect(ScreenLine.cut(line, width) == cut)
    }

    @Test(arguments: [
        ("HRM", 5, "HRM  "), ("Mynah", 5, "Mynah"), ("Mynah HRM", 5, "Myna…"), ("心率計", 6, "心率計"),
        ("心率計", 5, "心率…"), ("心率計", 4, "心… "), ("心", 1, "…"), ("x", 0, ""),
    ])
    func `a text fits its columns exactly, with an ellipsis if it is longer`(
        text: String, width: Int, fitted: String
    ) {
        #expect(ScreenLine.fit(text, width) == fitted)
        #expect(DisplayWidth.of(fitted) == width)
    }

    @Test func `padding is counted in columns`() {
        #expect(ScreenLine.pad("心率", 6) == "心率  ")
        #expect(ScreenLine.padLeft("❤\u{FE0F}", 4) == "  ❤\u{FE0F}")
        #expect(ScreenLine.pad("Mynah", 3) == "Mynah")
    }

    @Test func `words flow into lines, none of them broken`() {
        let words = ["f foreground", "b background", "心率", "q quit"]
        func flow(_ width: Int) -> [String] {
            ScreenLine.flow(words, separator: "  ", indent: "  ", width: width)
        }
        #expect(flow(80) == ["  f foreground  b background  心率  q quit"])
        #expect(flow(28) == ["  f foreground  b background", "  心率  q quit"])
        #expect(flow(5) == words.map { "  " + $0 })
    }
}
