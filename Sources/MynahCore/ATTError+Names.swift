import MynahSupport

extension ATTError {
    /// The names of all named errors, such as `unlikelyError`, in the order of their codes.
    package static let names: [String] = named.map(\.name)

    private static let named: [(name: String, code: UInt8)] = words.sorted { $0.key < $1.key }.map {
        (joined($0.value), $0.key)
    }

    /// Parses the name of an error, or a code of at least 0x01 such as `0x0E`; returns `nil` for any other
    /// text.
    package init?(named text: String) {
        if let code = Self.named.first(where: { $0.name == text })?.code {
            self.init(code: code)
        } else if text.hasPrefix("0x"), (3...4).contains(text.utf8.count),
            let code = UInt8(text.dropFirst(2), radix: 16), code > 0,
            text.utf8.dropFirst(2).allSatisfy({ Hex.value(ofDigit: $0) != nil })
        {
            self.init(code: code)
        } else {
            return nil
        }
    }

    /// Joins words to one name in camel case.
    private static func joined(_ words: String) -> String {
        let parts = words.split(separator: " ")
        return parts.prefix(1).joined()
            + parts.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}
