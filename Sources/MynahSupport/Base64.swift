/// Decodes base64 text (RFC 4648, section 4).
public enum Base64 {
    /// Returns the decoded bytes, or `nil` if the text is not base64 with its padding.
    ///
    /// White space between digits is allowed.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var group: UInt32 = 0
        var digits = 0
        var padding = 0
        for character in text.utf8 {
            let value: UInt32
            switch character {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = UInt32(character - UInt8(ascii: "A"))
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = UInt32(character - UInt8(ascii: "a")) + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = UInt32(character - UInt8(ascii: "0")) + 52
            case UInt8(ascii: "+"): value = 62
            case UInt8(ascii: "/"): value = 63
            case UInt8(ascii: "="):
                padding += 1
                value = 0
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): continue
            default: return nil
            }
            guard padding == 0 || character == UInt8(ascii: "="), padding <= 2 else { return nil }
            group = group << 6 | value
            digits += 1
            guard digits == 4 else { continue }
            for shift in [16, 8, 0].prefix(3 - padding) {
                bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(shift)))
            }
            (group, digits) = (0, 0)
            if padding > 0 { padding += 2 }
        }
        return digits == 0 ? bytes : nil
    }
}
