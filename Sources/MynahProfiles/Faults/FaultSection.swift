import MynahCore
import MynahFaults
import MynahSupport

/// An entry of the section `faults`.
struct FaultSection {
    static let name = Field(
        "name", .name(of: "fault"), isRequired: true,
        doc: "Its name in events and tests; no other fault has it.")
    static let on = Field(
        "on", called: "trigger", Kind<FaultTrigger.Operation>.word, doc: "The operation that it applies to.")
    static let after = Field(
        "after", .duration(.microseconds(1)),
        doc: "The time after which it applies once, counted from when it was turned on.")
    static let of = Field("of", .attribute, doc: "The characteristic or descriptor; left out: every one.")
    static let nth = Field("nth", .ordinals, doc: "The operations by their numbers: 3, 1..2 or every 4.")
    static let times = Field(
        "times", .integer(1...maximumCount, "count"), doc: "The largest number of times that it applies.")
    static let chance = Field(
        "chance",
        .part(
            .types("number", "string").with([
                .init("minimum", .integer(0)), .init("maximum", .integer(1)),
            ])), doc: "The probability that it applies: 0.05 or 5 %.")
    static let central = Field(
        "central", .central, doc: "The central: its address, or the number of its connection from 1 on.")
    static let when = Field(
        "when",
        .node(
            "a state of the app, or a comparison",
            .anyOf([
                .words(FaultScope.appStates),
                .types("string", pattern: "^[A-Za-z][A-Za-z0-9]* +([=!]=|[<>]=?) +[^ ].*$"),
            ])),
        doc: """
            The state that the app must be in, or a comparison of a variable, as in power > 200; and joins \
            several comparisons.
            """)
    static let delay = Field(
        "delay", .duration(.microseconds(1)), doc: "The time by which the answer or the value is held up.")
    static let off = Field("off", .bool, doc: "Whether it is off until a test turns it on.")
    static let table = Section(
        "fault", what: "a fault",
        [name, on, after, of, nth, times, chance, central, when, delay] + FaultEffectSection.effects
            + FaultEffectSection.parameters + [off],
        rules: rules)

    static let maximumCount = 1_000_000_000

    /// The rules of the schema: exactly one of `on` and `after`, and one effect, or only a delay.
    private static var rules: [JSON.Member] {
        let effects = FaultEffectSection.effects.map { Schema.required([$0.name]) }
        let delay = Schema.required([delay.name]).with([.init("not", Schema.anyOf(effects).json)])
        return Schema.anyOf([.required([on.name]), .required([after.name])]).members
            + [.init("not", Schema.required([on.name, after.name]).json)]
            + Schema.oneOf(effects + [delay]).members
    }

    /// Parses the faults of a device.
    static func list(_ node: YAMLNode, in scope: FaultScope, _ reader: FormatReader) -> [ProfileFault] {
        var faults: [ProfileFault] = []
        var names: Set<String> = []
        let elements = reader.elements(node, "faults")
        let limit = ProfileLimit.faults.count
        guard elements.count <= limit else {
            reader.error(at: node, "a device has at most \(limit) faults, not \(elements.count)")
            return []
        }
        for element in elements {
            guard let fault = read(element, in: scope, reader) else { continue }
            let name = fault.fault.name
            if !names.insert(name).inserted {
                reader.error(
                    at: fault.marks["name"], "the fault \(Words.quote(name)) is defined twice; rename one")
            }
            faults.append(fault)
        }
        return faults
    }

