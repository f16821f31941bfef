/// Makes text from other devices safe to show on a terminal.
package enum PrintableText {
    /// The text with U+FFFD for each character that could control a terminal.
    ///
    /// A device chooses its own name, so the name could contain such characters.
    package static func of(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isActedOn) else { return text }
        return String(
            String.UnicodeScalarView(text.unicodeScalars.map { isActedOn($0) ? "\u{FFFD}" : $0 }))
    }

    /// The reason why a text cannot be a name, or `nil` if it can be one.
    ///
    /// The reason is a sentence without its subject and full stop.
    package static func problem(ofName name: String) -> String? {
        if hasControl(name) { return "has a control character in it" }
        return isVisible(name) ? nil : "has no visible character"
    }

    /// Whether a text has a visible character.
    ///
    /// Events, screens and messages print names, and an invisible name looks like a missing one.
    package static func isVisible(_ text: String) -> Bool { text.unicodeScalars.contains(where: isVisible) }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
            .decimalNumber, .letterNumber, .otherNumber,
            .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation,
            .initialPunctuation, .finalPunctuation, .otherPunctuation,
            .mathSymbol, .currencySymbol, .modifierSymbol, .otherSymbol:
            !scalar.properties.isDefaultIgnorableCodePoint && !blanks.contains(scalar)
        // A mark belongs to the character before it.
        case .nonspacingMark, .spacingMark, .enclosingMark: false
        case .spaceSeparator, .lineSeparator, .paragraphSeparator: false
        // Not every font has a glyph for these.
        case .control, .format, .surrogate, .privateUse, .unassigned: false
        @unknown default: false
        }
    }

    /// Letters and symbols whose glyphs are blank: BRAILLE PATTERN BLANK, MUSICAL SYMBOL NULL NOTEHEAD, and
    /// EGYPTIAN HIEROGLYPH FULL and HALF BLANK.
    private static let blanks: Set<Unicode.Scalar> = ["\u{2800}", "\u{1D159}", "\u{13441}", "\u{13442}"]

    /// Whether a text contains a control character.
    ///
    /// D-Bus refuses NUL, and other control characters may act on a phone or a terminal.
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
