/// Bytes as hexadecimal text and back.
public enum Hex {
    /// Two upper-case digits a byte, nothing between them.
    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        // Every event has such text, and a generic loop over the bytes costs ten times as much.
        bytes.withContiguousStorageIfAvailable(text) ?? Array(bytes).withUnsafeBufferPointer(text)
    }

    private static func text(of bytes: UnsafeBufferPointer<UInt8>) -> String {
        String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
            for (index, byte) in bytes.enumerated() {
                buffer[2 * index] = digit(byte >> 4)
                buffer[2 * index + 1] = digit(byte & 15)
            }
            return 2 * bytes.count
        }
    }

    /// The upper-case digit of a number below 16, in ASCII.
    package static func digit(_ number: UInt8) -> UInt8 {
        number < 10 ? UInt8(ascii: "0") + number : UInt8(ascii: "A") + number - 10
    }

    /// The bytes that `text` spells, white space, colons and dashes between bytes allowed; nil if it spells
    /// none.
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

    /// The value of one hexadecimal digit in ASCII, in either case; `nil` if it is not a digit.
    public static func value(ofDigit character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
