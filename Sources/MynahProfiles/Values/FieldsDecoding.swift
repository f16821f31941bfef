import MynahCore
import MynahSupport

// `value: {fields: …, layout: …}`
extension ProfileDecoder {
    /// Whether a value is written as fields, or has a layout.
    static func isTyped(_ node: YAMLNode) -> Bool {
        let words = words(of: node)
        let forms = words.filter { ProfileKeys.valueForms.contains($0) }
        return forms == ["fields"] || words.contains("layout") && forms.count <= 1
    }

    /// Whether it only describes what is written.
    static func isLayoutAlone(_ node: YAMLNode) -> Bool { words(of: node) == ["layout"] }

    /// Whether it has a layout of its own.
    static func hasLayout(_ node: YAMLNode) -> Bool { words(of: node).contains("layout") }

    private static func words(of node: YAMLNode) -> [String] {
        guard case .mapping(let mapping) = node else { return [] }
        return mapping.compactMap { $0.key.scalar?.string }
    }

    mutating func typedValue(_ node: YAMLNode, of characteristic: inout Profile.Characteristic) {
        let reason = "a layout is used alone or with fields"
        let other = ProfileKeys.valueForms.filter { $0 != "fields" }
        guard
            let value = fields(
                node, "a value", known: ["fields", "layout"],
                refused: Dictionary(uniqueKeysWithValues: other.map { ($0, reason) }))
        else { return }
        let errorsBefore = errorCount
        if let written = value["layout"] { characteristic.layout = layout(written) }
        guard errorCount == errorsBefore, let node = value["fields"] else { return }
        guard let layout = characteristic.layout else {
            error(
                at: value.mark(of: "fields"),
                """
                the fields of \(characteristic.uuid) are not known: describe them, as in \
                layout: [{level: uint8}]
                """)
            return
        }
        guard let fields = fields(node, "fields", known: layout.names) else { return }
        let list = layout.names.compactMap { name in
            fields[name].flatMap { field(name, $0, in: layout) }
        }
        checkConditions(layout, list, fields)
        guard errorCount == errorsBefore else { return }
        do throws(LayoutProblem) {
            let definition = try FieldsDefinition(layout, list, scope.variables, scope.written)
            characteristic.value =
                list.contains { $0.content.isGenerated }
                ? .generated(definition)
                : .bytes(
                    definition.makeGenerator(for: GeneratorRun(seed: 0, interval: .seconds(1))).value(at: 0))
        } catch {
            let mark = error.field.flatMap { fields[$0] == nil ? nil : fields.marks[$0] }
            self.error(at: mark ?? fields.mark, error.message)
        }
    }

    /// The fields of an answer, in the layout of the characteristic that it is sent on, or in its own.
    mutating func fieldsOfAnswer(
        _ node: YAMLNode, _ characteristic: Profile.Characteristic?
    ) -> FieldsDefinition? {
        guard let value = fields(node, "a value", known: ["fields", "layout"]) else { return nil }
        let errorsBefore = errorCount
        let written = value["layout"].flatMap { layout($0) }
        guard errorCount == errorsBefore else { return nil }
        guard let node = value["fields"] else {
            error(at: value.mark, "an answer has fields, as in {fields: {opcode: 1}}")
            return nil
        }
        guard let layout = written ?? characteristic?.layout else {
            error(
                at: value.mark(of: "fields"),
                "the fields are not known: describe them, as in layout: [{level: uint8}]")
            return nil
        }
        guard let fields = fields(node, "fields", known: layout.names) else { return nil }
        let list = layout.names.compactMap { name in fields[name].flatMap { field(name, $0, in: layout) } }
        guard errorCount == errorsBefore else { return nil }
        do throws(LayoutProblem) {
            return try FieldsDefinition(layout, list, scope.variables, scope.written)
        } catch {
            let mark = error.field.flatMap { fields[$0] == nil ? nil : fields.marks[$0] }
            self.error(at: mark ?? fields.mark, error.message)
            return nil
        }
    }

