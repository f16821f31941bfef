/// The declarations of a source, as far as limits count them.
extension SourceText {
    /// Whether the source declares the type or extends it.
    func mentions(_ type: String) -> Bool {
        return zip(words, words.dropFirst()).contains { Self.kinds.contains($0.text) && $1.text == type }
    }

    private static let kinds: Set<String> = ["actor", "class", "enum", "struct", "extension"]
    private static let shared: Set<String> = ["static", "class"]
    private static let modifiers: Set<String> = [
        "public", "package", "internal", "private", "fileprivate", "set", "static", "class", "final", "lazy",
        "weak", "unowned", "nonisolated", "unsafe", "override",
    ]

    /// A declaration of a type, or an extension of one.
    struct TypePart: Hashable {
        /// The type, with the types around it: `Profile.Service`.
        var type: String
        /// The lines of code, without those of types that are nested in it.
        var lines: Int
        /// The names of the stored properties; none in an extension.
        var properties: [String]
        /// The names of those that are `unowned`.
        var unowned: [String]
    }

    /// Every declaration and extension of a type in the source, in order.
    var typeParts: [TypePart] {
        var open: [(end: Int, part: Int)] = []
        var parts: [TypePart] = []
        for index in words.indices {
            guard let (name, body) = declaration(at: index) else { continue }
            let start = words[index].range.lowerBound
            open.removeAll { $0.end <= start }
            let lines = Self.codeLines(covered[start..<body.upperBound])
            if let outer = open.last { parts[outer.part].lines -= lines }
            let isExtension = words[index].text == "extension"
            let type =
                isExtension
                ? name
                : ((open.last.map { [parts[$0.part].type] } ?? []) + [name])
                    .joined(separator: ".")
            let properties = isExtension ? [] : storedProperties(in: body, depth: words[index].braces + 1)
            open.append((body.upperBound, parts.count))
            parts.append(
                TypePart(
                    type: type, lines: lines, properties: properties.map(\.name),
                    unowned: properties.filter(\.isUnowned).map(\.name)))
        }
        return parts
    }

    /// The name and the body of the type that is declared or extended at a word.
    private func declaration(at index: Int) -> (name: String, body: Range<Int>)? {
        guard index + 1 < words.count, Self.kinds.contains(words[index].text), words[index].parentheses == 0,
            !Self.declarators.contains(words[index + 1].text), isDeclared(words[index]),
            let body = body(after: words[index].range)
        else { return nil }
        // `extension Profile.Service`: a name goes on after a dot.
        var names = [words[index + 1].text]
        for next in words[(index + 2)...].prefix(while: { $0.range.upperBound <= body.lowerBound }) {
            guard next.range.lowerBound > 0, covered[next.range.lowerBound - 1] == UInt8(ascii: ".") else {
                break
            }
            names.append(next.text)
        }
        return (names.joined(separator: "."), body)
    }

    private static let declarators: Set<String> = ["func", "var", "let", "subscript", "init"]

    /// The names of the stored properties of a type that the source declares.
    ///
    /// Returns `nil` if it declares no such type.
    func storedProperties(of type: String) -> [String]? {
        guard
            let start = words.indices.dropLast().first(where: {
                Self.kinds.contains(words[$0].text) && words[$0].text != "extension"
                    && words[$0 + 1].text == type
            })
        else { return nil }
        guard let body = body(after: words[start].range) else { return [] }
        return storedProperties(in: body, depth: words[start].braces + 1).map(\.name)
    }

    /// The stored properties that are declared in a type's body, whose words are `depth` braces deep.
    private func storedProperties(in body: Range<Int>, depth: Int) -> [(name: String, isUnowned: Bool)] {
        var properties: [(name: String, isUnowned: Bool)] = []
        for index in words.indices where body.contains(words[index].range.lowerBound) {
            let word = words[index]
            guard word.braces == depth, word.parentheses == 0, word.text == "var" || word.text == "let",
                !hasModifier(Self.shared, before: index), index + 1 < words.count,
                word.text == "let" || isStored(after: words[index + 1].range.upperBound)
            else { continue }
            let isUnowned = hasModifier(["unowned"], before: index)
            properties += declaredNames(after: index, in: words).map { ($0, isUnowned) }
        }
        return properties
    }

