import MynahSupport

/// A pattern of bytes, in which some positions match any byte.
package struct BytePattern: Hashable, Sendable {
    /// The bytes; `nil` matches any byte.
    private var bytes: [UInt8?] = []
    /// `true` if any number of bytes may follow.
    private var isOpen = false

    /// Parses hexadecimal digits; returns `nil` for any other text.
    ///
    /// Two dots match any byte, and at the end any number of bytes.
    package init?(_ text: String) {
        var rest = text.utf8.filter { $0 != UInt8(ascii: " ") }[...]
        while let first = rest.popFirst() {
            guard let second = rest.popFirst() else { return nil }
            if first == UInt8(ascii: "."), second == first {
                if rest.isEmpty { isOpen = true } else { bytes.append(nil) }
            } else {
                guard let high = Hex.value(ofDigit: first), let low = Hex.value(ofDigit: second) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            }
        }
    }

    /// Whether a value matches the pattern.
    package func matches(_ value: [UInt8]) -> Bool {
        guard isOpen ? value.count >= bytes.count : value.count == bytes.count else { return false }
        return zip(bytes, value).allSatisfy { $0 == nil || $0 == $1 }
    }
}
