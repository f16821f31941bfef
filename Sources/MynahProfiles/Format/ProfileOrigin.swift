import MynahSupport

/// The text or JSON value from which a profile was parsed; issues refer to positions in it.
struct ProfileOrigin: Sendable {
    /// The name of the file in messages.
    var file: String
    /// The lines of the text.
    private var lines: [String] = []
    /// The JSON value, or `nil` if the profile was parsed from a text.
    ///
    /// In the marks of a JSON profile, `line` is the number of the value, counted from 1.
    private var json: JSON?

    /// Makes the origin of a profile that was read from a text.
    init(file: String, lines: [String]) {
        self.file = file
        self.lines = lines
    }

    /// Makes the origin of a JSON value that was not parsed from a text of the user.
    init(name: String, json: JSON) {
        file = name
        self.json = json
    }

    /// Makes an issue at a position.
    func issue(_ severity: ProfileIssue.Severity, at mark: SourceMark?, _ message: String) -> ProfileIssue {
        if let json {
            let path = mark.flatMap { JSONPath(to: $0.line, in: json)?.text }
            return ProfileIssue(severity: severity, file: file, path: path, message: message)
        }
        let line = mark.flatMap { lines.indices.contains($0.line - 1) ? lines[$0.line - 1] : nil }
        return ProfileIssue(severity: severity, file: file, mark: mark, message: message, sourceLine: line)
    }
}

/// Finds the path of a value in a JSON value by its number.
///
/// Values are counted from 1 in the order of parsing: a container comes before its elements.
private struct JSONPath {
    private var words: [String] = []
    private var left: Int

    init?(to number: Int, in json: JSON) {
        left = number
        guard visit(json) else { return nil }
    }

    /// The path, such as `services[0].uuid`, or `nil` for the whole value.
    var text: String? {
        let text = words.joined()
        return text.isEmpty ? nil : String(text.drop { $0 == "." })
    }

    /// Counts a value and its elements up to the searched number; returns whether that was found.
    private mutating func visit(_ json: JSON) -> Bool {
        left -= 1
        guard left > 0 else { return true }
        switch json {
        case .object(let members): return members.contains { visit($0.value, as: ".\($0.key)") }
        case .array(let values): return values.indices.contains { visit(values[$0], as: "[\($0)]") }
        default: return false
        }
    }

    private mutating func visit(_ json: JSON, as word: String) -> Bool {
        words.append(word)
        if visit(json) { return true }
        words.removeLast()
        return false
    }
}

extension YAMLNode {
    /// Converts a JSON value into a node; `null` is replaced by the given word.
    ///
    /// The marks count the values for `ProfileOrigin`; a key has the mark of its value.
    init(_ json: JSON, null: String = "null") {
        var count = 0
        self.init(json, null, &count)
    }

    private init(_ json: JSON, _ null: String, _ count: inout Int) {
        count += 1
        let mark = SourceMark(line: count, column: 1)
        switch json {
        case .null: self = .scalar(.init(string: null, mark: mark))
        case .bool, .integer, .unsigned, .number: self = .scalar(.init(string: json.text, mark: mark))
        // The text is not plain, because an empty plain scalar is not a text.
        case .string(let text): self = .scalar(.init(string: text, isPlain: false, mark: mark))
        case .array(let values):
            self = .sequence(.init(elements: values.map { YAMLNode($0, null, &count) }, mark: mark))
        case .object(let members):
            let pairs = members.map { member in
                let value = YAMLNode(member.value, null, &count)
                return (YAMLNode.scalar(.init(string: member.key, mark: value.mark)), value)
            }
            self = .mapping(.init(pairs: pairs, mark: mark))
        }
    }
}

extension FormatReader {
    /// Makes the reader of a JSON value, and reports repeated keys.
    convenience init(_ json: JSON, name: String) {
        self.init(ProfileOrigin(name: name, json: json))
        noteRepeatedKeys(in: YAMLNode(json))
    }

    private func noteRepeatedKeys(in node: YAMLNode) {
        var names: Set<String> = []
        for (key, value) in node.mapping?.pairs ?? [] {
            if let name = key.scalar?.string, !names.insert(name).inserted {
                error(at: key, "the key \(Words.quote(name)) is repeated; remove one")
            }
            noteRepeatedKeys(in: value)
        }
        for element in node.sequence?.elements ?? [] { noteRepeatedKeys(in: element) }
    }
}
