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
        let depth = words[start].braces + 1
        var names: [String] = []
        for index in words.indices where body.contains(words[index].range.lowerBound) {
            let word = words[index]
            guard word.braces == depth, word.parentheses == 0, word.text == "var" || word.text == "let",
                !isShared(index, in: words), index + 1 < words.count,
                word.text == "let" || isStored(after: words[index + 1].range.upperBound)
            else { continue }
            names += declaredNames(after: index, in: words)
        }
        return names
    }

    private func isShared(_ index: Int, in words: [Word]) -> Bool {
        var index = index - 1
        while index >= 0, Self.modifiers.contains(words[index].text) {
            if Self.shared.contains(words[index].text) { return true }
            index -= 1
        }
        return false
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
