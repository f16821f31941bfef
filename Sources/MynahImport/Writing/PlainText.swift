import MynahSupport

/// Checks which texts of a device a profile can contain unchanged.
enum PlainText {
    /// Whether a character is visible in a terminal and allowed in YAML.
    static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
            false
        default: scalar != "\u{FFFD}"
        }
    }

    /// Returns a name without the characters that a profile cannot contain, or `nil` if nothing is left.
    static func name(_ text: String) -> String? {
        var result = ""
        for scalar in text.unicodeScalars where isPlain(scalar) {
            guard result.utf8.count + UTF8.width(scalar) <= 248 else { break }
            result.unicodeScalars.append(scalar)
        }
        return PrintableText.isVisible(result) ? result : nil
    }

    /// Returns the bytes as a text, or `nil` if a person would not write them as text.
    static func text(_ bytes: [UInt8]) -> String? {
        guard bytes.count >= 3, let text = String(validating: bytes, as: UTF8.self),
            text.unicodeScalars.allSatisfy({ isPlain($0) }),
            text.contains(where: { $0.isLetter || $0.isNumber })
        else { return nil }
        return text
    }

    /// Returns the first bytes of a value in hexadecimal, for a note.
    static func hex(_ bytes: ArraySlice<UInt8>) -> String {
        if bytes.isEmpty { return "an empty value" }
        return bytes.prefix(16).map { Hex.encode([$0]) }.joined(separator: " ")
            + (bytes.count > 16 ? " …" : "")
    }
}
