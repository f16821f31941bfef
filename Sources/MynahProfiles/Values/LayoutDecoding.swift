import MynahCore
import MynahSupport

// `layout:`
extension ProfileDecoder {
    /// The types that a layout's entry can have.
    static let layoutTypes: [(name: String, kind: LayoutField.Kind)] =
        [1, 2, 3, 4, 6, 8].map { ("uint\($0 * 8)", .integer(octets: $0, isSigned: false)) }
        + [1, 2, 3, 4, 6, 8].map { ("sint\($0 * 8)", .integer(octets: $0, isSigned: true)) }
        + [
            ("medfloat16", .medfloat16), ("medfloat32", .medfloat32), ("float32", .float32),
            ("dateTime", .dateTime), ("utf8", .utf8), ("bytes", .bytes),
        ]

    /// The layout that is written down; the entries with a problem are left out.
    mutating func layout(_ node: YAMLNode) -> ValueLayout {
        var layout = ValueLayout([])
        let elements = elements(node, "layout")
        guard elements.count <= GATT.maximumValueLength else {
            error(at: node, "a layout has at most \(GATT.maximumValueLength) fields, not \(elements.count)")
            return layout
        }
        if elements.isEmpty, case .sequence = node {
            error(at: node, "a layout needs at least one field, as in [{level: uint8}]")
        }
        for (index, element) in elements.enumerated() {
            guard let entry = layoutEntry(element, after: layout) else { continue }
            if entry.count == .rest, index < elements.count - 1 {
                error(
                    at: element,
                    """
                    \(entry.name) runs to the end of the value, so it must be the last field, or have a \
                    count, as in count: length
                    """)
            }
            layout.entries.append(entry)
        }
        return layout
    }

    private mutating func layoutEntry(_ node: YAMLNode, after layout: ValueLayout) -> LayoutField? {
        guard case .mapping(let mapping) = node else {
            error(at: node, "a field of a layout is its name and its type, as in {level: uint16}")
            return nil
        }
        let words = mapping.compactMap { $0.key.scalar?.string }
        let names = words.filter { !ProfileKeys.layoutWords.contains($0) }
        guard names.count == 1, let name = names.first else {
            error(
                at: node,
                names.isEmpty
                    ? "a field of a layout needs a name and a type, as in {level: uint16}"
                    : "a field of a layout has one name, and this one has \(Self.list(names)); known words "
                        + "besides the name are \(Self.list(ProfileKeys.layoutWords))")
            return nil
        }
        guard let fields = fields(node, "a field of a layout", known: [name] + ProfileKeys.layoutWords),
            let type = fields[name]
        else { return nil }
        checkFieldName(name, at: fields.mark(of: name), after: layout)
        if case .sequence = type { return flags(type, name, fields, after: layout) }
        guard let kind = layoutType(type, of: name) else { return nil }
        var entry = LayoutField(name, kind)
        let isText = kind == .utf8 || kind == .bytes
        if isText { entry.count = .rest }
        if let node = fields["count"] { entry.count = count(node, of: name, after: layout) ?? entry.count }
        if let node = fields["when"] { entry.condition = condition(node, after: layout) }
        if let node = fields["bigEndian"] { entry.isBigEndian = bool(node, "bigEndian") ?? false }
        if let node = fields["unit"] { entry.unit = text(node, "unit") }
        if let node = fields["resolution"] { entry.resolution = resolution(node) ?? .one }
        let isScaled = FieldShape(name, in: ValueLayout([entry]))?.isNumber ?? false
        for word in ["unit", "resolution", "bigEndian"] where fields[word] != nil && !isScaled {
            error(at: fields.mark(of: word), "\(word) has no effect: \(name) is not a number")
        }
        if kind == .float32, fields["resolution"] != nil {
            error(at: fields.mark(of: "resolution"), "resolution has no effect on float32")
        }
        return entry
    }

    private mutating func checkFieldName(_ name: String, at mark: SourceMark, after layout: ValueLayout) {
        let isWord = name.utf8.allSatisfy { byte in
            UnicodeScalar(byte).properties.isAlphabetic && byte < 0x80 || (0x30...0x39).contains(byte)
        }
        if !isWord || !(name.first?.isLowercase ?? false) || name.utf8.count > 60 {
            error(
                at: mark,
                """
                the name of a field is letters and digits and begins with a small letter, as in \
                targetPower, not \(Self.quote(name))
                """)
        } else if name == "rest" {
            error(at: mark, "rest is a word of count; give the field another name")
        } else if layout.names.contains(name) || layout.entries.contains(where: { $0.name == name }) {
            error(at: mark, "the layout has the field \(name) twice")
        }
    }

