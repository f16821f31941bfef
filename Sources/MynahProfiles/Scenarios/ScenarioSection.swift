import MynahCore
import MynahSupport

/// An entry of the section `scenarios`.
enum ScenarioSection {
    static let name = Field(
        "name", .name(of: "scenario"),
        missing: "a scenario needs a name, as in name: drop out after five seconds",
        doc: "Its name on the command line; no other scenario has it.")
    static let steps = Field(
        "steps", .sections("step", atLeast: 1), missing: "a scenario needs steps, \(example)",
        doc: "The steps, which are played in this order.")
    static let table = Section("scenario", what: "a scenario", [name, steps])

    private static let example = "as in steps: [{await: subscribed}, {after: 5 s}]"

    /// Parses the scenarios of a device.
    static func list(
        _ node: YAMLNode, in scope: ScenarioScope, _ reader: FormatReader
    ) -> [Profile.Scenario] {
        let elements = reader.elements(node, "scenarios")
        let limit = ProfileLimit.scenarios.count
        guard elements.count <= limit else {
            reader.error(at: node, "a device has at most \(limit) scenarios, not \(elements.count)")
            return []
        }
        var names: Set<String> = []
        return elements.compactMap { element in
            guard let fields = reader.fields(element, table) else { return nil }
            let name = fields.read(name)
            if let name, !names.insert(name).inserted {
                reader.error(
                    at: fields[Self.name], "the scenario \(Words.quote(name)) is defined twice; rename one")
            }
            let steps = steps(fields, in: scope, reader)
            return name.map { .init(name: $0, steps: steps, mark: fields.mark) }
        }
    }

    private static func steps(
        _ fields: Fields, in scope: ScenarioScope, _ reader: FormatReader
    ) -> [ScenarioStep] {
        guard let node = fields[steps] else { return [] }
        let elements = reader.elements(node, "steps")
        if elements.isEmpty, case .sequence = node {
            reader.error(at: node, "a scenario needs a step, \(example)")
        }
        let limit = ProfileLimit.steps.count
        guard elements.count <= limit else {
            reader.error(at: node, "a scenario has at most \(limit) steps, not \(elements.count)")
            return []
        }
        let section = StepSection(reader: reader, scope: scope)
        let steps = elements.map { section.read($0) }
        let end = steps.firstIndex { if case .end? = $0?.action { true } else { false } }
        if let end, end + 1 < elements.count {
            reader.error(
                at: elements[end + 1], "this step is never played: the step before it ends the scenario")
        }
        return steps.compactMap { $0 }
    }
}

/// Parses a step of a scenario.
struct StepSection {
    static let after = Field("after", .duration(.microseconds(1)), isRequired: true, doc: "Waits.")
    static let set = Field(
        "set", .changes, isRequired: true, doc: "Variables, each with a number, a text or a variable.")
    static let fault = Field(
        "fault", .node("fault", .ref("text")), isRequired: true, doc: "The fault that is turned on.")
    static let off = Field("off", .bool, doc: "Whether the fault is turned off instead.")
    static let advertise = Field(
        "advertise", AdvertisementChangeSection.request, isRequired: true,
        doc: "Whether the device advertises, or the fields of its advertisement that change.")
    static let app = Field(
        "app", .node(Words.codes(ScenarioScope.transitions), .words(ScenarioScope.transitions)),
        isRequired: true, doc: "The new state of the app.")
    static let end = Field(
        "end", called: "result", Kind<ScenarioResult>.word, isRequired: true,
        doc: "Ends the scenario with this result.")
    /// The tables of keys of the steps that do not wait for an event.
    static let plainTables: [Section] = [[after], [set], [fault, off], [advertise], [app], [end]].map {
        fields in
        Section("step", what: "a step with \(fields.first?.name ?? "")", fields)
    }
    /// The words with which steps begin; each step has exactly one of them.
    static let words = EventStepSection.words + plainTables.compactMap(\.keys.first)

    /// The schema of a step; a step that waits for an event also has fields of that event.
    static var schema: Schema {
        .oneOf((EventStepSection.tables + plainTables).map(\.schema))
            .described("A step: one of \(words.joined(separator: ", "))")
    }

    let reader: FormatReader
    let scope: ScenarioScope

