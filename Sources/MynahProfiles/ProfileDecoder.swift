import MynahCore
import MynahSupport

/// The fields of one mapping whose keys are known.
struct Fields {
    /// A key and its value.
    struct Entry {
        let mark: SourceMark?
        let value: YAMLNode
    }

    let mark: SourceMark
    let entries: [String: Entry]

    subscript(key: String) -> YAMLNode? { entries[key]?.value }
    func mark(of key: String) -> SourceMark { entries[key]?.mark ?? mark }
    /// The position of each value.
    var marks: [String: SourceMark] { entries.compactMapValues { $0.value.mark } }
}

/// Reads a profile out of YAML nodes and notes every problem with its place.
///
/// The sections' own files extend it; what is common to them is here.
struct ProfileDecoder {
    let file: String
    let lines: [String]
    /// The files that the profile names, or `nil` if it is no file itself.
    var files: NamedFiles?
    /// The names that values can be taken from.
    var scope = FieldScope()
    /// The rules of characteristics (`on:`), by where these are declared, until all attributes are known.
    var reactionNodes: [SourceMark: YAMLNode] = [:]
    /// The services that were used, by their names.
    var usedServices: [String: YAMLNode] = [:]
    private(set) var errorCount = 0
    private var warningCount = 0
    private var issues: [ProfileIssue] = []
    private var isFull: Bool { errorCount >= Self.maximumIssues }
    /// Aliases can make a small file enormous; what is visited is counted.
    private var visited = 0
    static let maximumNodes = 100_000
    /// A hundred errors say enough, and as many warnings; a thousand more would bury them.
    static let maximumIssues = 100

    init(file: String, lines: [String]) {
        self.file = file
        self.lines = lines
    }

    // MARK: Problems

    /// Every issue in the file's order.
    ///
    /// If the limit was reached, the last one says so.
    var allIssues: [ProfileIssue] {
        let sorted = issues.enumerated().sorted {
            let (left, right) = ($0.element.mark, $1.element.mark)
            return (left?.line ?? 0, left?.column ?? 0, $0.offset)
                < (right?.line ?? 0, right?.column ?? 0, $1.offset)
        }
        let end = ProfileIssue(
            file: file, mark: sorted.last?.element.mark,
            message: "there may be more errors; correct these first")
        return sorted.map(\.element) + (isFull ? [end] : [])
    }

    mutating func error(at node: YAMLNode?, _ message: @autoclosure () -> String) {
        note(.error, at: node?.mark, message())
    }

    mutating func error(at mark: SourceMark?, _ message: @autoclosure () -> String) {
        note(.error, at: mark, message())
    }

    mutating func warning(at mark: SourceMark?, _ message: @autoclosure () -> String) {
        note(.warning, at: mark, message())
    }

    mutating func hint(at mark: SourceMark?, _ message: @autoclosure () -> String) {
        note(.note, at: mark, message())
    }

    private mutating func note(
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
        let line = mark.flatMap { lines.indices.contains($0.line - 1) ? lines[$0.line - 1] : nil }
        issues.append(
            ProfileIssue(severity: severity, file: file, mark: mark, message: message(), sourceLine: line))
    }

    // MARK: Shapes

    /// The fields of a mapping; what is no mapping, and keys that are not among `known`, are noted.
    ///
    /// `refused` says of known words why they cannot stand here.
    mutating func fields(
        _ node: YAMLNode, _ what: String, known: [String], refused: [String: String] = [:]
    ) -> Fields? {
        guard visit(node) else { return nil }
        guard case .mapping(let mapping) = node else {
            error(at: node, "\(what) must be a mapping of \(Self.list(known)), not \(Self.shape(of: node))")
            return nil
        }
        var entries: [String: Fields.Entry] = [:]
        for (key, value) in mapping {
            guard let name = key.scalar?.string else {
                error(at: key, "a key of \(what) must be a word, not \(Self.shape(of: key))")
                continue
            }
            if known.contains(name) {
                entries[name] = Fields.Entry(mark: key.mark, value: value)
            } else if let reason = refused[name] {
                error(at: key, reason)
            } else if name == "<<" {
                noteMerge(key, what)
            } else {
                error(at: key, Self.unknown("key \(Self.quote(name)) in \(what)", name, among: known))
            }
        }
        return Fields(mark: node.mark ?? .start, entries: entries)
    }

