import MynahCore
import MynahSupport
import MynahValues

/// Parses the steps `await` and `expect`, which wait for an event; their other keys are fields of that
/// event.
struct EventStepSection {
    static let awaited = Field("await", .event, isRequired: true, doc: "The event.")
    static let expected = Field("expect", .event, isRequired: true, doc: "The event.")
    static let within = Field(
        "within", .duration(.microseconds(1)),
        doc: "The scenario fails after this time; left out: await waits, and expect has 5 s.")
    static let of = Field("of", .attribute, doc: "The attribute that the event is about.")
    static let words = [awaited.name, expected.name]
    static var tables: [Section] {
        [
            Section("step", [awaited, within, of], others: others(awaited.name)),
            Section("step", [expected, within, of], others: others(expected.name)),
        ]
    }

    /// Returns the schema for further keys, which are fields of the event.
    ///
    /// The keys of other steps are not allowed.
    private static func others(_ word: String) -> Schema.Others {
        let events = ["fault", "app", word]
        let words = Schema.words(StepSection.words.filter { !events.contains($0) })
        return .init(names: Schema([.init("not", words.json)]), values: .ref("eventField"))
    }

    /// The schema for the value of a field, or for comparisons with it.
    static var fieldSchema: Schema {
        .anyOf([.types("string", "number", "boolean", "null"), Schema([.init("type", "object")])])
    }

    let reader: FormatReader
    let scope: ScenarioScope

    func read(_ mapping: YAMLNode.Mapping) -> ScenarioStep.Action? {
        var members: [(key: YAMLNode, name: String, value: YAMLNode)] = []
        for (key, value) in mapping {
            guard let name = key.scalar?.string else {
                reader.error(at: key, "a key of a step must be a word, not \(Words.shape(of: key))")
                continue
            }
            members.append((key, name, value))
        }
        let steps = members.filter { Self.words.contains($0.name) }
        guard let step = steps.first, steps.count == 1 else {
            reader.error(at: steps.last?.key, "a step has one of await and expect, not both")
            return nil
        }
        guard let name = reader.text(step.value, step.name) else { return nil }
        guard let entry = EventCatalog.entry(name) else {
            reader.error(
                at: step.value, Words.unknown("event \(Words.quote(name))", name, among: EventCatalog.names))
            return nil
        }
        var limit: Duration?
        var match: [JSON.Member] = [.init("event", .string(name))]
        var (attribute, fields): (YAMLNode?, YAMLNode?) = (nil, nil)
        for member in members where member.name != step.name {
            switch member.name {
            case Self.within.name: limit = Self.within.kind.read(member.value, member.name, reader)
            case Self.of.name:
                attribute = member.value
                let text = reader.text(member.value, member.name)
                match += text.map { [.init(member.name, .string($0))] } ?? []
            default:
                if member.name == "fields" { fields = member.value }
                let value = field(member.key, member.name, member.value, of: (name, entry), step.name)
                match += value.map { [.init(member.name, $0)] } ?? []
            }
        }
        checkHappens(step.value, (name, entry), attribute)
        if let fields { checkFields(fields, of: attribute, (name, entry)) }
        let event = ScenarioEvent(name: name, match: .object(match))
        return step.name == Self.awaited.name
            ? .await(event, within: limit) : .expect(event, within: limit ?? ScenarioStep.usualLimit)
    }

    // MARK: Fields

    private typealias Event = (name: String, entry: EventCatalog.Entry)

    /// Parses a field of an event, and converts the field to the form of a match.
    private func field(
        _ key: YAMLNode, _ name: String, _ value: YAMLNode, of event: Event, _ step: String
    ) -> JSON? {
        let hasFields = event.entry.fields.contains("value")
        guard event.entry.fields.contains(name) || name == "fields" && hasFields else {
            if StepSection.words.contains(name) {
                reader.error(at: key, "a step has one of \(step) and \(name), not both")
            } else {
                let values = hasFields ? ["fields"] : []
                let known = event.entry.fields.subtracting(["device"]).sorted() + values
                reader.error(
                    at: key,
                    Words.unknown(
                        "field \(Words.quote(name)) of \(event.name)", name,
                        among: known + ["within"] + (event.entry.hasAttribute ? ["of"] : [])))
            }
            return nil
        }
        switch name {
        case "device":
            reader.error(at: key, "a scenario sees the events of its own device only; remove device")
            return nil
        case "value": return valuePattern(value)
        case "fields":
            let members = reader.members(value, "fields").compactMap { key, value -> JSON.Member? in
                guard let name = reader.text(key, "the name of a field") else { return nil }
                return comparable(value, name).map { .init(name, $0) }
            }
            return .object(members)
        case "fault": return scope.fault(value, reader).map { .string($0) }
        default: return comparable(value, name)
        }
    }