    /// Parses a step; returns `nil` if a part of it is invalid.
    func read(_ node: YAMLNode) -> ScenarioStep? {
        guard case .mapping(let mapping) = node else {
            reader.error(
                at: node, "a step must be a mapping, as in {after: 5 s}, not \(Words.shape(of: node))")
            return nil
        }
        let words = mapping.compactMap(\.key.scalar?.string)
        let errorsBefore = reader.errorCount
        let action: ScenarioStep.Action?
        if words.contains(where: { EventStepSection.words.contains($0) }) {
            action = EventStepSection(reader: reader, scope: scope).read(mapping)
        } else if let table = Self.table(of: words) {
            action = plainStep(node, table)
        } else {
            let word = words.first ?? ""
            reader.error(
                at: mapping.first?.key ?? node,
                words.isEmpty
                    ? "a step needs one of \(Words.list(Self.words))"
                    : Words.unknown("step \(Words.quote(word))", word, among: Self.words))
            action = nil
        }
        guard let action, reader.errorCount == errorsBefore else { return nil }
        return ScenarioStep(text: Self.text(mapping), action: action)
    }

    /// Returns the table of the step that the first known word in `words` begins.
    private static func table(of words: [String]) -> Section? {
        for word in words {
            if let table = plainTables.first(where: { $0.keys.first == word }) { return table }
        }
        return nil
    }

    /// Returns the step on one line, as a person would write it.
    private static func text(_ node: YAMLNode.Mapping) -> String {
        node.map { "\($0.key.scalar?.string ?? ""): \(text($0.value))" }.joined(separator: ", ")
    }

    private static func text(_ node: YAMLNode) -> String {
        switch node {
        case .scalar(let scalar): scalar.string
        case .mapping(let mapping): "{\(text(mapping))}"
        case .sequence(let list): "[\(list.map { text($0) }.joined(separator: ", "))]"
        }
    }

    /// Parses a step that does not wait for an event.
    private func plainStep(_ node: YAMLNode, _ table: Section) -> ScenarioStep.Action? {
        let word = table.keys.first ?? ""
        var refused = Dictionary(
            uniqueKeysWithValues: Self.words.map { ($0, "a step has one of \(word) and \($0), not both") })
        refused["within"] = "only await and expect have within"
        guard let fields = reader.fields(node, table, refused: refused), let value = fields[word] else {
            return nil
        }
        switch word {
        case Self.after.name: return fields.read(Self.after).map { .after($0) }
        case Self.set.name:
            let names = FieldScope(variables: scope.profile.variables)
            let changes = [Reaction.Change].read(value, in: names, reader)
            if changes.isEmpty, case .mapping(let mapping) = value, mapping.isEmpty {
                reader.error(at: value, "set needs a variable, as in set: {power: 0}")
            }
            return .set(changes)
        case Self.fault.name:
            let isOff = fields.read(Self.off) ?? false
            return scope.fault(value, reader).map { .fault($0, isOn: !isOff) }
        case Self.advertise.name:
            return AdvertisementChangeSection.readRequest(value, of: scope.profile, reader)
                .map { .advertise($0) }
        case Self.app.name: return transition(value).map { .app($0) }
        default: return fields.read(Self.end).map { .end(isPass: $0 == .pass) }
        }
    }

    private func transition(_ node: YAMLNode) -> String? {
        guard let word = reader.text(node, "app") else { return nil }
        if let problem = scope.problem(with: .app) {
            reader.error(at: node, "the state of an app cannot change: \(problem)")
        }
        if ScenarioScope.transitions.contains(word) { return word }
        reader.error(
            at: node,
            Words.unknown("app state \(Words.quote(word))", word, among: ScenarioScope.transitions))
        return nil
    }
}

/// The result with which a step ends a scenario.
enum ScenarioResult: String, CaseIterable {
    case pass
    case fail
}

extension ScenarioScope {
    /// Parses the name of a fault of the profile.
    func fault(_ node: YAMLNode, _ reader: FormatReader) -> String? {
        guard let name = reader.text(node, "fault") else { return nil }
        guard !faults.contains(name), hasAllFaults else { return name }
        reader.error(
            at: node,
            faults.isEmpty
                ? "there is no fault \(Words.quote(name)); the profile has no faults"
                : Words.unknown("fault \(Words.quote(name))", name, among: faults))
        return nil
    }
}
