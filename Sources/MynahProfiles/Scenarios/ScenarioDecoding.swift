import MynahCore
import MynahSupport

// `scenarios:`
extension ProfileDecoder {
    private static let maximumScenarios = 100
    private static let maximumSteps = 1000
    /// A name is a part of a path of the control API, and of a line on a screen.
    private static let longestScenarioName = 64

    mutating func scenarios(_ node: YAMLNode, in scope: ScenarioScope) -> [Profile.Scenario] {
        let elements = elements(node, "scenarios")
        guard elements.count <= Self.maximumScenarios else {
            error(at: node, "a device has at most \(Self.maximumScenarios) scenarios, not \(elements.count)")
            return []
        }
        var names: Set<String> = []
        return elements.compactMap { element in
            guard let fields = fields(element, "a scenario", known: ProfileKeys.scenario) else { return nil }
            let name = scenarioName(fields)
            if let name, !names.insert(name).inserted {
                error(
                    at: fields["name"],
                    "the scenario \(Self.quote(name)) is defined twice; rename one")
            }
            let steps = scenarioSteps(fields, in: scope)
            return name.map { .init(name: $0, steps: steps, mark: fields.mark) }
        }
    }

    private mutating func scenarioName(_ fields: Fields) -> String? {
        guard let node = fields["name"] else {
            error(at: fields.mark, "a scenario needs a name, as in name: drop out after five seconds")
            return nil
        }
        return name(node, of: "scenario", longest: Self.longestScenarioName)
    }

    private mutating func scenarioSteps(_ fields: Fields, in scope: ScenarioScope) -> [ScenarioStep] {
        guard let node = fields["steps"] else {
            error(at: fields.mark, "a scenario needs steps, as in steps: [{await: subscribed}, {after: 5 s}]")
            return []
        }
        let elements = elements(node, "steps")
        if elements.isEmpty, case .sequence = node {
            error(at: node, "a scenario needs a step, as in steps: [{await: subscribed}, {after: 5 s}]")
        }
        guard elements.count <= Self.maximumSteps else {
            error(at: node, "a scenario has at most \(Self.maximumSteps) steps, not \(elements.count)")
            return []
        }
        let steps = elements.map { scenarioStep($0, in: scope) }
        let end = steps.firstIndex { if case .end? = $0?.action { true } else { false } }
        if let end, end + 1 < elements.count {
            error(at: elements[end + 1], "this step is never played: the step before it ends the scenario")
        }
        return steps.compactMap { $0 }
    }

    // MARK: Steps

    /// One step, or `nil` if something in it is wrong.
    private mutating func scenarioStep(_ node: YAMLNode, in scope: ScenarioScope) -> ScenarioStep? {
        guard case .mapping(let mapping) = node else {
            error(at: node, "a step must be a mapping, as in {after: 5 s}, not \(Self.shape(of: node))")
            return nil
        }
        let keys = mapping.map(\.key)
        let words = keys.compactMap(\.scalar?.string)
        let errorsBefore = errorCount
        let action: ScenarioStep.Action?
        if words.contains(where: { ProfileKeys.eventSteps.contains($0) }) {
            action = eventStep(mapping, in: scope)
        } else if let word = words.first(where: { ProfileKeys.steps.contains($0) }) {
            action = plainStep(node, word, in: scope)
        } else {
            let word = words.first ?? ""
            error(
                at: keys.first ?? node,
                words.isEmpty
                    ? "a step needs one of \(Self.list(ProfileKeys.steps))"
                    : Self.unknown("step \(Self.quote(word))", word, among: ProfileKeys.steps))
            action = nil
        }
        guard let action, errorCount == errorsBefore else { return nil }
        return ScenarioStep(text: Self.stepText(mapping), action: action)
    }

    /// The step on one line, as a person would write it.
    private static func stepText(_ node: YAMLNode.Mapping) -> String {
        node.map { "\($0.key.scalar?.string ?? ""): \(stepText($0.value))" }.joined(separator: ", ")
    }

    private static func stepText(_ node: YAMLNode) -> String {
        switch node {
        case .scalar(let scalar): scalar.string
        case .mapping(let mapping): "{\(stepText(mapping))}"
        case .sequence(let list): "[\(list.map { stepText($0) }.joined(separator: ", "))]"
        }
    }

    /// A step that waits for no event.
    private mutating func plainStep(
        _ node: YAMLNode, _ word: String, in scope: ScenarioScope
    ) -> ScenarioStep.Action? {
        let others = ProfileKeys.steps.filter { $0 != word }
        var refused = Dictionary(
            uniqueKeysWithValues: others.map { ($0, "a step has one of \(word) and \($0), not both") })
        refused["within"] = "only await and expect have within"
        let known = word == "fault" ? ["fault", "off"] : [word]
        guard let fields = fields(node, "a step with \(word)", known: known, refused: refused),
            let value = fields[word]
        else { return nil }
        switch word {
        case "after": return duration(value, "after", atLeast: .microseconds(1)).map { .after($0) }
        case "set":
            let changes = changes(value)
            if changes.isEmpty, case .mapping(let mapping) = value, mapping.isEmpty {
                error(at: value, "set needs a variable, as in set: {power: 0}")
            }
            return .set(changes)
        case "fault":
            let isOff = fields["off"].flatMap { bool($0, "off") } ?? false
            return scenarioFault(value, in: scope).map { .fault($0, isOn: !isOff) }
        case "app": return transition(value, in: scope).map { .app($0) }
        default: return choice(value, "result", as: ScenarioResult.self).map { .end(isPass: $0 == .pass) }
        }
    }

    /// The name of a fault of the profile.
    mutating func scenarioFault(_ node: YAMLNode, in scope: ScenarioScope) -> String? {
        guard let name = text(node, "fault") else { return nil }
        guard !scope.faults.contains(name), scope.hasAllFaults else { return name }
        error(
            at: node,
            scope.faults.isEmpty
                ? "there is no fault \(Self.quote(name)); the profile has no faults"
                : Self.unknown("fault \(Self.quote(name))", name, among: scope.faults))
        return nil
    }

    private mutating func transition(_ node: YAMLNode, in scope: ScenarioScope) -> String? {
        guard let word = text(node, "app") else { return nil }
        if let problem = scope.problem(with: .app) {
            error(at: node, "the state of an app cannot change: \(problem)")
        }
        guard !ScenarioScope.transitions.contains(word) else { return word }
        error(at: node, Self.unknown("app state \(Self.quote(word))", word, among: ScenarioScope.transitions))
        return nil
    }
}

/// The result of a scenario.
enum ScenarioResult: String, CaseIterable {
    case pass
    case fail
}
