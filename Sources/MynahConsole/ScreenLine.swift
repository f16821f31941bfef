/// Lays out text for the columns of a terminal.
package enum ScreenLine {
    /// The width in columns below which a screen shows only the most important parts, without indents.
    static let narrow = 30

    /// Lines, cut for a terminal of this width, and without indents if it is narrow.
    static func shown(_ lines: [String], _ width: Int) -> [String] {
        lines.map { line in
            cut(width < narrow && line.hasPrefix("  ") ? String(line.dropFirst(2)) : line, width)
        }
    }

    /// A line, cut for a terminal of this width; a cut line ends with an ellipsis.
    ///
    /// Escape sequences have no width, and those after the cut are kept, because they end bold or inverse
    /// text.
    package static func cut(_ line: String, _ width: Int) -> String {
        guard width > 0 else { return pieces(line).filter(\.isEscape).map(\.text).joined() }
        let pieces = pieces(line)
        let isCut = pieces.reduce(0) { $0 + $1.columns } > width
        var room = isCut ? width - 1 : width
        var isOver = false
        var result = ""
        for piece in pieces {
            if !piece.isEscape, !isOver, piece.columns > room {
                isOver = true
                result += "…"
            }
            guard piece.isEscape || !isOver else { continue }
            room -= piece.columns
            result += piece.text
        }
        return result
    }

    private struct Piece {
        var text: String
        var columns: Int
        var isEscape = false
    }

    /// The characters and escape sequences of a line, each as one piece.
    private static func pieces(_ line: String) -> [Piece] {
        var pieces: [Piece] = []
        var isOpen = false
        for character in line {
            if isOpen {
                pieces[pieces.count - 1].text.append(character)
                if character.isLetter { isOpen = false }
            } else if character == "\u{1B}" {
                isOpen = true
                pieces.append(Piece(text: "\u{1B}", columns: 0, isEscape: true))
            } else {
                let shown = character.isNewline ? " " : character
                pieces.append(Piece(text: String(shown), columns: DisplayWidth.of(shown)))
            }
        }
        return pieces
    }

    /// A text without escape sequences, cut or padded to exactly this width.
    package static func fit(_ text: String, _ width: Int) -> String { pad(cut(text, width), width) }

    /// A text, padded with spaces on the right to this width.
    package static func pad(_ text: String, _ width: Int) -> String {
        text + spaces(width - DisplayWidth.of(text))
    }

    /// A text, padded with spaces on the left to this width.
    package static func padLeft(_ text: String, _ width: Int) -> String {
        spaces(width - DisplayWidth.of(text)) + text
    }

    /// Joins words to as few lines as possible, without breaking a word.
    package static func flow(
        _ words: [String], separator: String, indent: String = "", width: Int
    ) -> [String] {
        var lines: [String] = []
        for word in words {
            if let last = lines.last, DisplayWidth.of(last + separator + word) <= width {
                lines[lines.count - 1] = last + separator + word
            } else {
                lines.append(indent + word)
            }
        }
        return lines
    }

    private static func spaces(_ count: Int) -> String {
        String(repeating: " ", count: max(0, count))
    }
}
