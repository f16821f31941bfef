import MynahSupport

/// The long-term keys in the file given by `--ltk-file`.
package struct LongTermKeys: Hashable, Sendable {
    /// Each key, with its most significant byte first.
    private(set) var keys: [[UInt8]] = []

    /// Makes an empty list of keys.
    package init() {}

    /// A warning that the keys have no effect, or `nil` if the file has no keys.
    var uselessWarning: String? {
        keys.isEmpty ? nil : "--ltk-file has no effect: the file has no encrypted link that a sniffer heard"
    }

    /// The maximum number of keys that a file may have.
    private static let limit = 1000

    /// Parses the keys of a file: one key on each line, as 32 hexadecimal digits; `#` begins a comment.
    package init(_ bytes: [UInt8]) throws(ImportProblem) {
        for (index, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            var digits = line.prefix { $0 != UInt8(ascii: "#") }.filter { ![0x20, 0x09, 0x0D].contains($0) }
            if digits.starts(with: Array("0x".utf8)) { digits.removeFirst(2) }
            if digits.isEmpty { continue }
            guard let key = Hex.decode(String(decoding: digits, as: UTF8.self)), key.count == 16 else {
                throw ImportProblem("a long-term key has 32 hexadecimal digits", onLine: index + 1)
            }
            guard keys.count < Self.limit else {
                throw ImportProblem("there can be \(Self.limit) keys", onLine: index + 1)
            }
            keys.append(key)
        }
        if keys.isEmpty { throw ImportProblem("has no key; write one a line, as 32 hexadecimal digits") }
    }
}
