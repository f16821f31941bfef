/// Text that is laid out in columns of a terminal.
package enum ScreenLine {
    /// A line cut to the terminal's width; escape sequences take no columns and are kept.
    package static func cut(_ line: String, _ width: Int) -> String {
        var room = width
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
            let shown = character.isNewline ? " " : character
            let columns = DisplayWidth.of(shown)
            // Nothing follows a wide character that does not fit.
            guard columns <= room else {
                room = -1
                continue
            }
            room -= columns
            result.append(shown)
        }
        return result
    }

    /// A text without escape sequences, in exactly these columns; if it is longer it ends in an ellipsis.
    package static func fit(_ text: String, _ width: Int) -> String {
        guard DisplayWidth.of(text) > width else { return pad(text, width) }
        return width > 0 ? pad(cut(text, width - 1) + "…", width) : ""
    }

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