    /// The members of a mapping whose keys are the user's own.
    mutating func members(_ node: YAMLNode, _ what: String) -> [(key: YAMLNode, value: YAMLNode)] {
        guard visit(node) else { return [] }
        guard case .mapping(let mapping) = node else {
            error(at: node, "\(what) must be a mapping, not \(Self.shape(of: node))")
            return []
        }
        return mapping.compactMap { key, value in
            let name = key.scalar?.string ?? ""
            if name == "<<" { noteMerge(key, what) }
            return name == "<<" ? nil : (key, value)
        }
    }

    /// YAML 1.1 has them, and 1.2, which a profile is, does not.
    mutating func noteMerge(_ key: YAMLNode, _ what: String) {
        error(
            at: key,
            """
            merge keys (<<) are not supported; write the keys of \(what) here (*name can replace a whole \
            value)
            """
        )
    }

    /// The elements of a sequence.
    mutating func elements(_ node: YAMLNode, _ what: String) -> [YAMLNode] {
        guard visit(node) else { return [] }
        guard case .sequence(let sequence) = node else {
            error(at: node, "\(what) must be a list, as in [a, b], not \(Self.shape(of: node))")
            return []
        }
        return sequence.elements
    }

    /// A scalar's literal text, also if YAML would make a number or a Boolean of it.
    mutating func text(_ node: YAMLNode, _ what: String) -> String? {
        guard visit(node) else { return nil }
        guard let scalar = node.scalar else {
            error(at: node, "\(what) must be one value, not \(Self.shape(of: node))")
            return nil
        }
        if scalar.isPlain, scalar.string.isEmpty || scalar.string == "~" || scalar.string == "null" {
            error(at: node, "\(what) is empty")
            return nil
        }
        return scalar.string
    }

    private mutating func visit(_ node: YAMLNode) -> Bool {
        guard !isFull else { return false }
        visited += 1
        guard visited > Self.maximumNodes else { return true }
        if visited == Self.maximumNodes + 1 {
            error(at: node, "the profile has over \(Self.maximumNodes) values, its aliases counted each time")
        }
        return false
    }

    // MARK: Values

    mutating func integer(_ node: YAMLNode, _ what: String, in range: ClosedRange<Int>) -> Int? {
        guard let text = text(node, what) else { return nil }
        return integer(text, at: node, what, in: range)
    }

    mutating func integer(_ text: String, at node: YAMLNode, _ what: String, in range: ClosedRange<Int>)
        -> Int?
    {
        guard let number = Self.number(text) else {
            error(at: node, "\(what) must be a whole number, as 18 or 0x12, not \(Self.quote(text))")
            return nil
        }
        if (2...20).contains(text.utf8.count), text.hasPrefix("0"),
            text.utf8.allSatisfy({ Hex.value(ofDigit: $0) != nil })
        {
            // 0059 is a company identifier as the SIG lists it, or 59.
            let digits = text.drop { $0 == "0" }
            error(
                at: node,
                "\(what) \(text) is ambiguous; write 0x\(text) or \(digits.isEmpty ? "0" : digits)"
            )
            return nil
        }
        guard range.contains(number) else {
            let bounds =
                text.lowercased().contains("x")
                ? "\(Self.hex(range.lowerBound)) and \(Self.hex(range.upperBound))"
                : "\(range.lowerBound) and \(range.upperBound)"
            error(at: node, "\(what) must be between \(bounds), not \(text)")
            return nil
        }
        return number
    }

    /// Decimal, or hexadecimal behind `0x`.
    static func number(_ text: String) -> Int? {
        let lower = text.lowercased()
        guard lower.hasPrefix("0x") else { return Int(lower) }
        guard lower.dropFirst(2).utf8.allSatisfy({ Hex.value(ofDigit: $0) != nil }) else { return nil }
        return Int(lower.dropFirst(2), radix: 16)
    }

    private static func hex(_ number: Int) -> String { "0x" + String(number, radix: 16, uppercase: true) }

    mutating func bool(_ node: YAMLNode, _ what: String) -> Bool? {
        guard let text = text(node, what) else { return nil }
        switch text.lowercased() {
        case "true": return true
        case "false": return false
        default:
            error(at: node, "\(what) must be true or false, not \(Self.quote(text))")
            return nil
        }
    }

