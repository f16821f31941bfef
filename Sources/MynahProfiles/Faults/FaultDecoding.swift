import MynahCore
import MynahSupport

// `faults:`
extension ProfileDecoder {
    /// The number of faults that a device can have.
    private static let maximumFaults = 1000
    /// A name is a part of a path of the control API, and of a line on a screen.
    private static let longestFaultName = 64

    mutating func faults(_ node: YAMLNode, in scope: FaultScope) -> [ProfileFault] {
        var faults: [ProfileFault] = []
        var names: Set<String> = []
        let elements = elements(node, "faults")
        guard elements.count <= Self.maximumFaults else {
            error(at: node, "a device has at most \(Self.maximumFaults) faults, not \(elements.count)")
            return []
        }
        for element in elements {
            guard let fault = fault(element, in: scope) else { continue }
            if !names.insert(fault.fault.name).inserted {
                error(
                    at: fault.marks["name"],
                    "the fault \(Self.quote(fault.fault.name)) is defined twice; rename one")
            }
            faults.append(fault)
        }
        return faults
    }

    /// One fault, or `nil` if something in it is wrong.
    mutating func fault(_ node: YAMLNode, in scope: FaultScope) -> ProfileFault? {
        let errorsBefore = errorCount
        guard let fields = fields(node, "a fault", known: ProfileKeys.fault) else { return nil }
        // A key that is not known may be one that is missing.
        let isKnown = errorCount == errorsBefore
        let name = faultName(fields, isNeeded: isKnown)
        let trigger = faultTrigger(fields, isNeeded: isKnown)
        var selection = FaultSelection()
        if let node = fields["nth"] { selection.nth = ordinals(node) ?? .all }
        if let node = fields["times"] { selection.times = integer(node, "times", in: 1...Self.maximumCount) }
        if let node = fields["chance"] { selection.chance = part(node, "chance") ?? 1 }
        if let node = fields["central"] { selection.central = faultCentral(node) }
        if let node = fields["when"] { selection.condition = faultCondition(node, in: scope) }
        let delay = fields["delay"].flatMap { duration($0, "delay", atLeast: .microseconds(1)) }
        let attribute = fields["of"].flatMap { faultAttribute($0, in: scope) }
        let (effect, removed) = faultEffect(fields, of: attribute, in: scope, isNeeded: isKnown)
        let isOff = fields["off"].flatMap { bool($0, "off") } ?? false
        guard errorCount == errorsBefore, let name, let trigger else { return nil }
        let result = ProfileFault(
            fault: Fault(
                name: name, trigger: trigger, of: attribute.map { _ in AttributeKey() }, selection: selection,
                delay: delay ?? .zero, effect: effect, isOff: isOff),
            attribute: attribute, removed: removed,
            properties: attribute.map { scope.attribute($0)?.properties ?? [] },
            mark: fields.mark, marks: fields.marks)
        checkMeaning(of: result, fields)
        return result
    }

    private static let maximumCount = 1_000_000_000

    private mutating func faultName(_ fields: Fields, isNeeded: Bool) -> String? {
        guard let node = fields["name"] else {
            if isNeeded {
                error(at: fields.mark, "a fault needs a name, which its events and a test call it by")
            }
            return nil
        }
        return name(node, of: "fault", longest: Self.longestFaultName)
    }

    /// Reads the name of a fault or a scenario, of `longest` bytes at most.
    mutating func name(_ node: YAMLNode, of kind: String, longest: Int) -> String? {
        guard let name = text(node, "the name of a \(kind)") else { return nil }
        if name.isEmpty || name.utf8.count > longest {
            error(at: node, "the name of a \(kind) must have 1 to \(longest) bytes")
        }
        checkIsPrintable(name, "the name of the \(kind)", at: node)
        return name
    }

    private mutating func faultTrigger(_ fields: Fields, isNeeded: Bool) -> FaultTrigger? {
        switch (fields["on"], fields["after"]) {
        case (let node?, nil):
            return choice(node, "trigger", as: FaultTrigger.Operation.self).map { .on($0) }
        case (nil, let node?):
            return duration(node, "after", atLeast: .microseconds(1)).map { .after($0) }
        case (nil, nil) where !isNeeded: break
        case (nil, nil):
            error(at: fields.mark, "a fault needs on or after, as in on: read or after: 20 s")
        case (_?, _?):
            error(at: fields.mark(of: "after"), "a fault has on or after, not both")
        }
        return nil
    }

    // MARK: Which operations