    /// The bytes of a value whose fields are all constants; nil after a problem was noted.
    mutating func constantFields(_ node: YAMLNode, in layout: ValueLayout) -> [UInt8]? {
        let errorsBefore = errorCount
        guard let fields = fields(node, "fields", known: layout.names) else { return nil }
        var list: [NamedField] = []
        for name in layout.names {
            guard let node = fields[name] else { continue }
            guard let field = field(name, node, in: layout) else { continue }
            guard let value = field.content.constant else {
                error(at: node, "\(name) must be a value that does not change")
                continue
            }
            list.append(NamedField(name, value, field.unit))
        }
        guard errorCount == errorsBefore else { return nil }
        do throws(LayoutProblem) {
            return try layout.encode(list)
        } catch {
            let mark = error.field.flatMap { fields[$0] == nil ? nil : fields.marks[$0] }
            self.error(at: mark ?? fields.mark, error.message)
            return nil
        }
    }

    /// Whether a field is present must be known before the run.
    private mutating func checkConditions(
        _ layout: ValueLayout, _ list: [FieldsDefinition.Field], _ fields: Fields
    ) {
        for entry in layout.entries {
            guard let condition = entry.condition,
                list.contains(where: { $0.name == condition.field && $0.content.isGenerated })
            else { continue }
            error(
                at: fields[condition.field],
                "\(condition.field) cannot be generated: it decides whether there is a field \(entry.name)")
        }
    }

    private mutating func field(
        _ name: String, _ node: YAMLNode, in layout: ValueLayout
    ) -> FieldsDefinition.Field? {
        guard let shape = FieldShape(name, in: layout) else { return nil }
        guard shape.isList else {
            guard let (content, unit) = content(name, node, shape) else { return nil }
            return FieldsDefinition.Field(name: name, content: content, unit: unit)
        }
        var nodes = [node]
        if case .sequence = node { nodes = elements(node, name) }
        if case .scalar = node {
            error(at: node, "\(name) is a list, as in [1, 2], not \(Self.shape(of: node))")
            return nil
        }
        let contents = nodes.compactMap { content(name, $0, shape) }
        guard contents.count == nodes.count else { return nil }
        let unit = contents.first?.unit
        guard contents.allSatisfy({ $0.unit == unit }) else {
            error(at: node, "the values of \(name) must all have the same unit")
            return nil
        }
        return FieldsDefinition.Field(name: name, content: .list(contents.map(\.content)), unit: unit)
    }

    private mutating func content(
        _ name: String, _ node: YAMLNode, _ shape: FieldShape
    ) -> (content: FieldsDefinition.Content, unit: String?)? {
        if case .mapping(let mapping) = node {
            if mapping["from"] != nil, mapping["generate"] == nil {
                return source(name, node).map { (.from($0, shape), nil) }
            }
            return fieldGenerator(name, node, shape).map { (.generated($0), $0.unit) }
        }
        return constant(name, node, shape).map { (.constant($0.value), $0.unit) }
    }

    /// `{from: NAME}`: the name of a variable, or in an answer of a field of the value that was written.
    private mutating func source(_ name: String, _ node: YAMLNode) -> String? {
        guard let fields = fields(node, name, known: ["from"]), let node = fields["from"],
            let word = text(node, "from")
        else { return nil }
        let scope = scope
        return scope.operand(word, at: node, &self).map { _ in word }
    }

    /// A value that does not change, and its unit if that is not the field's first.
    mutating func constant(
        _ name: String, _ node: YAMLNode, _ shape: FieldShape
    ) -> (value: FieldValue, unit: String?)? {
        switch shape.kind {
        case .boolean: return bool(node, name).map { (.boolean($0), nil) }
        case .bytes: return bytes(node, name).map { (.bytes($0), nil) }
        case .text:
            guard let scalar = node.scalar else {
                error(at: node, "\(name) must be one value, not \(Self.shape(of: node))")
                return nil
            }
            return (.text(scalar.string), nil)
        case .dateTime:
            guard let text = text(node, name) else { return nil }
            return (.text(text.last == "Z" ? String(text.dropLast()) : text), nil)
        case .integer, .float: return number(name, node, shape)
        }
    }

