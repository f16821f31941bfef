/// Finds where a source goes through a dictionary or a set of its own in the order of the hashes.
///
/// It knows them by their names: those that the source declares with such a type, and copies and parts of
/// them. It does not know the types of other sources.
struct UnorderedWalks {
    private let source: SourceText
    private var names: Set<String> = []

    init(_ source: SourceText) {
        self.source = source
        let words = source.words
        for index in words.indices where isDeclaredUnordered(index) { names.insert(words[index].text) }
        // A part of a part has a name too.
        for _ in 0..<2 {
            for index in words.indices where names.contains(words[index].text) {
                if let name = nameOfCopy(index) { names.insert(name) }
            }
        }
    }

    /// The lines, counted from 1.
    var lines: [Int] {
        source.words.indices.filter { isWalked($0) }.map { source.line(of: source.words[$0]) }
    }

    private static let walking: Set<String> = [
        "compactMap", "dropFirst", "enumerated", "first", "flatMap", "forEach", "joined", "lazy", "map",
        "max", "min",
        "popFirst", "prefix", "randomElement", "reduce", "reversed", "suffix",
    ]
    private static let copying: Set<String> = [
        "compactMapValues", "filter", "intersection", "mapValues", "merging", "subtracting", "union",
    ]

    // MARK: Names

    /// Whether a word is declared as a dictionary or a set: `name: [Key: Value]`, `name: Set<…>` or
    /// `let name = Set(…)`.
    private func isDeclaredUnordered(_ index: Int) -> Bool {
        let word = source.words[index]
        var rest = text(after: word.range.upperBound, 80)
        if rest.hasPrefix(": ") {
            rest.removeFirst(2)
            if rest.hasPrefix("inout ") { rest.removeFirst(6) }
            return rest.hasPrefix("Set<") || Self.isDictionary(rest)
        }
        guard rest.hasPrefix(" = "), index > 0, ["let", "var"].contains(source.words[index - 1].text) else {
            return false
        }
        rest.removeFirst(3)
        return ["Set(", "Set<", "Dictionary("].contains { rest.hasPrefix($0) }
            || Self.isDictionary(rest) && rest.contains("](")
    }

    /// Whether a text begins with the type of a dictionary: `[Key: `, where a literal begins with a value.
    private static func isDictionary(_ text: Substring) -> Bool {
        guard text.hasPrefix("["), text.dropFirst().first?.isUppercase == true else { return false }
        let key = text.dropFirst().prefix { $0.isLetter || $0.isNumber || $0 == "." || $0 == "?" }
        return text.dropFirst(1 + key.count).hasPrefix(": ")
    }

    /// The name in `let name = path.word` or `let name = path.word.filter`, where the word is unordered.
    private func nameOfCopy(_ index: Int) -> String? {
        let words = source.words
        let rest = text(after: words[index].range.upperBound, 1)
        let isCopied =
            rest == "\n"
            || rest == "." && index + 1 < words.count && Self.copying.contains(words[index + 1].text)
        let start = pathStart(index)
        guard isCopied, start > 1, ["let", "var"].contains(words[start - 2].text),
            between(start - 1, start).filter({ $0 != " " && $0 != "\n" }) == "="
        else { return nil }
        return words[start - 1].text
    }

    // MARK: Uses

    private func isWalked(_ index: Int) -> Bool {
        let words = source.words
        guard names.contains(words[index].text) else { return false }
        var last = index
        if last + 1 < words.count, between(last, last + 1) == ".",
            ["keys", "values"].contains(words[last + 1].text)
        {
            last += 1
        }
        let end = words[last].range.upperBound
        let next = last + 1 < words.count ? words[last + 1] : nil
        if let next, [".", "?."].contains(between(last, last + 1).filter { $0 != " " && $0 != "\n" }) {
            let walks = Self.walking.contains(next.text) || last > index && next.text == "filter"
            return walks && !statement(after: end).contains(".sorted")
        }
        let start = pathStart(index)
        guard start > 0 else { return false }
        let follower = text(after: end, 20).drop { $0 == " " || $0 == "\n" }
        if words[start - 1].text == "in" { return follower.hasPrefix("{") || follower.hasPrefix("where ") }
        return words[start - 1].text == "Array" && between(start - 1, start) == "(" && follower.hasPrefix(")")
    }

    /// The first word of `path.to.word`.
    private func pathStart(_ index: Int) -> Int {
        var start = index
        while start > 0, [".", "?.", "()."].contains(between(start - 1, start)) { start -= 1 }
        return start
    }

    /// The rest of the statement: up to the end of a line outside of brackets, unless the next line begins
    /// with a dot.
    private func statement(after start: Int) -> Substring {
        let rest = source.covered[start...]
        var depth = 0
        var end = rest.endIndex
        for place in rest.indices {
            switch rest[place] {
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: "\n") where depth == 0:
                let next = rest[place...].first { !SourceText.isSpace($0) }
                if next != UInt8(ascii: ".") { end = place }
            default: break
            }
            if depth < 0 || end == place { return Substring(decoding: rest[..<place], as: UTF8.self) }
        }
        return Substring(decoding: rest, as: UTF8.self)
    }

    private func between(_ first: Int, _ second: Int) -> Substring {
        let range = source.words[first].range.upperBound..<source.words[second].range.lowerBound
        return Substring(decoding: source.covered[range], as: UTF8.self)
    }

    private func text(after place: Int, _ count: Int) -> Substring {
        let end = min(place + count, source.covered.count)
        return Substring(decoding: source.covered[place..<end], as: UTF8.self)
    }
}
