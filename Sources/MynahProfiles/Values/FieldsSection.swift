import MynahCore
import MynahSupport
import MynahValues

/// Parses a value that is written as fields: `{fields: …, layout: …}`.
struct FieldsSection {
    static let fields = Field(
        "fields", .node("values by the names of the fields", .map(to: .ref("fieldValue"))),
        isRequired: true, doc: "Numbers, texts and Booleans by the names of the fields of its value.")
    static let layout = Field(
        "layout", .node("list of `layoutField`", .ref("layout")),
        doc: "Its fields in order; the SIG's characteristics have theirs.")
    static let table = Section("value", what: "a value", [fields, layout])
    /// The keys of a value that has only a layout, which describes the values that centrals write.
    static let layoutTable = Section("value", [layout.needed])
    /// The keys of a fault's value that is written as fields; the layout is that of the fault's attribute.
    static let faultTable = Section("value", what: "the value of a fault", [fields])
    private static let from = Field(
        "from", .text, isRequired: true, doc: "A variable, or in an answer a field of what was written.")

    /// The schema of a field's value: a constant, a generator, or a reference to a variable.
    static var valueSchema: Schema {
        let one = [
            .types("string", "number", "boolean", "null"), .ref("fieldGenerator"),
            Section("from", [from]).schema,
        ]
        return .anyOf(one + [.list(of: .anyOf(one))])
    }

    let reader: FormatReader
    /// The names to which the fields can refer.
    var scope = FieldScope()

    // MARK: Forms

    /// Whether a value is written as fields, or has its own layout.
    static func isTyped(_ node: YAMLNode) -> Bool {
        let words = words(of: node)
        let forms = words.filter { ValueSection.forms.contains($0) }
        return forms == [fields.name] || words.contains(layout.name) && forms.count <= 1
    }

    /// Whether a value has only a layout, which describes the values that centrals write.
    static func isLayoutAlone(_ node: YAMLNode) -> Bool { words(of: node) == [layout.name] }

    /// Whether a value has its own layout.
    static func hasLayout(_ node: YAMLNode) -> Bool { words(of: node).contains(layout.name) }

    private static func words(of node: YAMLNode) -> [String] {
        guard case .mapping(let mapping) = node else { return [] }
        return mapping.compactMap { $0.key.scalar?.string }
    }

    // MARK: Values

    /// Parses a value and its layout.
    ///
    /// `name` is the name of the value in messages. `usual` is the layout of a value that does not have its
    /// own, or `nil` if there is none.
    func value(
        _ node: YAMLNode, of name: String, usual: ValueLayout?
    ) -> (layout: ValueLayout?, value: Profile.Value?) {
        let reason = "a layout is used alone or with fields"
        let other = ValueSection.forms.filter { $0 != Self.fields.name }.map { ($0, reason) }
        guard let value = reader.fields(node, Self.table, refused: Dictionary(uniqueKeysWithValues: other))
        else { return (usual, nil) }
        let errorsBefore = reader.errorCount
        let layout = value[Self.layout].map { LayoutSection.read($0, reader) } ?? usual
        guard reader.errorCount == errorsBefore, let node = value[Self.fields] else {
            return (layout, nil)
        }
        guard let layout else {
            reader.error(
                at: value.mark(of: Self.fields),
                "the fields of \(name) are not known: describe them, as in layout: [{level: uint8}]")
            return (nil, nil)
        }
        guard let fields = reader.fields(node, "fields", known: layout.names) else {
            return (layout, nil)
        }
        let list = list(fields, in: layout)
        checkConditions(layout, list, fields)
        guard reader.errorCount == errorsBefore,
            let definition = definition(layout, list, fields)
        else { return (layout, nil) }
        guard !list.contains(where: { $0.content.isGenerated }) else {
            return (layout, .generated(definition))
        }
        let run = GeneratorRun(seed: 0, interval: .seconds(1))
        return (layout, .bytes(definition.makeGenerator(for: run).value(at: 0)))
    }

    /// Parses the fields of an answer.
    ///
    /// They are encoded in the layout of the characteristic on which the answer is sent, or in their own
    /// layout.
    func answer(_ node: YAMLNode, on characteristic: Profile.Characteristic?) -> FieldsDefinition? {
        guard let value = reader.fields(node, Self.table) else { return nil }
        let errorsBefore = reader.errorCount
        let written = value[Self.layout].map { LayoutSection.read($0, reader) }
        guard reader.errorCount == errorsBefore else { return nil }
        guard let node = value[Self.fields] else {
            reader.error(at: value.mark, "an answer has fields, as in {fields: {opcode: 1}}")
            return nil
        }
        guard let layout = written ?? characteristic?.layout else {
            reader.error(
                at: value.mark(of: Self.fields),
                "the fields are not known: describe them, as in layout: [{level: uint8}]")
            return nil
        }
        guard let fields = reader.fields(node, "fields", known: layout.names) else { return nil }
        let list = list(fields, in: layout)
        guard reader.errorCount == errorsBefore else { return nil }
        return definition(layout, list, fields)
    }