    private mutating func number(
        _ name: String, _ node: YAMLNode, _ shape: FieldShape
    ) -> (value: FieldValue, unit: String?)? {
        guard let text = text(node, name) else { return nil }
        if !shape.names.isEmpty, WrittenNumber(text) == nil {
            // The layout knows the names, and says which is near.
            return (.text(text), nil)
        }
        if case .float = shape.kind, let special = Self.specialNumbers[text] {
            return (.number(special), nil)
        }
        guard let written = writtenNumber(text, name, node, shape) else { return nil }
        guard let (number, unit) = scaled(written, name, node, shape) else { return nil }
        let limits = shape.limits(in: unit)
        // Half a step beyond a limit is rounded to it.
        let slack = shape.width == nil ? 0 : shape.step(in: unit) / 2
        guard
            number > limits.lowerBound - slack && number < limits.upperBound + slack
                || limits.contains(number)
        else {
            error(at: node, Self.outside(name, text, limits, unit ?? shape.unit, shape))
            return nil
        }
        if let integer = written.integer, number == written.number { return (.integer(integer), unit) }
        return (.number(number), unit)
    }

    private static let specialNumbers: [String: Double] = [
        "nan": .nan, "inf": .infinity, "-inf": -.infinity,
    ]

    mutating func writtenNumber(
        _ text: String, _ what: String, _ node: YAMLNode, _ shape: FieldShape
    ) -> WrittenNumber? {
        if let written = WrittenNumber(text) { return written }
        let example = shape.unit.map { "72 or 0.5 \($0)" } ?? "72"
        error(at: node, "\(what) must be a number, as \(example), not \(Self.quote(text))")
        return nil
    }

    /// The number in the field's unit, or in its other one; that unit if it is the other one.
    mutating func scaled(
        _ written: WrittenNumber, _ what: String, _ node: YAMLNode, _ shape: FieldShape,
        in target: String? = nil, isDifference: Bool = false
    ) -> (number: Double, unit: String?)? {
        let targets = target.map { [$0] } ?? [shape.unit, shape.otherUnit?.name].compactMap { $0 }
        guard let unit = written.unit else { return (written.number, target.flatMap { own($0, shape) }) }
        // The unit that is written first, and then those that it can be converted into.
        for target in targets.filter({ $0 == unit }) + targets {
            guard
                let number = Units.convert(written.number, from: unit, to: target, isDifference: isDifference)
            else { continue }
            return (number, own(target, shape))
        }
        guard !targets.isEmpty else {
            error(at: node, "\(what) has no unit, and \(Self.quote(unit)) is one")
            return nil
        }
        let known = targets.flatMap(Units.like).reduce(into: [String]()) { list, unit in
            if !list.contains(unit) { list.append(unit) }
        }
        let near = NearestName.of(unit, among: known).map { "; did you mean \"\($0)\"?" } ?? ""
        error(at: node, "\(what) is in \(Self.list(known, "or")), not in \(Self.quote(unit))\(near)")
        return nil
    }

    private func own(_ unit: String, _ shape: FieldShape) -> String? {
        unit == shape.otherUnit?.name && unit != shape.unit ? unit : nil
    }

    static func outside(
        _ what: String, _ text: String, _ limits: ClosedRange<Double>, _ unit: String?, _ shape: FieldShape
    ) -> String {
        let unit = unit.map { " \($0)" } ?? ""
        return """
            \(what) must be between \(NumberText.of(limits.lowerBound)) and \
            \(NumberText.of(limits.upperBound))\(unit), which \(shape.typeName) holds, not \(text)
            """
    }
}
