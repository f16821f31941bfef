import MynahCore
import MynahSupport
import MynahValues

/// Parses the section `layout:`, a list of fields in order.
struct LayoutSection {
    static let when = Field(
        "when", .node("a comparison", .types("string", pattern: "^[a-z][A-Za-z0-9]* +[=!<>]=? *[^ ]+$")),
        doc: """
            The field is present only if this holds for an earlier field, as in opcode == 2; also !=, <, <=, \
            > and >=.
            """)
    static let count = Field(
        "count", .node("a field, or `rest`", .types("string")),
        doc: """
            The number of its elements or bytes: an earlier field, or rest for up to the end of the value, \
            the default for utf8 and bytes.
            """)
    static let unit = Field("unit", .text, doc: "The unit of the number.")
    static let resolution = Field(
        "resolution", .resolution, doc: "The number for which the integer 1 is sent, as 0.01 or 1/1024.")
    static let bigEndian = Field("bigEndian", .bool, doc: "Whether the most significant octet is first.")
    /// The keys of a field in addition to its name, whose value is the type.
    static let table = Section(
        "layoutField", what: "a field of a layout", [when, count, unit, resolution, bigEndian],
        others: .init(
            names: Schema([.init("pattern", "^[a-z][A-Za-z0-9]*$")]),
            values: .anyOf([.words(types.map(\.name)), .list(of: .types("string"), atLeast: 1)])))

    /// The types that a field can have.
    private static let types: [(name: String, kind: LayoutField.Kind)] =
        [1, 2, 3, 4, 6, 8].map { ("uint\($0 * 8)", .integer(octets: $0, isSigned: false)) }
        + [1, 2, 3, 4, 6, 8].map { ("sint\($0 * 8)", .integer(octets: $0, isSigned: true)) }
        + [
            ("medfloat16", .medfloat16), ("medfloat32", .medfloat32), ("float32", .float32),
            ("dateTime", .dateTime), ("utf8", .utf8), ("bytes", .bytes),
        ]

    private let reader: FormatReader
    /// The fields that were parsed so far.
    private var layout = ValueLayout([])

    private init(_ reader: FormatReader) {
        self.reader = reader
    }

    /// Parses a layout; entries with an issue are left out.
    static func read(_ node: YAMLNode, _ reader: FormatReader) -> ValueLayout {
        var section = LayoutSection(reader)
        let elements = reader.elements(node, "layout")
        guard elements.count <= GATT.maximumValueLength else {
            reader.error(
                at: node, "a layout has at most \(GATT.maximumValueLength) fields, not \(elements.count)")
            return section.layout
        }
        if elements.isEmpty, case .sequence = node {
            reader.error(at: node, "a layout needs at least one field, as in [{level: uint8}]")
        }
        for (index, element) in elements.enumerated() {
            guard let entry = section.entry(element) else { continue }
            if entry.count == .rest, index < elements.count - 1 {
                reader.error(
                    at: element,
                    """
                    \(entry.name) runs to the end of the value, so it must be the last field, or have a \
                    count, as in count: length
                    """)
            }
            section.layout.entries.append(entry)
        }
        return section.layout
    }

    private func entry(_ node: YAMLNode) -> LayoutField? {
        guard case .mapping(let mapping) = node else {
            reader.error(at: node, "a field of a layout is its name and its type, as in {level: uint16}")
            return nil
        }
        let words = Self.table.keys
        let names = mapping.compactMap { $0.key.scalar?.string }.filter { !words.contains($0) }
        guard names.count == 1, let name = names.first else {
            reader.error(
                at: node,
                names.isEmpty
                    ? "a field of a layout needs a name and a type, as in {level: uint16}"
                    : "a field of a layout has one name, and this one has \(Words.list(names)); known words "
                        + "besides the name are \(Words.list(words))")
            return nil
        }
        guard let fields = reader.fields(node, Self.table.what, known: [name] + words),
            let type = fields[name]
        else { return nil }
        check(name, at: fields.mark(of: name))
        if case .sequence = type { return flags(type, name, fields) }
        guard let kind = kind(type, of: name) else { return nil }
        var entry = LayoutField(name, kind)
        if kind == .utf8 || kind == .bytes { entry.count = .rest }
        if let node = fields[Self.count] { entry.count = count(node) ?? entry.count }
        if let node = fields[Self.when] { entry.condition = condition(node) }
        fields.read(Self.bigEndian, into: &entry.isBigEndian)
        fields.read(Self.unit, into: &entry.unit)
        fields.read(Self.resolution, into: &entry.resolution)
        let isScaled = FieldShape(name, in: ValueLayout([entry]))?.isNumber ?? false
        let scaling = [Self.unit.name, Self.resolution.name, Self.bigEndian.name]
        for word in scaling where fields[word] != nil && !isScaled {
            reader.error(at: fields.mark(of: word), "\(word) has no effect: \(name) is not a number")
        }
        if kind == .float32, fields[Self.resolution] != nil {
            reader.error(at: fields.mark(of: Self.resolution), "resolution has no effect on float32")
        }
        return entry
    }