    /// Parses a value whose fields are all constants; returns `nil` after an issue was reported.
    func constant(_ node: YAMLNode, in layout: ValueLayout) -> [UInt8]? {
        let errorsBefore = reader.errorCount
        guard let fields = reader.fields(node, "fields", known: layout.names) else { return nil }
        var constants: [NamedField] = []
        for field in list(fields, in: layout) {
            if let value = field.content.constant {
                constants.append(NamedField(field.name, value, field.unit))
            } else {
                reader.error(at: fields[field.name], "\(field.name) must be a value that does not change")
            }
        }
        guard reader.errorCount == errorsBefore else { return nil }
        return encoded(fields, reader) { () throws(LayoutProblem) in try layout.encode(constants) }
    }

    private func definition(
        _ layout: ValueLayout, _ list: [FieldsDefinition.Field], _ fields: Fields
    ) -> FieldsDefinition? {
        encoded(fields, reader) { () throws(LayoutProblem) in
            try FieldsDefinition(layout, list, scope.variables, scope.written)
        }
    }

    /// Reports an error that `body` throws, at the position of the field that causes it.
    private func encoded<Result>(
        _ fields: Fields, _ reader: FormatReader, _ body: () throws(LayoutProblem) -> Result
    ) -> Result? {
        do throws(LayoutProblem) {
            return try body()
        } catch {
            let mark = error.field.flatMap { fields[$0] == nil ? nil : fields.marks[$0] }
            reader.error(at: mark ?? fields.mark, error.message)
            return nil
        }
    }

    /// Reports a generated field that decides whether another field is present.
    ///
    /// The presence of fields must be known before the run.
    private func checkConditions(_ layout: ValueLayout, _ list: [FieldsDefinition.Field], _ fields: Fields) {
        for entry in layout.entries {
            guard let condition = entry.condition,
                list.contains(where: { $0.name == condition.field && $0.content.isGenerated })
            else { continue }
            reader.error(
                at: fields[condition.field],
                "\(condition.field) cannot be generated: it decides whether there is a field \(entry.name)")
        }
    }

    // MARK: Fields

    private func list(_ fields: Fields, in layout: ValueLayout) -> [FieldsDefinition.Field] {
        layout.names.compactMap { name in
            guard let node = fields[name], let field = FieldReader(name, in: layout, reader) else {
                return nil
            }
            return self.field(field, node)
        }
    }

    private func field(_ field: FieldReader, _ node: YAMLNode) -> FieldsDefinition.Field? {
        let name = field.name
        guard field.shape.isList else {
            return content(field, node).map {
                FieldsDefinition.Field(name: name, content: $0.content, unit: $0.unit)
            }
        }
        var nodes = [node]
        if case .sequence = node { nodes = reader.elements(node, name) }
        if case .scalar = node {
            reader.error(at: node, "\(name) is a list, as in [1, 2], not \(Words.shape(of: node))")
            return nil
        }
        let contents = nodes.compactMap { content(field, $0) }
        guard contents.count == nodes.count else { return nil }
        let unit = contents.first?.unit
        guard contents.allSatisfy({ $0.unit == unit }) else {
            reader.error(at: node, "the values of \(name) must all have the same unit")
            return nil
        }
        return FieldsDefinition.Field(name: name, content: .list(contents.map(\.content)), unit: unit)
    }

    private func content(
        _ field: FieldReader, _ node: YAMLNode
    ) -> (content: FieldsDefinition.Content, unit: String?)? {
        guard case .mapping(let mapping) = node else {
            return field.constant(node).map { (.constant($0.value), $0.unit) }
        }
        if mapping[Self.from.name] != nil, mapping["generate"] == nil {
            return source(field.name, node).map { (.from($0, field.shape), nil) }
        }
        return GeneratorSection.read(node, of: field, allowsTexts: scope.allowsTexts, reader).map {
            (.generated($0), $0.unit)
        }
    }

    /// Parses `{from: NAME}`.
    ///
    /// The name is that of a variable or, in an answer, of a field of the written value.
    private func source(_ name: String, _ node: YAMLNode) -> String? {
        guard let fields = reader.fields(node, name, known: [Self.from.name]),
            let word = fields.read(Self.from), let node = fields[Self.from]
        else { return nil }
        return scope.operand(word, at: node, reader).map { _ in word }
    }
}
