import MynahConsole
import Testing

@Suite struct PromptLineTests {
    /// The line as it is drawn after these keys.
    private func drawn(_ keys: String, prompt: String = "HRM> ", width: Int) -> String {
        var buffer = LineBuffer()
        for byte in Array(keys.utf8) { _ = buffer.handle(byte) }
        return PromptLine.drawing(prompt, buffer, width: width)
    }

    private static let left = "\u{1B}[D"

    @Test func `the cursor moves back by columns, not by characters`() {
        #expect(drawn("read", width: 40) == "\rHRM> read\u{1B}[K")
        #expect(drawn("ab" + Self.left, width: 40) == "\rHRM> ab\u{1B}[K\u{1B}[1D")
        #expect(drawn("心拍" + Self.left, width: 40) == "\rHRM> 心拍\u{1B}[K\u{1B}[2D")
        #expect(
            drawn("x👨‍👩‍👧e\u{301}" + Self.left + Self.left, width: 40) == """
                \rHRM> x👨‍👩‍👧e\u{301}\u{1B}[K\u{1B}[3D
                """)
    }

    @Test func `a long line is shown around the cursor, and never wraps`() {
        // 5 columns of prompt and the last column free: 14 columns.
        #expect(drawn("read 心拍計心拍計", width: 20) == "\rHRM> d 心拍計心拍計\u{1B}[K")
        #expect(drawn("心拍計心拍計心拍計\u{01}", width: 20) == "\rHRM> 心拍計心拍計心\u{1B}[K\u{1B}[14D")
        #expect(drawn("a心拍計心拍計心", width: 20) == "\rHRM> 心拍計心拍計心\u{1B}[K")
    }

    @Test func `a long prompt leaves half of the terminal to the line`() {
        #expect(drawn("read", prompt: "心拍計モニター> ", width: 20) == "\r心拍計… > read\u{1B}[K")
    }

    @Test(arguments: [1, 2, 5, 8, 13, 20])
    func `it fits on terminals of any width`(width: Int) {
        for keys in ["", "心拍計 read 2A38 text:心拍計", "心拍計 read\u{01}"] {
            let drawn = drawn(keys, prompt: "心拍計モニター> ", width: width)
            let shown = drawn.dropFirst().prefix { $0 != "\u{1B}" }
            #expect(DisplayWidth.of(String(shown)) <= max(width, 5))
        }
    }

    @Test func `a combining character joins the one before it in the line`() {
        var buffer = LineBuffer()
        for byte in Array("ae\u{301}👨\u{200D}👩".utf8) { _ = buffer.handle(byte) }
        #expect(buffer.characters == ["a", "e\u{301}", "👨\u{200D}👩"])
        #expect(buffer.cursor == 3)
        _ = buffer.handle(0x7F)
        #expect(buffer.characters == ["a", "e\u{301}"])
        #expect(buffer.handle(0x0D) == .entered("ae\u{301}"))
    }
}
