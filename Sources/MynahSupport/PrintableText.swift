/// Text from outside, made safe for a terminal.
package enum PrintableText {
    /// The text with U+FFFD in place of every character that a terminal would act on: a device chooses its
    /// own name.
    package static func of(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isActedOn) else { return text }
        return String(
            String.UnicodeScalarView(text.unicodeScalars.map { isActedOn($0) ? "\u{FFFD}" : $0 }))
    }

    /// Whether a reader sees something of a text: events, screens and messages print names, and an invisible
    /// one looks like none.
    package static func isVisible(_ text: String) -> Bool {
        text.unicodeScalars.contains { scalar in
            switch scalar.properties.generalCategory {
            case .control, .spaceSeparator, .lineSeparator, .paragraphSeparator, .format, .unassigned: false
            // BRAILLE PATTERN BLANK has no dots.
            default: !scalar.properties.isDefaultIgnorableCodePoint && scalar != "\u{2800}"
            }
        }
    }

    /// Whether a text has a control character: D-Bus takes no NUL, and a phone or a terminal may act on the
    /// others.
    package static func hasControl(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    private static func isActedOn(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
        return switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: scalar.properties.isBidiControl
        default: false
        }
    }
}