    private mutating func layoutType(_ node: YAMLNode, of name: String) -> LayoutField.Kind? {
        guard let word = text(node, "the type of \(name)") else { return nil }
        if let kind = Self.layoutTypes.first(where: { $0.name == word })?.kind { return kind }
        let names = Self.layoutTypes.map(\.name)
        error(at: node, Self.unknown("type \(Self.quote(word))", word, among: names))
        return nil
    }

    /// One bit for each name, the first name for the least significant one.
    private mutating func flags(
        _ node: YAMLNode, _ name: String, _ fields: Fields, after layout: ValueLayout
    ) -> LayoutField? {
        var layout = layout
        var bits: [LayoutBit] = []
        for element in elements(node, name) {
            guard let word = text(element, "a bit") else { continue }
            checkFieldName(word, at: element.mark ?? fields.mark, after: layout)
            bits.append(.boolean(word))
            layout.entries.append(LayoutField(word, .bytes))
        }
        guard (1...64).contains(bits.count) else {
            error(at: node, "\(name) must have 1 to 64 bits, not \(bits.count)")
            return nil
        }
        for word in ["when", "count", "unit", "resolution"] where fields[word] != nil {
            error(at: fields.mark(of: word), "\(word) does not apply to bits")
        }
        var entry = LayoutField(name, .bits(octets: (bits.count + 7) / 8, bits))
        if let node = fields["bigEndian"] { entry.isBigEndian = bool(node, "bigEndian") ?? false }
        return entry
    }

    private mutating func count(
        _ node: YAMLNode, of name: String, after layout: ValueLayout
    ) -> LayoutField.Count? {
        guard let word = text(node, "count") else { return nil }
        if word == "rest" { return .rest }
        guard isEarlier(word, at: node, "count", after: layout) else { return nil }
        guard let counter = layout.entries.first(where: { $0.name == word }), counter.count == .one,
            case .integer(_, isSigned: false) = counter.kind, counter.resolution == .one
        else {
            error(at: node, "count must be rest or a field that is a whole number, and \(word) is not")
            return nil
        }
        return .field(word)
    }

    /// `opcode == 2`.
    private mutating func condition(
        _ node: YAMLNode, after layout: ValueLayout
    ) -> LayoutField.Condition? {
        guard let text = text(node, "when") else { return nil }
        guard let (name, comparison, operand) = Comparison.parts(of: text),
            let number = Self.comparable(operand)
        else {
            error(
                at: node,
                """
                when must be a field, one of ==, !=, <, <=, > and >=, and a number, as in opcode == 2, \
                not \(Self.quote(text))
                """)
            return nil
        }
        guard isEarlier(name, at: node, "when", after: layout) else { return nil }
        guard let shape = FieldShape(name, in: layout), shape.isNumber || shape.kind == .boolean,
            !shape.isList
        else {
            error(at: node, "when compares a number, and \(name) is not a number")
            return nil
        }
        return LayoutField.Condition(name, comparison, number)
    }

    private static func comparable(_ word: String) -> Double? {
        switch word {
        case "true": return 1
        case "false": return 0
        default:
            guard let written = WrittenNumber(word), written.unit == nil else { return nil }
            return written.number
        }
    }

    private mutating func isEarlier(
        _ name: String, at node: YAMLNode, _ word: String, after layout: ValueLayout
    ) -> Bool {
        if layout.names.contains(name) { return true }
        let near = NearestName.of(name, among: layout.names).map { "; did you mean \"\($0)\"?" } ?? ""
        error(at: node, "\(word) names \(Self.quote(name)), and no earlier field has that name\(near)")
        return false
    }

    /// `0.01` or `1/1024`.
    private mutating func resolution(_ node: YAMLNode) -> Resolution? {
        guard let text = text(node, "resolution") else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { String($0).trimmed }
        let limit = 1_000_000_000
        if parts.count == 2, let top = Int(parts[0]), let bottom = Int(parts[1]), (1...limit).contains(top),
            (1...limit).contains(bottom)
        {
            return Resolution(top, bottom)
        }
        let decimals = text.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count == 1, decimals.count <= 2,
            text.utf8.allSatisfy({ $0 == 0x2E || (0x30...0x39).contains($0) }),
            text.utf8.count <= 10, let digits = Int(decimals.joined()), digits > 0
        {
            let power = (0..<(decimals.count == 2 ? decimals[1].count : 0)).reduce(1) { power, _ in power * 10
            }
            return Resolution(digits, power)
        }
        error(
            at: node, "resolution must be a number above 0, as 0.01 or 1/1024, not \(Self.quote(text))")
        return nil
    }
}
