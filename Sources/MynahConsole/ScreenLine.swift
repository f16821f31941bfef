/// Text that is laid out in columns of a terminal.
package enum ScreenLine {
    /// Terminals with fewer columns show only the most important parts, without indents.
    static let narrow = 30

    /// Lines for a terminal of this width.
    static func shown(_ lines: [String], _ width: Int) -> [String] {
        lines.map { line in
            cut(width < narrow && line.hasPrefix("  ") ? String(line.dropFirst(2)) : line, width)
        }
    }

    /// A line for a terminal of this width; one that is wider is cut and ends in an ellipsis.
    ///
    /// Escape sequences take no columns, and those after the cut are kept: they end bold and inverse text.
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

    /// The characters of a line, and its escape sequences as a whole.
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

    /// A text without escape sequences, in exactly these columns; if it is longer it ends in an ellipsis.
    package static func fit(_ text: String, _ width: Int) -> String { pad(cut(text, width), width) }

    /// A text with spaces after it, up to these columns.
    package static func pad(_ text: String, _ width: Int) -> String {
        text + spaces(width - DisplayWidth.of(text))
    }

    /// A text with spaces before it, up to these columns.
    package static func padLeft(_ text: String, _ width: Int) -> String {
        spaces(width - DisplayWidth.of(text)) + text
    }

    /// Words in as few lines as they fit in, none of them broken.
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