    /// Parses a fault, or returns `nil` if a part of it is invalid.
    static func read(_ node: YAMLNode, in scope: FaultScope, _ reader: FormatReader) -> ProfileFault? {
        let errorsBefore = reader.errorCount
        guard let fields = reader.fields(node, table) else { return nil }
        // An unknown key may be a misspelled required one, so missing keys are then not reported.
        let isKnown = reader.errorCount == errorsBefore
        if fields[name] == nil, isKnown {
            reader.error(at: fields.mark, "a fault needs a name, which its events and a test call it by")
        }
        let name = fields.read(name)
        let trigger = trigger(fields, isNeeded: isKnown, reader)
        var selection = FaultSelection()
        fields.read(nth, into: &selection.nth)
        fields.read(times, into: &selection.times)
        fields.read(chance, into: &selection.chance)
        fields.read(central, into: &selection.central)
        selection.condition = fields[when].flatMap { condition($0, in: scope, reader) }
        let delay = fields.read(delay) ?? .zero
        let configuration = fields[of].flatMap { scope.configuration($0, reader) }
        let attribute = configuration ?? fields[of].flatMap { scope.position($0, "of", reader) }
        let effects = FaultEffectSection(fields: fields, attribute: attribute, scope: scope)
        let (effect, removed) = effects.read(isNeeded: isKnown)
        let isOff = fields.read(off) ?? false
        guard reader.errorCount == errorsBefore, let name, let trigger else { return nil }
        var result = ProfileFault(
            fault: Fault(
                name: name, trigger: trigger, of: attribute.map { _ in AttributeKey() },
                selection: selection, delay: delay, effect: effect,
                endsWithLink: fields.read(FaultEffectSection.until) != nil, isOff: isOff),
            attribute: attribute, removed: removed,
            properties: attribute.map { scope.attribute($0)?.properties ?? [] },
            mark: fields.mark, marks: fields.marks)
        if configuration != nil {
            result.fault.isOfConfiguration = true
            result.properties = [.read, .write]
        }
        checkMeaning(of: result, fields, reader)
        return result
    }

    private static func trigger(_ fields: Fields, isNeeded: Bool, _ reader: FormatReader) -> FaultTrigger? {
        switch (fields[on], fields[after]) {
        case (_?, nil): return fields.read(on).map { .on($0) }
        case (nil, _?): return fields.read(after).map { .after($0) }
        case (nil, nil) where !isNeeded: break
        case (nil, nil):
            reader.error(at: fields.mark, "a fault needs on or after, as in on: read or after: 20 s")
        case (_?, _?):
            reader.error(at: fields.mark(of: after), "a fault has on or after, not both")
        }
        return nil
    }

    // MARK: Conditions

    /// Parses comparisons of variables, or a state of the app.
    private static func condition(
        _ node: YAMLNode, in scope: FaultScope, _ reader: FormatReader
    ) -> FaultCondition? {
        guard let text = reader.text(node, "when") else { return nil }
        if Comparison.parts(of: text) != nil {
            let names = FieldScope(variables: scope.variables)
            let conditions = [VariableCondition].read(text, at: node, in: names, reader)
                .map { FaultCondition.variable($0.variable, $0.comparison, $0.constant) }
            return conditions.count == 1 ? conditions[0] : .all(conditions)
        }
        guard scope.variables[text] == nil || FaultScope.appStates.contains(text) else {
            reader.error(at: node, "when compares a variable, as in \(text) > 0")
            return nil
        }
        guard FaultScope.appStates.contains(text) else {
            reader.error(
                at: node, Words.unknown("app state \(Words.quote(text))", text, among: FaultScope.appStates))
            return nil
        }
        guard scope.isApp else {
            reader.error(
                at: node, "when: \(text) is never true: no app plays the device; add app, or remove when")
            return nil
        }
        return .appState(text)
    }

    // MARK: Meaning

    /// Reports a fault that cannot have an effect on any radio.
    private static func checkMeaning(of fault: ProfileFault, _ fields: Fields, _ reader: FormatReader) {
        if let (mark, message) = fault.located(\.mistake) {
            reader.error(at: mark, message)
        } else if let properties = fault.properties, let attribute = fault.attribute,
            let message = uselessness(of: fault.fault, properties, of: attribute, fields)
        {
            reader.error(at: fields.mark(of: of), message)
        }
    }

