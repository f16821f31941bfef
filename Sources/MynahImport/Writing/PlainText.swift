import MynahSupport

/// Checks whether a profile can contain a device's texts unchanged.
enum PlainText {
    /// Whether a character is visible in a terminal and allowed in YAML.
    static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
            false
        default: scalar != "\u{FFFD}"
        }
    }

    /// Returns a name without the characters that a profile cannot contain, or `nil` if no character
    /// remains.
    static func name(_ text: String) -> String? {
        var result = ""
        for scalar in text.unicodeScalars where isPlain(scalar) {
            guard result.utf8.count + UTF8.width(scalar) <= 248 else { break }
            result.unicodeScalars.append(scalar)
        }
        return PrintableText.isVisible(result) ? result : nil
    }

    /// Returns bytes as a text, or `nil` if a person would not write these bytes as a text.
    static func text(_ bytes: [UInt8]) -> String? {
        guard bytes.count >= 3, let text = String(validating: bytes, as: UTF8.self),
            text.unicodeScalars.allSatisfy({ isPlain($0) }),
            text.contains(where: { $0.isLetter || $0.isNumber })
        else { return nil }
        return text
    }

    /// Returns the first bytes of a value in hexadecimal digits, for a note.
    static func hex(_ bytes: ArraySlice<UInt8>) -> String {
        if bytes.isEmpty { return "an empty value" }
        return bytes.prefix(16).map { Hex.encode([$0]) }.joined(separator: " ")
            + (bytes.count > 16 ? " …" : "")
    }
}
