import MynahCore
import MynahSupport

// The steps `await` and `expect`.
extension ProfileDecoder {
    /// A step that waits for an event; its other keys are fields of the event.
    mutating func eventStep(_ mapping: YAMLNode.Mapping, in scope: ScenarioScope) -> ScenarioStep.Action? {
        var members: [(key: YAMLNode, name: String, value: YAMLNode)] = []
        for (key, value) in mapping {
            guard let name = key.scalar?.string else {
                error(at: key, "a key of a step must be a word, not \(Self.shape(of: key))")
                continue
            }
            members.append((key, name, value))
        }
        let steps = members.filter { ProfileKeys.eventSteps.contains($0.name) }
        guard let step = steps.first, steps.count == 1 else {
            error(at: steps.last?.key, "a step has one of await and expect, not both")
            return nil
        }
        guard let name = text(step.value, step.name) else { return nil }
        guard let entry = EventCatalog.entry(name) else {
            let names = EventCatalog.names
            error(at: step.value, Self.unknown("event \(Self.quote(name))", name, among: names))
            return nil
        }
        var limit: Duration?
        var match: [JSON.Member] = [.init("event", .string(name))]
        var (attribute, fields): (YAMLNode?, YAMLNode?) = (nil, nil)
        for member in members where member.name != step.name {
            switch member.name {
            case "within":
                limit = duration(member.value, "within", atLeast: .microseconds(1))
            case "of":
                attribute = member.value
                if let text = text(member.value, "of") { match.append(.init("of", .string(text))) }
            default:
                if member.name == "fields" { fields = member.value }
                let value = field(member.key, member.name, member.value, of: (name, entry), step.name, scope)
                match += value.map { [.init(member.name, $0)] } ?? []
            }
        }
        checkHappens(step.value, (name, entry), attribute, in: scope)
        if let fields { checkFields(fields, of: attribute, (name, entry), in: scope) }
        let event = ScenarioEvent(name: name, match: .object(match))
        return step.name == "await"
            ? .await(event, within: limit) : .expect(event, within: limit ?? ScenarioStep.usualLimit)
    }

    // MARK: Fields

    private typealias Event = (name: String, entry: EventCatalog.Entry)

    /// A field of an event as a match has it.
    private mutating func field(
        _ key: YAMLNode, _ name: String, _ value: YAMLNode, of event: Event, _ step: String,
        _ scope: ScenarioScope
    ) -> JSON? {
        let hasFields = event.entry.fields.contains("value")
        guard event.entry.fields.contains(name) || name == "fields" && hasFields else {
            if ProfileKeys.steps.contains(name) {
                error(at: key, "a step has one of \(step) and \(name), not both")
            } else {
                let values = hasFields ? ["fields"] : []
                let known = event.entry.fields.subtracting(["device"]).sorted() + values
                error(
                    at: key,
                    Self.unknown(
                        "field \(Self.quote(name)) of \(event.name)", name,
                        among: known + ["within"] + (event.entry.hasAttribute ? ["of"] : [])))
            }
            return nil
        }
        switch name {
        case "device":
            error(at: key, "a scenario sees the events of its own device only; remove device")
            return nil
        case "value": return valuePattern(value)
        case "fields":
            let members = members(value, "fields").compactMap { key, value -> JSON.Member? in
                guard let name = text(key, "the name of a field") else { return nil }
                return comparable(value, name).map { .init(name, $0) }
            }
            return .object(members)
        case "fault":
            return scenarioFault(value, in: scope).map { .string($0) }
        default: return comparable(value, name)
        }
    }

    private mutating func valuePattern(_ node: YAMLNode) -> JSON? {
        // No bytes are a valid value.
        let pattern = node.scalar?.string == "" ? "" : text(node, "value")
        guard let pattern else { return nil }
        guard BytePattern(pattern) != nil else {
            error(
                at: node,
                """
                value must be hexadecimal digits, with .. for any byte, as in 02 .., not \
                \(Self.quote(pattern))
                """
            )
            return nil
        }
        return .string(pattern)
    }

    /// A value that a field equals, or comparisons with numbers.
    private mutating func comparable(_ node: YAMLNode, _ name: String) -> JSON? {
        guard case .mapping = node else { return text(node, name).map { .string($0) } }
        return .object(
            comparisons(node, name).compactMap { written in
                guard let text = text(written.value, name) else { return nil }
                guard let number = Self.decimal(text) else {
                    error(
                        at: written.value, "\(name) is compared with a number, not with \(Self.quote(text))")
                    return nil
                }
                return .init(written.comparison.rawValue, .number(number))
            })
    }

    /// Checks the names of a value's fields, if it is known which value it is.
    private mutating func checkFields(
        _ node: YAMLNode, of attribute: YAMLNode?, _ event: Event, in scope: ScenarioScope
    ) {
        guard let text = attribute?.scalar?.string, let name = try? AttributeName(parsing: text),
            let layouts = scope.layouts(of: name, isOwn: !event.entry.need.isOfCentral)
        else { return }
        guard !layouts.isEmpty else {
            return error(at: node, "the fields of \(text) are not known; compare its value")
        }
        let known = layouts.flatMap(\.names)
        for (key, _) in members(node, "fields") {
            guard let field = key.scalar?.string, !known.contains(field) else { continue }
            error(at: key, Self.unknown("field \(Self.quote(field)) of \(text)", field, among: known))
        }
    }

    // MARK: Events that never happen

    private mutating func checkHappens(
        _ node: YAMLNode, _ event: Event, _ attribute: YAMLNode?, in scope: ScenarioScope
    ) {
        let need = event.entry.need
        guard let attribute else {
            let isAboutAttribute = if case .attribute = need { true } else { false }
            guard scope.isWhole || !isAboutAttribute, let problem = scope.problem(with: need) else { return }
            return error(at: node, "\(event.name) never happens: \(problem)")
        }
        guard event.entry.hasAttribute else {
            return error(at: attribute, "\(event.name) is about no attribute; remove of")
        }
        if let problem = problem(of: attribute, event, in: scope) { error(at: attribute, problem) }
    }

    /// Why there is no such event of an attribute, or `nil` if there may be.
    private func problem(of node: YAMLNode, _ event: Event, in scope: ScenarioScope) -> String? {
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
                // An event of the device's own attribute, though not of one in particular.
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
    /// Whether it may be about an attribute.
    var hasAttribute: Bool { fields.contains("characteristic") }
}