    mutating func duration(
        _ node: YAMLNode, _ what: String, atLeast minimum: Duration = .zero, atMost maximum: Duration? = nil
    ) -> Duration? {
        guard let text = text(node, what) else { return nil }
        do throws(DurationText.Problem) {
            let duration = try DurationText.parse(text)
            guard duration >= minimum else {
                error(at: node, "\(what) must be at least \(minimum.text), not \(text)")
                return nil
            }
            if let maximum, duration > maximum {
                error(at: node, "\(what) must be at most \(maximum.text), not \(text)")
                return nil
            }
            return duration
        } catch {
            self.error(at: node, "\(what) \(error.message)")
            return nil
        }
    }

    /// One of the named cases.
    mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ node: YAMLNode, _ what: String, as type: Choice.Type = Choice.self
    ) -> Choice? where Choice.RawValue == String {
        guard let text = text(node, what) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        error(
            at: node,
            Self.unknown("\(what) \(Self.quote(text))", text, among: Choice.allCases.map(\.rawValue)))
        return nil
    }

    mutating func bytes(_ node: YAMLNode, _ what: String) -> [UInt8]? {
        guard visit(node) else { return nil }
        // `hex:` without a value means no bytes, which is a valid value.
        guard let scalar = node.scalar else {
            error(at: node, "\(what) must be hexadecimal digits, not \(Self.shape(of: node))")
            return nil
        }
        let digits = scalar.string.hasPrefix("0x") ? String(scalar.string.dropFirst(2)) : scalar.string
        guard let bytes = Hex.decode(digits) else {
            error(
                at: node,
                "\(what) must be pairs of hexadecimal digits, as in 01 FF, not \(Self.quote(scalar.string))"
            )
            return nil
        }
        return bytes
    }

    /// A UUID, or the SIG's name for one, which `lookup` finds.
    mutating func uuid(
        _ node: YAMLNode, _ what: String, names: @autoclosure () -> [String],
        lookup: (String) -> BluetoothUUID?
    ) -> BluetoothUUID? {
        guard let text = text(node, what) else { return nil }
        return uuid(text, at: node, what, names: names(), lookup: lookup)
    }

    mutating func uuid(
        _ text: String, at node: YAMLNode, _ what: String, names: @autoclosure () -> [String],
        lookup: (String) -> BluetoothUUID?
    ) -> BluetoothUUID? {
        if let uuid = BluetoothUUID(text) ?? lookup(text) { return uuid }
        let isNumber = text.utf8.allSatisfy { Hex.value(ofDigit: $0) != nil || $0 == UInt8(ascii: "-") }
        if isNumber {
            let digits = text.utf8.count { $0 != UInt8(ascii: "-") }
            error(
                at: node,
                "\(what) \(Self.quote(text)) has \(digits) digits; a UUID has 4, 8 or 32 (8-4-4-4-12)")
        } else {
            error(at: node, Self.unknown("\(what) \(Self.quote(text))", text, among: names()))
        }
        return nil
    }

    /// Notes a UUID that the SIG assigned to declarations or descriptors, where it names `what` instead: a
    /// central would take the attribute for something else.
    mutating func checkType(_ uuid: BluetoothUUID, _ what: String, at node: YAMLNode) {
        if AssignedNumbers.isDeclaration(uuid) {
            error(
                at: node,
                "\(uuid) is the type of a declaration, not of a \(what); use another UUID"
            )
        } else if what != "descriptor", AssignedNumbers.isDescriptor(uuid) {
            let name = AssignedNumbers.name(of: uuid).map { " (\($0))" } ?? ""
            let isMade = uuid == GATT.clientConfiguration || uuid == GATT.extendedProperties
            error(
                at: node,
                "\(uuid) is a descriptor\(name), not a \(what); "
                    + (isMade
                        ? "the radio adds it, so leave it out"
                        : "list it under a characteristic's descriptors"))
        }
    }

    // MARK: Words

    static func unknown(_ what: String, _ word: String, among known: [String]) -> String {
        if let near = NearestName.of(word, among: known) {
            return "unknown \(what); did you mean \"\(near)\"?"
        }
        return known.count <= 12 ? "unknown \(what); known are \(list(known))" : "unknown \(what)"
    }

    /// A word of the file in a message: cut, and without what a terminal would act on.
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

    static func shape(of node: YAMLNode) -> String {
        switch node {
        case .mapping: "a mapping"
        case .sequence: "a list"
        case .scalar(let scalar):
            scalar.isPlain && scalar.string.isEmpty ? "nothing" : quote(scalar.string)
        }
    }
}
