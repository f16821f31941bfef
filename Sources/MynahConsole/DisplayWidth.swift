/// The number of columns that a text takes on a terminal.
///
/// A wide character takes two columns, and a combining character none. A character with ambiguous width takes
/// one column, as on terminals outside East Asian locales.
package enum DisplayWidth {
    /// The width of a text without control characters, in columns.
    package static func of(_ text: String) -> Int {
        text.reduce(0) { $0 + of($1) }
    }

    /// The width of one visible character, in columns.
    package static func of(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        guard let first = scalars.first else { return 0 }
        if scalars.count > 1, isEmoji(first, in: scalars) { return 2 }
        return scalars.reduce(0) { $0 + of($1) }
    }

    /// Whether a sequence of scalars is drawn as one emoji.
    ///
    /// The first scalar is an emoji by default, or the sequence has the variation selector for emoji.
    private static func isEmoji(
        _ first: Unicode.Scalar, in scalars: Character.UnicodeScalarView
    ) -> Bool {
        // A regional indicator has one column, so a flag of two has two columns.
        guard first.properties.isEmoji, !isRegionalIndicator(first) else { return false }
        return first.properties.isEmojiPresentation || scalars.contains("\u{FE0F}")
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F ? 0 : 1 }
        if isZero(scalar) { return 0 }
        if scalar.properties.isEmojiPresentation, !isRegionalIndicator(scalar) { return 2 }
        return isWide(scalar) ? 2 : 1
    }

    private static func isZero(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Hangul vowels and final consonants join the syllable before them.
        case 0x1160...0x11FF, 0xD7B0...0xD7FF: return true
        // A soft hyphen is drawn, unlike other format characters.
        case 0xAD: return false
        default: break
        }
        return switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    private static func isRegionalIndicator(_ scalar: Unicode.Scalar) -> Bool {
        (0x1F1E6...0x1F1FF).contains(scalar.value)
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        wide.contains { $0.contains(scalar.value) }
    }

    /// The ranges of wide and fullwidth characters (EastAsianWidth.txt, Unicode 17.0).
    ///
    /// Characters that are emoji by default are left out. A range may include unassigned and combining
    /// characters.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2630...0x2637, 0x268A...0x268F, 0x2E80...0x303E,
        0x3041...0x3247, 0x3250...0xA4C6, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE10...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DF2, 0x1AFF0...0x1B2FB,
        0x1D300...0x1D376, 0x1F200...0x1F265, 0x20000...0x3FFFD,
    ]
}
