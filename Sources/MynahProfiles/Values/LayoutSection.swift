import MynahCore
import MynahSupport
import MynahValues

/// Parses the section `layout:`, which lists the fields of a value in order.
struct LayoutSection {
    static let when = Field(
        "when", .node("a comparison", .types("string", pattern: "^[a-z][A-Za-z0-9]* +[=!<>]=? *[^ ]+$")),
        doc: """
            The field is present only if this holds for an earlier field, as in opcode == 2; also !=, <, <=, \
            > and >=.
            """)
    static let count = Field(
        "count", .node("a field, 1 to 512, or `rest`", .types("string", "integer")),
        doc: """
            The number of its elements or bytes: that of an earlier field, always the same, or rest for up \
            to the end of the value, the default for utf8 and bytes.
            """)
    static let unit = Field("unit", .text, doc: "The unit of the number.")
    static let resolution = Field(
        "resolution", .resolution,
        doc: "The difference that the integer 1 makes, as 0.01 or 1/1024; left out: 1.")
    static let offset = Field(
        "offset", .offset, doc: "The number for which the integer 0 is sent, as -40; left out: 0.")
    static let bigEndian = Field("bigEndian", .bool, doc: "Whether the most significant octet is first.")
    /// The keys of a field; one more key is the name of the field, and its value is the type.
    static let table = Section(
        "layoutField", what: "a field of a layout", [when, count, unit, resolution, offset, bigEndian],
        others: .init(
            names: fieldName,
            values: .anyOf([
                .words(types.map(\.name)),
                .list(of: .anyOf([.types("string"), .ref("layoutBits")]), atLeast: 1),
            ])))
    /// The keys of a number of several bits; one more key is its name, and the value of that is its width.
    static let bitsTable = Section(
        "layoutBits", what: "bits of a layout", [unit, resolution, offset],
        others: .init(names: fieldName, values: .integer(1...32)))
    private static var fieldName: Schema { Schema([.init("pattern", "^[a-z][A-Za-z0-9]*$")]) }

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

    /// Returns the only key that is not in a table, which is the name, with its value and the other fields.
    private func named(
        _ node: YAMLNode, _ table: Section, _ example: String
    ) -> (name: String, type: YAMLNode, fields: Fields)? {
        guard case .mapping(let mapping) = node else {
            reader.error(at: node, "\(table.what) is its name and its type, as in \(example)")
            return nil
        }
        var words = table.keys
        // Before `offset` became a key, it could be the name of a field.
        if let type = mapping[Self.offset.name]?.scalar?.string, Self.isType(type) {
            words.removeAll { $0 == Self.offset.name }
        }
        let names = mapping.compactMap { $0.key.scalar?.string }.filter { !words.contains($0) }
        guard names.count == 1, let name = names.first else {
            reader.error(
                at: node,
                names.isEmpty
                    ? "\(table.what) needs a name and a type, as in \(example)"
                    : "\(table.what) has one name, and this one has \(Words.list(names)); known words "
                        + "besides the name are \(Words.list(words))")
            return nil
        }
        guard let fields = reader.fields(node, table.what, known: [name] + words), let type = fields[name]
        else { return nil }
        return (name, type, fields)
    }

    private func entry(_ node: YAMLNode) -> LayoutField? {
        guard let (name, type, fields) = named(node, Self.table, "{level: uint16}") else { return nil }
        check(name, at: fields.mark(of: name))
        if case .sequence = type { return flags(type, name, fields) }
        guard let kind = kind(type, of: name) else { return nil }
        var entry = LayoutField(name, kind)
        if kind == .utf8 || kind == .bytes { entry.count = .rest }
        if let node = fields[Self.count] { entry.count = count(node) ?? entry.count }
        if let node = fields[Self.when] { entry.condition = condition(node) }
        fields.read(Self.bigEndian, into: &entry.isBigEndian)
        fields.read(Self.unit, into: &entry.unit)
        if name != Self.offset.name { readResolution(fields, into: &entry.resolution) }
        let isScaled = FieldRange(name, in: ValueLayout([entry]))?.isNumber ?? false
        let scaling = [Self.unit.name, Self.resolution.name, Self.offset.name, Self.bigEndian.name]
        for word in scaling where fields[word] != nil && !isScaled && word != name {
            reader.error(at: fields.mark(of: word), "\(word) has no effect: \(name) is not a number")
        }
        if kind == .float32, fields[Self.resolution] != nil {
            reader.error(at: fields.mark(of: Self.resolution), "resolution has no effect on float32")
        }
        if [.float32, .medfloat16, .medfloat32].contains(kind), fields[Self.offset] != nil,
            name != Self.offset.name
        {
            reader.error(at: fields.mark(of: Self.offset), "offset has no effect on a float")
        }
        return entry
    }

