import MynahSupport

/// The path and the query of a request target in origin form (RFC 9112, 3.2.1), percent-decoded.
struct HTTPTarget: Hashable, Sendable {
    var path: [String]
    var query: [HTTPQueryItem]

    /// Parses a target; returns `nil` if it has another form, or an invalid percent-encoding.
    ///
    /// The decoded text must be UTF-8 without control characters.
    init?(_ target: String) {
        guard target.hasPrefix("/"), !target.utf8.contains(UInt8(ascii: "#")) else { return nil }
        let parts = target.dropFirst().split(
            separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var path: [String] = []
        for segment in parts[0].split(separator: "/", omittingEmptySubsequences: false) {
            guard let text = Self.decode(segment) else { return nil }
            path.append(text)
        }
        var query: [HTTPQueryItem] = []
        for item in parts.count > 1 ? parts[1].split(separator: "&") : [] {
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decode(pair[0], plusIsSpace: true),
                let value = Self.decode(pair.count > 1 ? pair[1] : "", plusIsSpace: true)
            else { return nil }
            query.append(HTTPQueryItem(name, value))
        }
        self.path = path
        self.query = query
    }

    private static func decode(_ text: Substring, plusIsSpace: Bool = false) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap({ Hex.value(ofDigit: $0) }),
                    let low = rest.popFirst().flatMap({ Hex.value(ofDigit: $0) })
                else { return nil }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