    /// Whether one of some modifiers is among those before a word.
    private func hasModifier(_ wanted: Set<String>, before index: Int) -> Bool {
        words[..<index].reversed().prefix { Self.modifiers.contains($0.text) }.contains {
            wanted.contains($0.text)
        }
    }

    /// `let a`, `let a, b: Int` or `let (a, b) = …`: the names up to the type or the value.
    private func declaredNames(after index: Int, in words: [Word]) -> [String] {
        var names = [words[index + 1].text]
        var next = index + 2
        while next < words.count {
            let between = covered[words[next - 1].range.upperBound..<words[next].range.lowerBound]
            guard between.filter({ !Self.isSpace($0) }) == [UInt8(ascii: ",")] else { break }
            names.append(words[next].text)
            next += 1
        }
        return names
    }

    /// Whether a `var`, whose name ends here, is stored: it has a value or no braces, or its braces only
    /// observe it.
    private func isStored(after end: Int) -> Bool {
        var depth = 0
        var last = UInt8(ascii: " ")
        for index in covered.indices[end...] {
            let byte = covered[index]
            switch byte {
            case UInt8(ascii: "("), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "=") where depth == 0: return true
            case UInt8(ascii: "}") where depth == 0: return true
            case UInt8(ascii: "{") where depth == 0:
                let first = words(in: index..<min(index + 200, covered.count)).first
                return first == "didSet" || first == "willSet"
            case UInt8(ascii: "\n") where depth == 0 && last != UInt8(ascii: ":") && !goesOn(after: index):
                return true
            default: break
            }
            if !Self.isSpace(byte) { last = byte }
        }
        return true
    }

    /// Whether the line after this place goes on with what the line before it began.
    private func goesOn(after index: Int) -> Bool {
        let next = covered[index...].first { !Self.isSpace($0) }
        return next.map { [UInt8(ascii: "{"), UInt8(ascii: "="), UInt8(ascii: "&")].contains($0) } ?? false
    }

    private func words(in range: Range<Int>) -> [String] {
        covered[range].split { !Self.isWord($0) }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The braces and what is in them that follow a place outside of parentheses.
    ///
    /// Returns `nil` if none do.
    func body(after range: Range<Int>) -> Range<Int>? {
        var (braces, parentheses) = (0, 0)
        var start: Int?
        for index in covered.indices[range.upperBound...] {
            switch covered[index] {
            case UInt8(ascii: "("), UInt8(ascii: "["): parentheses += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"): parentheses -= 1
            case UInt8(ascii: "{") where parentheses == 0:
                if braces == 0 { start = index }
                braces += 1
            case UInt8(ascii: "}") where parentheses == 0:
                braces -= 1
                if braces == 0, let start { return start..<index + 1 }
                // The end of what is around it: a requirement of a protocol.
                if braces < 0 { return nil }
            default: break
            }
        }
        return nil
    }

    /// The lines of code of each function and initializer, from its name to its closing brace.
    var functionLengths: [(name: String, lines: Int)] {
        return words.indices.dropLast().compactMap { index in
            let word = words[index]
            let isFunction = word.text == "func"
            guard word.parentheses == 0, isFunction || (word.text == "init" && isDeclared(word)),
                let body = body(after: word.range)
            else { return nil }
            let lines = Self.codeLines(covered[word.range.lowerBound..<body.upperBound])
            return (isFunction ? words[index + 1].text : "init", lines)
        }
    }

    /// Whether this `init` is a declaration: no dot is before it.
    private func isDeclared(_ word: Word) -> Bool {
        covered[..<word.range.lowerBound].last { !Self.isSpace($0) } != UInt8(ascii: ".")
    }

    /// How often a word occurs.
    func count(of word: String) -> Int { words.count { $0.text == word } }

    /// How often some words follow each other.
    func count(of phrase: [String]) -> Int {
        words.indices.count { words[$0...].prefix(phrase.count).map(\.text) == phrase }
    }

    /// How many tasks it starts that no other task waits for: `Task {`, `Task(…) {` and `Task.detached`.
    var unstructuredTasks: Int {
        words.indices.count { index in
            guard words[index].text == "Task" else { return false }
            let rest = covered[words[index].range.upperBound...].drop { Self.isSpace($0) }
            if rest.first == UInt8(ascii: "{") { return true }
            if rest.starts(with: ".detached".utf8) || rest.starts(with: ".immediate".utf8) { return true }
            return rest.first == UInt8(ascii: "(") && body(after: words[index].range) != nil
        }
    }
}
