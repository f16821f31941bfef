/// Lines of a screen.
enum ScreenLine {
    /// Cut to the terminal's width, escape sequences not counted.
    static func cut(_ line: String, _ width: Int) -> String {
        var shown = 0
        var isEscape = false
        var result = ""
        for character in line {
            if isEscape {
                result.append(character)
                if character.isLetter { isEscape = false }
                continue
            }
            if character == "\u{1B}" {
                isEscape = true
                result.append(character)
                continue
            }
            guard shown < width else { continue }
            result.append(character.isNewline ? " " : character)
            shown += 1
        }
        return result
    }
}