    private func readResolution(_ fields: Fields, into resolution: inout Resolution) {
        fields.read(Self.resolution, into: &resolution)
        fields.read(Self.offset, into: &resolution.offset)
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

    private static func isType(_ word: String) -> Bool { types.contains { $0.name == word } }

    private func kind(_ node: YAMLNode, of name: String) -> LayoutField.Kind? {
        guard let word = reader.text(node, "the type of \(name)") else { return nil }
        if let kind = Self.types.first(where: { $0.name == word })?.kind { return kind }
        reader.error(
            at: node, Words.unknown("type \(Words.quote(word))", word, among: Self.types.map(\.name)))
        return nil
    }

    /// Parses a list of bits and of numbers of several bits; the first one is the least significant.
    private func flags(_ node: YAMLNode, _ name: String, _ fields: Fields) -> LayoutField? {
        var others = self
        var bits: [LayoutBit] = []
        var count = 0
        let errorsBefore = reader.errorCount
        for element in reader.elements(node, name) {
            guard let (bit, width) = bit(element) else { continue }
            let word = bit.field ?? ""
            others.check(word, at: element.mark ?? fields.mark)
            bits.append(bit)
            count += width
            others.layout.entries.append(LayoutField(word, .bytes))
        }
        guard reader.errorCount == errorsBefore else { return nil }
        guard (1...64).contains(count) else {
            reader.error(at: node, "\(name) must have 1 to 64 bits, not \(count)")
            return nil
        }
        for word in Self.table.keys where fields[word] != nil && word != Self.bigEndian.name {
            reader.error(at: fields.mark(of: word), "\(word) does not apply to bits")
        }
        var entry = LayoutField(name, .bits(octets: (count + 7) / 8, bits))
        fields.read(Self.bigEndian, into: &entry.isBigEndian)
        return entry
    }

    /// Parses the name of one bit, or a number such as `{level: 5}`; returns it with its width in bits.
    private func bit(_ node: YAMLNode) -> (bit: LayoutBit, width: Int)? {
        guard case .mapping = node else {
            return reader.text(node, "a bit").map { (.boolean($0), 1) }
        }
        guard let (name, type, fields) = named(node, Self.bitsTable, "{level: 5}"),
            let width = reader.integer(type, "the number of bits of \(name)", in: 1...32)
        else { return nil }
        var resolution = Resolution.one
        readResolution(fields, into: &resolution)
        return (.number(name, width: width, by: resolution, unit: fields.read(Self.unit)), width)
    }

    private func count(_ node: YAMLNode) -> LayoutField.Count? {
        guard let word = reader.text(node, "count") else { return nil }
        if word == "rest" { return .rest }
        if let number = Words.number(word) {
            guard (1...GATT.maximumValueLength).contains(number) else {
                reader.error(
                    at: node, "count must be between 1 and \(GATT.maximumValueLength), not \(number)")
                return nil
            }
            return .exactly(number)
        }
        guard isEarlier(word, at: node, "count") else { return nil }
        guard let counter = layout.entries.first(where: { $0.name == word }), counter.count == .one,
            case .integer(_, isSigned: false) = counter.kind, counter.resolution == .one
        else {
            reader.error(
                at: node,
                "count must be rest, a number or a field that is a whole number, and \(word) is none")
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
        guard let shape = FieldRange(name, in: layout), shape.isNumber || shape.kind == .boolean,
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
    /// The format of a resolution, such as `0.01` or `1/1024`.
    fileprivate static var resolution: Kind {
        parsed(
            "a number above 0, or a fraction", .types("string", "number"),
            shape: "a number above 0, as 0.01 or 1/1024"
        ) { Resolution(written: $0) }
    }
}

extension Kind<Double> {
    /// The format of a number in the field's unit.
    fileprivate static var offset: Kind {
        parsed("a number", .types("string", "number"), shape: "a number, as -40 or 1.6") {
            Double($0).flatMap { abs($0) <= 1e9 ? $0 : nil }
        }
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
