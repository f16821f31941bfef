/// Text from outside, made safe for a terminal.
package enum PrintableText {
    /// The text with U+FFFD in place of every character that a terminal would act on: a device chooses its
    /// own name.
    package static func of(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isActedOn) else { return text }
        return String(
            String.UnicodeScalarView(text.unicodeScalars.map { isActedOn($0) ? "\u{FFFD}" : $0 }))
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
