import MynahSupport

/// Words of a profile in messages and tables.
enum Words {
    static func unknown(_ what: String, _ word: String, among known: [String]) -> String {
        if let near = NearestName.of(word, among: known) {
            return "unknown \(what); did you mean \"\(near)\"?"
        }
        return known.count <= 12 ? "unknown \(what); known are \(list(known))" : "unknown \(what)"
    }

    /// Returns the end of a message, which suggests the nearest known name; empty if no name is near.
    static func near(_ word: String, among known: [String]) -> String {
        NearestName.of(word, among: known).map { "; did you mean \"\($0)\"?" } ?? ""
    }

    /// Returns a word of the file for a message: shortened, and without control characters.
    static func quote(_ word: some StringProtocol) -> String {
        let scalars = word.unicodeScalars
        var text = "\""
        for scalar in scalars.prefix(60) {
            let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
            text.unicodeScalars.append(isControl ? "?" : scalar)
        }
        return text + (scalars.count > 60 ? "…\"" : "\"")
    }

    static func list(_ words: [String], _ conjunction: String = "and") -> String {
        guard words.count > 1, let last = words.last else { return words.first ?? "nothing" }
        return words.dropLast().joined(separator: ", ") + " \(conjunction) " + last
    }

    /// Returns words of a profile as Markdown code, for the tables of keys.
    static func codes(_ words: [String]) -> String { words.map { "`\($0)`" }.joined(separator: ", ") }

    static func shape(of node: YAMLNode) -> String {
        switch node {
        case .mapping: "a mapping"
        case .sequence: "a list"
        case .scalar(let scalar):
            scalar.isPlain && scalar.string.isEmpty ? "nothing" : quote(scalar.string)
        }
    }

    /// Whether a text is an integer of any size, in the form that `number` parses.
    static func isWhole(_ text: String) -> Bool {
        let lower = text.lowercased()
        guard lower.hasPrefix("0x") else {
            let digits = lower.first.map { "+-".contains($0) } == true ? lower.dropFirst() : lower[...]
            return !digits.isEmpty && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
        return lower.count > 2 && lower.dropFirst(2).utf8.allSatisfy { Hex.value(ofDigit: $0) != nil }
    }

    /// Parses an integer: decimal, or hexadecimal after `0x`.
    static func number(_ text: String) -> Int? {
        let lower = text.lowercased()
        guard lower.hasPrefix("0x") else { return Int(lower) }
        guard lower.dropFirst(2).utf8.allSatisfy({ Hex.value(ofDigit: $0) != nil }) else { return nil }
        return Int(lower.dropFirst(2), radix: 16)
    }
}
