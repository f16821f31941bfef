/// Converts bytes to hexadecimal text and back.
public enum Hex {
    /// Returns bytes as text, two upper-case digits each, without separators.
    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        // Every event has such text, and a generic loop over the bytes costs ten times as much.
        bytes.withContiguousStorageIfAvailable(text) ?? Array(bytes).withUnsafeBufferPointer(text)
    }

    private static func text(of bytes: UnsafeBufferPointer<UInt8>) -> String {
        String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
            guard let from = bytes.baseAddress, let to = buffer.baseAddress else { return 0 }
            // Pointers and an index: in debug builds, a loop over the bytes calls generic code for each.
            var index = 0
            while index < bytes.count {
                to[2 * index] = digit(from[index] >> 4)
                to[2 * index + 1] = digit(from[index] & 15)
                index += 1
            }
            return 2 * bytes.count
        }
    }

    /// The upper-case digit, in ASCII, of a number below 16.
    package static func digit(_ number: UInt8) -> UInt8 {
        number < 10 ? UInt8(ascii: "0") + number : UInt8(ascii: "A") + number - 10
    }

    /// Returns the bytes of hexadecimal text, or `nil` for any other text.
    ///
    /// White space, colons and dashes are allowed between bytes.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var high: UInt8?
        for character in text.utf8 {
            switch (character, high) {
            case (UInt8(ascii: " "), nil), (UInt8(ascii: ":"), nil), (UInt8(ascii: "-"), nil),
                (UInt8(ascii: "\n"), nil), (UInt8(ascii: "\r"), nil), (UInt8(ascii: "\t"), nil):
                continue
            default:
                guard let digit = value(ofDigit: character) else { return nil }
                if let first = high {
                    bytes.append(first << 4 | digit)
                    high = nil
                } else {
                    high = digit
                }
            }
        }
        return high == nil ? bytes : nil
    }

    /// The value of a hexadecimal digit in ASCII, in upper or lower case; `nil` for other characters.
    public static func value(ofDigit character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