    /// Returns the reason that a fault never applies to an attribute with these properties, or `nil` if it
    /// can.
    private static func uselessness(
        of fault: Fault, _ properties: CharacteristicProperties, of position: AttributeTree.Position,
        _ fields: Fields
    ) -> String? {
        let name = Words.quote(fields[of]?.scalar?.string ?? "")
        let isDescriptor = position.descriptor != nil
        let kind = isDescriptor ? "descriptor" : "characteristic"
        func never(_ operation: String, _ property: String) -> String {
            "on: \(operation) has no effect on \(name): the \(kind) has \(property)"
        }
        switch fault.trigger {
        case .on(.read) where !properties.contains(.read): return never("read", "no read property")
        case .on(.write) where properties.isDisjoint(with: .anyWrite):
            return never("write", "no write property")
        case .on(.write) where !isDescriptor && properties.isDisjoint(with: [.write, .reliableWrite]):
            // A write command has no response, so it can only be dropped or delivered.
            guard fault.effect?.kind == .error || fault.effect?.kind == .noAnswer else { return nil }
            return "\(fault.kind) has no effect on \(name): a write without response gets no answer"
        case .on(.notify) where isDescriptor || properties.isDisjoint(with: .anyUpdate):
            return never("notify", "neither notify nor indicate")
        case .on(.subscribe) where isDescriptor || properties.isDisjoint(with: .anyUpdate):
            return never("subscribe", "neither notify nor indicate")
        default: return nil
        }
    }
}

extension Kind<YAMLNode> {
    /// The format of an attribute's name.
    static var attribute: Kind { node("attribute", .ref("faultyAttribute")) }
}

extension Kind<FaultSelection.Ordinals> {
    /// The format of the numbers of accesses: `3`, `1..2` or `every 4`.
    fileprivate static var ordinals: Kind {
        Kind(
            "3, 1..2, `every` 4",
            .types(
                "integer", "string",
                pattern: "^(every +)?[0-9xXA-Fa-f]+$|^[0-9xXA-Fa-f]+\\.\\.[0-9xXA-Fa-f]+$"
            ).with([.init("minimum", .integer(1))])
        ) { node, what, reader in
            guard let text = reader.text(node, what) else { return nil }
            let range = 1...FaultSection.maximumCount
            if text.hasPrefix("every ") {
                let word = String(text.dropFirst(6))
                return reader.integer(word, at: node, "\(what): every", in: range).map { .every($0) }
            }
            let bounds = text.split(separator: "..", omittingEmptySubsequences: false).map(String.init)
            let numbers = bounds.compactMap { Words.number($0) }
            guard bounds.count == numbers.count, numbers.count <= 2, let first = numbers.first,
                let last = numbers.last
            else {
                reader.error(
                    at: node, "\(what) must be a number, as 3, 1..2 or every 4, not \(Words.quote(text))")
                return nil
            }
            guard range.contains(first), range.contains(last) else {
                reader.error(at: node, "\(what) counts from 1 to \(range.upperBound), not \(text)")
                return nil
            }
            guard first <= last else {
                reader.error(at: node, "\(what): \(text) contains no number; write \(last)..\(first)")
                return nil
            }
            return .range(first...last)
        }
    }
}

extension Kind<FaultCentral> {
    /// The format of a central: its address, or the number of its connection.
    fileprivate static var central: Kind {
        Kind(
            "an address, or a number from 1",
            .types(
                "integer", "string", pattern: "^(0[xX])?[0-9A-Fa-f]+$|^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$"
            ).with([.init("minimum", .integer(1))])
        ) { node, what, reader in
            guard let text = reader.text(node, what) else { return nil }
            // The type of the address is ignored.
            if let address = DeviceAddress(text, kind: .random) { return .address(address) }
            guard Words.number(text) != nil else {
                reader.error(
                    at: node,
                    """
                    \(what) must be an address, as in C0:11:22:33:44:55, or the number of a connection from \
                    1 on, not \(Words.quote(text))
                    """)
                return nil
            }
            return reader.integer(text, at: node, what, in: 1...FaultSection.maximumCount).map {
                .order($0)
            }
        }
    }
}
