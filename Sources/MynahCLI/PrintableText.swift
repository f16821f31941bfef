/// Text from outside as a terminal may be shown it.
enum PrintableText {
    /// The text without what a terminal would act on: a central chooses its name itself.
    static func of(_ text: String) -> String {
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