    private func valuePattern(_ node: YAMLNode) -> JSON? {
        // An empty value is valid.
        let pattern = node.scalar?.string == "" ? "" : reader.text(node, "value")
        guard let pattern else { return nil }
        guard BytePattern(pattern) != nil else {
            reader.error(
                at: node,
                """
                value must be hexadecimal digits, with .. for any byte, as in 02 .., not \
                \(Words.quote(pattern))
                """
            )
            return nil
        }
        return .string(pattern)
    }

    /// Parses the value that a field must equal, or comparisons with numbers.
    private func comparable(_ node: YAMLNode, _ name: String) -> JSON? {
        guard case .mapping = node else { return reader.text(node, name).map { .string($0) } }
        return .object(
            WrittenComparison.read(node, name, reader).compactMap { written in
                guard let text = reader.text(written.value, name) else { return nil }
                guard let number = WrittenNumber.decimal(text) else {
                    reader.error(
                        at: written.value, "\(name) is compared with a number, not with \(Words.quote(text))")
                    return nil
                }
                return .init(written.comparison.rawValue, number.json)
            })
    }

    /// Reports unknown fields of a value, if the layout of the value's attribute is known.
    private func checkFields(_ node: YAMLNode, of attribute: YAMLNode?, _ event: Event) {
        guard let text = attribute?.scalar?.string, let name = try? AttributeName(parsing: text),
            let layouts = scope.layouts(of: name, isOwn: !event.entry.need.isOfCentral)
        else { return }
        guard !layouts.isEmpty else {
            return reader.error(at: node, "the fields of \(text) are not known; compare its value")
        }
        let known = layouts.flatMap(\.names)
        for (key, value) in reader.members(node, "fields") {
            guard let field = key.scalar?.string else { continue }
            if known.contains(field) {
                checkCanHold(value, field, layouts.compactMap { FieldRange(field, in: $0) })
            } else {
                reader.error(
                    at: key, Words.unknown("field \(Words.quote(field)) of \(text)", field, among: known))
            }
        }
    }

    /// Reports comparisons that cannot hold in any layout of the value.
    private func checkCanHold(_ node: YAMLNode, _ field: String, _ shapes: [FieldRange]) {
        var comparisons = [(Comparison.equal, node)]
        if case .mapping(let mapping) = node {
            comparisons = mapping.compactMap { sign, value in
                sign.scalar.flatMap { Comparison(ordering: $0.string) }.map { ($0, value) }
            }
        }
        for (comparison, operand) in comparisons {
            guard let number = operand.scalar.flatMap({ WrittenNumber.decimal($0.string) }) else { continue }
            let problems = shapes.map { $0.problem(of: field, comparison, number) }
            if let problem = problems.first ?? nil, !problems.contains(nil) {
                reader.error(at: operand, problem)
            }
        }
    }

    // MARK: Events that never happen

    private func checkHappens(_ node: YAMLNode, _ event: Event, _ attribute: YAMLNode?) {
        let need = event.entry.need
        guard let attribute else {
            let isAboutAttribute = if case .attribute = need { true } else { false }
            guard scope.isWhole || !isAboutAttribute, let problem = scope.problem(with: need) else { return }
            return reader.error(at: node, "\(event.name) never happens: \(problem)")
        }
        guard event.entry.hasAttribute else {
            return reader.error(at: attribute, "\(event.name) is about no attribute; remove of")
        }
        if let problem = problem(of: attribute, event) { reader.error(at: attribute, problem) }
    }

    /// Returns the reason that no such event of this attribute can happen, or `nil` if one can.
    private func problem(of node: YAMLNode, _ event: Event) -> String? {
        guard let text = node.scalar?.string else { return nil }
        guard !text.hasPrefix("@") else {
            return "a profile has no handles; name the attribute, as in of: 180D/2A37"
        }
        var parsed: AttributeName?
        do throws(AttributeName.Problem) {
            let name = try AttributeName(parsing: text)
            parsed = name
            let never = "\(event.name) of \(text) never happens: "
            if case .attribute(let use) = event.entry.need {
                guard scope.isWhole else { return nil }
                let position = try name.resolve(in: scope.tree)
                return scope.problem(with: use, at: position).map { never + $0 }
            }
            let need = event.entry.need
            guard need.isOfCentral else {
                // For an event of any of the device's own attributes, only the name is checked.
                if scope.isWhole { _ = try name.resolve(in: scope.tree) }
                return scope.problem(with: need).map { never + $0 }
            }
            guard !text.contains("~") else {
                return "the events of a central do not say which of several attributes it is; remove ~"
            }
            return (scope.problem(with: need) ?? scope.problem(with: need, of: name)).map { never + $0 }
        } catch {
            let isUnknown = parsed != nil && error.message == "the device has no \(text)"
            let near = isUnknown ? scope.nearest(to: text) : nil
            return error.message + (near.map { "; did you mean \"\($0)\"?" } ?? "")
        }
    }
}

extension EventCatalog.Entry {
    /// `true` if the event can concern an attribute.
    var hasAttribute: Bool { fields.contains("characteristic") }
}

extension Kind<YAMLNode> {
    fileprivate static var event: Kind { node("event", .words(EventCatalog.names)) }
}