    private func check(_ name: String, at mark: SourceMark) {
        let isWord = name.utf8.allSatisfy { byte in
            UnicodeScalar(byte).properties.isAlphabetic && byte < 0x80 || (0x30...0x39).contains(byte)
        }
        if !isWord || !(name.first?.isLowercase ?? false) || name.utf8.count > 60 {
            reader.error(
                at: mark,
                """
                the name of a field is letters and digits and begins with a small letter, as in \
                targetPower, not \(Words.quote(name))
                """)
        } else if name == "rest" {
            reader.error(at: mark, "rest is a word of count; give the field another name")
        } else if layout.names.contains(name) || layout.entries.contains(where: { $0.name == name }) {
            reader.error(at: mark, "the layout has the field \(name) twice")
        }
    }

    private func kind(_ node: YAMLNode, of name: String) -> LayoutField.Kind? {
        guard let word = reader.text(node, "the type of \(name)") else { return nil }
        if let kind = Self.types.first(where: { $0.name == word })?.kind { return kind }
        reader.error(
            at: node, Words.unknown("type \(Words.quote(word))", word, among: Self.types.map(\.name)))
        return nil
    }

    /// Parses flags: one bit for each name, beginning with the least significant bit.
    private func flags(_ node: YAMLNode, _ name: String, _ fields: Fields) -> LayoutField? {
        var others = self
        var bits: [LayoutBit] = []
        for element in reader.elements(node, name) {
            guard let word = reader.text(element, "a bit") else { continue }
            others.check(word, at: element.mark ?? fields.mark)
            bits.append(.boolean(word))
            others.layout.entries.append(LayoutField(word, .bytes))
        }
        guard (1...64).contains(bits.count) else {
            reader.error(at: node, "\(name) must have 1 to 64 bits, not \(bits.count)")
            return nil
        }
        for word in Self.table.keys where fields[word] != nil && word != Self.bigEndian.name {
            reader.error(at: fields.mark(of: word), "\(word) does not apply to bits")
        }
        var entry = LayoutField(name, .bits(octets: (bits.count + 7) / 8, bits))
        fields.read(Self.bigEndian, into: &entry.isBigEndian)
        return entry
    }

    private func count(_ node: YAMLNode) -> LayoutField.Count? {
        guard let word = reader.text(node, "count") else { return nil }
        if word == "rest" { return .rest }
        guard isEarlier(word, at: node, "count") else { return nil }
        guard let counter = layout.entries.first(where: { $0.name == word }), counter.count == .one,
            case .integer(_, isSigned: false) = counter.kind, counter.resolution == .one
        else {
            reader.error(at: node, "count must be rest or a field that is a whole number, and \(word) is not")
            return nil
        }
        return .field(word)
    }

    /// Parses a condition such as `opcode == 2`.
    private func condition(_ node: YAMLNode) -> LayoutField.Condition? {
        guard let text = reader.text(node, "when") else { return nil }
        guard let (name, comparison, operand) = Comparison.parts(of: text),
            let number = Self.comparable(operand)
        else {
            reader.error(
                at: node,
                """
                when must be a field, one of ==, !=, <, <=, > and >=, and a number, as in opcode == 2, \
                not \(Words.quote(text))
                """)
            return nil
        }
        guard isEarlier(name, at: node, "when") else { return nil }
        guard let shape = FieldShape(name, in: layout), shape.isNumber || shape.kind == .boolean,
            !shape.isList
        else {
            reader.error(at: node, "when compares a number, and \(name) is not a number")
            return nil
        }
        if let problem = shape.problem(of: name, comparison, ExactNumber(number)) {
            reader.error(at: node, problem)
        }
        return LayoutField.Condition(name, comparison, number)
    }

    private static func comparable(_ word: String) -> Double? {
        switch word {
        case "true": 1
        case "false": 0
        default: WrittenNumber(word).flatMap { $0.unit == nil ? $0.number : nil }
        }
    }

    private func isEarlier(_ name: String, at node: YAMLNode, _ word: String) -> Bool {
        if layout.names.contains(name) { return true }
        reader.error(
            at: node,
            "\(word) names \(Words.quote(name)), and no earlier field has that name"
                + Words.near(name, among: layout.names))
        return false
    }
}

extension Kind<Resolution> {
    /// A resolution such as `0.01` or `1/1024`.
    fileprivate static var resolution: Kind {
        parsed(
            "a number above 0, or a fraction", .types("string", "number"),
            shape: "a number above 0, as 0.01 or 1/1024"
        ) { Resolution(written: $0) }
    }
}

extension Resolution {
    fileprivate init?(written text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { String($0).trimmed }
        let limit = 1_000_000_000
        if parts.count == 2, let top = Int(parts[0]), let bottom = Int(parts[1]),
            (1...limit).contains(top), (1...limit).contains(bottom)
        {
            self.init(top, bottom)
            return
        }
        let decimals = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 1, decimals.count <= 2, text.utf8.count <= 10,
            text.utf8.allSatisfy({ $0 == 0x2E || (0x30...0x39).contains($0) }),
            let digits = Int(decimals.joined()), digits > 0
        else { return nil }
        let places = decimals.count == 2 ? decimals[1].count : 0
        self.init(digits, (0..<places).reduce(1) { power, _ in power * 10 })
    }
}
