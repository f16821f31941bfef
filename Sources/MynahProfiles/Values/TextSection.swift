import MynahSupport
import MynahValues

/// Parses a text with fields and variables in braces: `{text: "counter {n}", n: {generate: counter}}`.
struct TextSection {
    /// The largest number of decimals, and of digits to which a number is padded with zeros.
    private static let mostDigits = 9
    /// The schema of the text's fields, whose names the user chooses.
    static let others = Schema.Others(
        names: Schema([
            .init("pattern", "^[A-Za-z][A-Za-z0-9]{0,63}$"),
            .init(
                "not",
                Schema.words(
                    (ValueSection.forms + [FieldsSection.layout.name]).filter {
                        $0 != ValueSection.text.name
                    }
                ).json),
        ]),
        values: .anyOf([.types("string", "number", "boolean"), .ref("fieldGenerator")]))

    let reader: FormatReader
    /// The names to which the text can refer.
    let scope: FieldScope
    /// `true` if the text is an answer, which can refer to fields of the written value.
    var isAnswer = false

    /// Parses a text; the template is `nil` if the text has no fields.
    ///
    /// `isWrong` is `true` if an issue was reported.
    func read(_ node: YAMLNode) -> (template: TextTemplate?, isWrong: Bool) {
        guard case .mapping(let mapping) = node, let textNode = mapping[ValueSection.text.name],
            let text = textNode.scalar?.string
        else { return (nil, false) }
        let keys = mapping.compactMap { $0.key.scalar?.string }
        let other = ValueSection.forms + [FieldsSection.layout.name, "<<"]
        guard !keys.contains(where: { $0 != ValueSection.text.name && other.contains($0) }) else {
            return (nil, false)
        }
        let names = keys.filter { $0 != ValueSection.text.name && $0 != "pieces" }
        let known = names + scope.variables.names + (scope.layout?.names ?? [])
        let pieces = Self.pieces(of: text, known)
        let isTemplate = pieces.contains { $0.name != nil }
        guard isTemplate || !names.isEmpty, !keys.contains("pieces") else { return (nil, false) }
        let errorsBefore = reader.errorCount
        var fields: [TextTemplate.Field] = []
        for (key, value) in mapping {
            guard let name = key.scalar?.string, names.contains(name) else { continue }
            if let field = field(name, key, value, isUsed: pieces.contains { $0.name == name }) {
                fields.append(field)
            }
        }
        let parts = pieces.map { piece -> TextTemplate.Part in
            guard let name = piece.name else { return .literal(Array(piece.text.utf8)) }
            if let index = fields.firstIndex(where: { $0.name == name }) {
                return .field(index, digits: piece.digits)
            }
            if !names.contains(name) { _ = scope.operand(name, at: textNode, reader) }
            return .from(name, digits: piece.digits)
        }
        guard reader.errorCount == errorsBefore else { return (nil, true) }
        return (TextTemplate(parts: parts, fields: fields, variables: scope.variables), false)
    }

    private func field(
        _ name: String, _ key: YAMLNode, _ node: YAMLNode, isUsed: Bool
    ) -> TextTemplate.Field? {
        guard isUsed else {
            reader.error(at: key, "\(Words.quote(name)) has no effect: the text has no {\(name.prefix(60))}")
            return nil
        }
        guard scope.variables[name] == nil else {
            reader.error(
                at: key, "\(Words.quote(name)) is a variable and a field of the text: rename the variable")
            return nil
        }
        guard !isAnswer else {
            reader.error(at: key, "the text of an answer takes variables and the fields of what was written")
            return nil
        }
        let numbers = Self.numbers(in: node)
        let decimals = numbers?.map(Self.decimals).max() ?? 0
        var kind = LayoutField.Kind.integer(octets: 8, isSigned: true)
        if numbers == nil { kind = .utf8 }
        if Self.generator(of: node) == "clock" { kind = .dateTime }
        var power = 1
        for _ in 0..<decimals { power *= 10 }
        let layout = ValueLayout([LayoutField(name, kind, by: Resolution(1, power))])
        guard let shape = FieldReader(name, in: layout, reader) else { return nil }
        if case .mapping = node {
            return GeneratorSection.read(node, of: shape, reader).map {
                TextTemplate.Field(name: name, generator: $0, decimals: decimals)
            }
        }
        return shape.constant(node).map {
            TextTemplate.Field(
                name: name, generator: FieldGenerator(source: .list([$0.value]), shape: shape.shape),
                decimals: decimals)
        }
    }

    private static func generator(of node: YAMLNode) -> String? {
        guard case .mapping(let mapping) = node else { return nil }
        return mapping["generate"]?.scalar?.string
    }

    /// Returns the numbers of a field as written, or `nil` if the field has other values.
    private static func numbers(in node: YAMLNode) -> [String]? {
        var texts: [String] = []
        switch node {
        case .mapping(let mapping):
            for (key, value) in mapping where ["value", "values"].contains(key.scalar?.string) {
                texts += (value.sequence?.elements ?? [value]).compactMap { $0.scalar?.string }
            }
            guard texts.allSatisfy({ WrittenNumber.decimal($0) != nil }) else { return nil }
            for (key, value) in mapping
            where ["from", "to", "min", "max", "by", "step", "around", "mean", "deviation"]
                .contains(key.scalar?.string)
            {
                if let text = value.scalar?.string { texts.append(text) }
            }
        default:
            guard let scalar = node.scalar, scalar.isPlain, WrittenNumber.decimal(scalar.string) != nil else {
                return nil
            }
            texts.append(scalar.string)
        }
        return texts
    }

    private static func decimals(_ text: String) -> Int {
        guard let point = text.firstIndex(of: ".") else { return 0 }
        return min(mostDigits, text[text.index(after: point)...].prefix { $0.isNumber }.count)
    }

    /// Splits a text into names in braces, and the text between them.
    ///
    /// A name may have a number of digits, as in `{n:04}`. Braces around an unknown word are part of the
    /// text.
    private static func pieces(
        of text: String, _ known: [String]
    ) -> [(text: Substring, name: String?, digits: Int)] {
        var pieces: [(Substring, String?, Int)] = []
        var (start, place) = (text.startIndex, text.startIndex)
        while let open = text[place...].firstIndex(of: "{") {
            place = text.index(after: open)
            guard let close = text[place...].firstIndex(of: "}") else { break }
            let words = text[place..<close].split(separator: ":", omittingEmptySubsequences: false)
            let digits =
                words.count == 2 && words[1].first == "0" ? Int(words[1]) : words.count == 1 ? 0 : nil
            guard let digits, (0...mostDigits).contains(digits), known.contains(String(words[0])) else {
                continue
            }
            if start < open { pieces.append((text[start..<open], nil, 0)) }
            pieces.append((text[open...close], String(words[0]), digits))
            (start, place) = (text.index(after: close), text.index(after: close))
        }
        if start < text.endIndex { pieces.append((text[start...], nil, 0)) }
        return pieces
    }
}
