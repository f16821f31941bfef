/// Parses the elements of all sections, which are mappings, lists and scalars, and collects the issues.
///
/// This class has no state of a section; each section is parsed by its own type.
final class FormatReader {
    let origin: ProfileOrigin
    /// The files to which the profile may refer, or `nil` if the profile itself is not a file.
    var files: NamedFiles?
    private(set) var errorCount = 0
    private var warningCount = 0
    private var notes: [Note] = []
    private var isFull: Bool { errorCount >= Self.maximumIssues }
    /// The number of visited nodes, which is limited because aliases can expand a small file enormously.
    private var visited = 0
    static let maximumNodes = 100_000
    /// The most errors, and the most warnings, that are reported; more would not help the user.
    static let maximumIssues = 100

    private struct Note {
        let severity: ProfileIssue.Severity
        let mark: SourceMark?
        let message: String
    }

    init(_ origin: ProfileOrigin, files: NamedFiles? = nil) {
        self.origin = origin
        self.files = files
    }

    // MARK: Problems

    /// All issues in the order of the file.
    ///
    /// If there are more than the limit, the last issue says so.
    var issues: [ProfileIssue] {
        var sorted = notes.enumerated().sorted {
            let (left, right) = ($0.element.mark, $1.element.mark)
            return (left?.line ?? 0, left?.column ?? 0, $0.offset)
                < (right?.line ?? 0, right?.column ?? 0, $1.offset)
        }.map(\.element)
        if isFull {
            let message = "there may be more errors; correct these first"
            sorted.append(Note(severity: .error, mark: sorted.last?.mark, message: message))
        }
        return sorted.enumerated().map { index, note in
            var issue = origin.issue(note.severity, at: note.mark, note.message)
            if isFull, index == sorted.count - 1 { issue.sourceLine = nil }
            return issue
        }
    }

    func error(at node: YAMLNode?, _ message: @autoclosure () -> String) {
        note(.error, at: node?.mark, message())
    }

    func error(at mark: SourceMark?, _ message: @autoclosure () -> String) {
        note(.error, at: mark, message())
    }

    func warning(at mark: SourceMark?, _ message: @autoclosure () -> String) {
        note(.warning, at: mark, message())
    }

    func hint(at mark: SourceMark?, _ message: @autoclosure () -> String) {
        note(.note, at: mark, message())
    }

    private func note(
        _ severity: ProfileIssue.Severity, at mark: SourceMark?, _ message: @autoclosure () -> String
    ) {
        switch severity {
        case .error:
            guard !isFull else { return }
            errorCount += 1
        case .warning, .note:
            guard warningCount < Self.maximumIssues else { return }
            warningCount += 1
        }
        notes.append(Note(severity: severity, mark: mark, message: message()))
    }

    // MARK: Shapes

    /// Parses the fields of a section.
    ///
    /// Reports a value that is not a mapping, unknown keys and missing keys. `refused` has the messages for
    /// known keys that are not allowed here.
    func fields(_ node: YAMLNode, _ section: Section, refused: [String: String] = [:]) -> Fields? {
        guard let fields = fields(node, section.what, known: section.keys, refused: refused) else {
            return nil
        }
        for (key, message) in section.missing where fields[key] == nil { error(at: fields.mark, message) }
        return fields
    }

    /// Parses a mapping that may have the keys `known`.
    func fields(
        _ node: YAMLNode, _ what: String, known: [String], refused: [String: String] = [:]
    ) -> Fields? {
        guard visit(node) else { return nil }
        guard case .mapping(let mapping) = node else {
            error(at: node, "\(what) must be a mapping of \(Words.list(known)), not \(Words.shape(of: node))")
            return nil
        }
        var entries: [Fields.Entry] = []
        for (key, value) in mapping {
            guard let name = key.scalar?.string else {
                error(at: key, "a key of \(what) must be a word, not \(Words.shape(of: key))")
                continue
            }
            if known.contains(name) {
                entries.append(Fields.Entry(key: name, mark: key.mark, value: value))
            } else if let reason = refused[name] {
                error(at: key, reason)
            } else if name == "<<" {
                noteMerge(key, what)
            } else {
                error(at: key, Words.unknown("key \(Words.quote(name)) in \(what)", name, among: known))
            }
        }
        return Fields(reader: self, mark: node.mark ?? .start, entries: entries)
    }

    /// Parses a mapping whose keys the user chooses.
    func members(_ node: YAMLNode, _ what: String) -> [(key: YAMLNode, value: YAMLNode)] {
        guard visit(node) else { return [] }
        guard case .mapping(let mapping) = node else {
            error(at: node, "\(what) must be a mapping, not \(Words.shape(of: node))")
            return []
        }
        return mapping.compactMap { key, value in
            let name = key.scalar?.string ?? ""
            if name == "<<" { noteMerge(key, what) }
            return name == "<<" ? nil : (key, value)
        }
    }

    /// Reports a merge key, which exists in YAML 1.1, but not in YAML 1.2, the version that profiles use.
    func noteMerge(_ key: YAMLNode, _ what: String) {
        error(
            at: key,
            """
            merge keys (<<) are not supported; write the keys of \(what) here (*name can replace a whole \
            value)
            """
        )
    }

    /// Parses a list.
    func elements(_ node: YAMLNode, _ what: String) -> [YAMLNode] {
        guard visit(node) else { return [] }
        guard case .sequence(let sequence) = node else {
            error(at: node, "\(what) must be a list, as in [a, b], not \(Words.shape(of: node))")
            return []
        }
        return sequence.elements
    }

    /// Parses a scalar as text, even if YAML would interpret it as a number or a Boolean value.
    func text(_ node: YAMLNode, _ what: String) -> String? {
        guard let scalar = scalar(node, what) else { return nil }
        if scalar.isPlain, scalar.string.isEmpty || scalar.string == "~" || scalar.string == "null" {
            error(at: node, "\(what) is empty")
            return nil
        }
        return scalar.string
    }

    /// Parses a scalar, which may be empty.
    func scalar(_ node: YAMLNode, _ what: String, _ shape: String = "one value") -> YAMLNode.Scalar? {
        guard visit(node) else { return nil }
        if let scalar = node.scalar { return scalar }
        error(at: node, "\(what) must be \(shape), not \(Words.shape(of: node))")
        return nil
    }

    private func visit(_ node: YAMLNode) -> Bool {
        guard !isFull else { return false }
        visited += 1
        guard visited > Self.maximumNodes else { return true }
        if visited == Self.maximumNodes + 1 {
            error(at: node, "the profile has over \(Self.maximumNodes) values, its aliases counted each time")
        }
        return false
    }
}