    /// `3`, `1..2` or `every 4`.
    private mutating func ordinals(_ node: YAMLNode) -> FaultSelection.Ordinals? {
        guard let text = text(node, "nth") else { return nil }
        if text.hasPrefix("every ") {
            let word = String(text.dropFirst(6))
            return integer(word, at: node, "nth: every", in: 1...Self.maximumCount).map { .every($0) }
        }
        let bounds = text.split(separator: "..", omittingEmptySubsequences: false).map(String.init)
        let numbers = bounds.compactMap { Self.number($0) }
        guard bounds.count == numbers.count, numbers.count <= 2, let first = numbers.first,
            let last = numbers.last
        else {
            error(at: node, "nth must be a number, as 3, 1..2 or every 4, not \(Self.quote(text))")
            return nil
        }
        let range = 1...Self.maximumCount
        guard range.contains(first), range.contains(last) else {
            error(at: node, "nth counts from 1 to \(Self.maximumCount), not \(text)")
            return nil
        }
        guard first <= last else {
            error(at: node, "nth: \(text) contains no number; write \(last)..\(first)")
            return nil
        }
        return .range(first...last)
    }

    /// An address, or the number of a connection.
    private mutating func faultCentral(_ node: YAMLNode) -> FaultCentral? {
        guard let text = text(node, "central") else { return nil }
        // The type of the address is ignored.
        if let address = DeviceAddress(text, kind: .random) { return .address(address) }
        guard Self.number(text) != nil else {
            error(
                at: node,
                """
                central must be an address, as in C0:11:22:33:44:55, or the number of a connection from 1 \
                on, not \(Self.quote(text))
                """)
            return nil
        }
        return integer(node, "central", in: 1...Self.maximumCount).map { .order($0) }
    }

    /// A comparison of a variable, or a state of the app.
    private mutating func faultCondition(_ node: YAMLNode, in scope: FaultScope) -> FaultCondition? {
        guard let text = text(node, "when") else { return nil }
        if let (name, comparison, operand) = Comparison.parts(of: text) {
            return variableCondition(name, comparison, operand, node, FieldScope(variables: scope.variables))
        }
        guard scope.variables[text] == nil || FaultScope.appStates.contains(text) else {
            error(at: node, "when compares a variable, as in \(text) > 0")
            return nil
        }
        guard FaultScope.appStates.contains(text) else {
            error(at: node, Self.unknown("app state \(Self.quote(text))", text, among: FaultScope.appStates))
            return nil
        }
        guard scope.isApp else {
            error(at: node, "when: \(text) is never true: no app plays the device; add app, or remove when")
            return nil
        }
        return .appState(text)
    }

    /// `power > 200`, or `mode == "boot"`.
    private mutating func variableCondition(
        _ name: String, _ comparison: Comparison, _ operand: String, _ node: YAMLNode, _ names: FieldScope
    ) -> FaultCondition? {
        guard names.operand(name, at: node, &self) != nil else { return nil }
        if let number = Self.decimal(operand) { return .variable(name, comparison, .number(number)) }
        guard operand.count >= 2, operand.first == "\"", operand.last == "\"" else {
            error(
                at: node,
                """
                when compares \(name) with a number, or with a text in quotation marks, as in \
                \(name) == "boot", not with \(Self.quote(operand))
                """)
            return nil
        }
        guard !Comparison.ordering.contains(comparison) else {
            error(at: node, "a text has no order; compare it with == or !=")
            return nil
        }
        return .variable(name, comparison, .text(String(operand.dropFirst().dropLast())))
    }

    // MARK: Meaning

    /// Notes a fault that means nothing on any radio.
    private mutating func checkMeaning(of fault: ProfileFault, _ fields: Fields) {
        if let (mark, message) = fault.located(\.mistake) {
            error(at: mark, message)
        } else if let properties = fault.properties, let attribute = fault.attribute,
            let message = Self.uselessness(of: fault.fault, properties, of: attribute, fields)
        {
            error(at: fields.mark(of: "of"), message)
        }
    }

    /// Why a fault never applies to an attribute with these properties, or `nil` if it can.
    private static func uselessness(
        of fault: Fault, _ properties: CharacteristicProperties, of position: AttributeTree.Position,
        _ fields: Fields
    ) -> String? {
        let name = fields["of"]?.scalar?.string ?? ""
        let isDescriptor = position.descriptor != nil
        let kind = isDescriptor ? "descriptor" : "characteristic"
        func never(_ operation: String, _ property: String) -> String {
            "on: \(operation) has no effect on \(quote(name)): the \(kind) has \(property)"
        }
        switch fault.trigger {
        case .on(.read) where !properties.contains(.read): return never("read", "no read property")
        case .on(.write) where properties.isDisjoint(with: .anyWrite):
            return never("write", "no write property")
        case .on(.write) where !isDescriptor && properties.isDisjoint(with: [.write, .reliableWrite]):
            // The device gets a command, or does not; nothing else can be done to it.
            guard fault.effect?.kind == .error || fault.effect?.kind == .noAnswer else { return nil }
            return "\(fault.kind) has no effect on \(quote(name)): a write without response gets no answer"
        case .on(.notify) where isDescriptor || properties.isDisjoint(with: .anyUpdate):
            return never("notify", "neither notify nor indicate")
        case .on(.subscribe) where isDescriptor || properties.isDisjoint(with: .anyUpdate):
            return never("subscribe", "neither notify nor indicate")
        default: return nil
        }
    }
}
