import MynahCore
import MynahSupport

/// The device around a reaction.
private struct ReactionPlace {
    var profile: Profile
    var index: AttributeIndex
    /// The characteristic whose rules these are.
    var position: AttributeTree.Position
    var characteristic: Profile.Characteristic
    var isSubscription = false

    func characteristic(at position: AttributeTree.Position) -> Profile.Characteristic? {
        position.characteristic.map { profile.services[position.service].characteristics[$0] }
    }
}

// `on:` of a characteristic
extension ProfileDecoder {
    /// Reads the rules of all characteristics, when the attributes that they may name are known.
    mutating func reactions(of profile: inout Profile) {
        guard !reactionNodes.isEmpty else { return }
        let attributes = AttributeIndex(profile.attributeTree)
        for (index, service) in profile.services.enumerated() {
            for (number, characteristic) in service.characteristics.enumerated() {
                guard let node = reactionNodes[characteristic.mark] else { continue }
                let place = ReactionPlace(
                    profile: profile, index: attributes,
                    position: .init(service: index, characteristic: number), characteristic: characteristic)
                let rules = rules(node, place)
                profile.services[index].characteristics[number].reactions = rules
            }
        }
    }

    private mutating func rules(_ node: YAMLNode, _ place: ReactionPlace) -> Profile.Reactions {
        var rules = Profile.Reactions()
        guard let fields = fields(node, "on", known: ProfileKeys.on) else { return rules }
        let (properties, uuid) = (place.characteristic.properties, place.characteristic.uuid)
        if let node = fields["write"] {
            if properties.isDisjoint(with: .anyWrite) {
                error(at: node, "on.write has no effect: \(uuid) has no write property")
            }
            scope.layout = place.characteristic.layout
            rules.write = elements(node, "on.write").compactMap { rule($0, place) }
            scope.layout = nil
            checkAreReached(rules.write, node)
        }
        if let node = fields["subscribe"] {
            if properties.isDisjoint(with: .anyUpdate) {
                error(at: node, "on.subscribe has no effect: \(uuid) has neither notify nor indicate")
            }
            var place = place
            place.isSubscription = true
            rules.subscribe = elements(node, "on.subscribe").compactMap { rule($0, place) }
        }
        return rules
    }

    /// A rule that takes every write is the last one.
    private mutating func checkAreReached(_ rules: [Reaction], _ node: YAMLNode) {
        guard let open = rules.firstIndex(where: { $0.match == ValueMatch() }), open + 1 < rules.count,
            case .sequence(let list) = node, list.count == rules.count
        else { return }
        warning(
            at: list[open + 1].mark,
            "this rule is never reached: the one before it matches every write"
        )
    }

    private mutating func rule(_ node: YAMLNode, _ place: ReactionPlace) -> Reaction? {
        let what = place.isSubscription ? "a rule of on.subscribe" : "a rule of on.write"
        let reason = "a subscription has no value, and it cannot be refused here: use a fault"
        guard
            let fields = fields(
                node, what,
                known: ProfileKeys.reaction.filter {
                    !place.isSubscription || !["match", "error"].contains($0)
                },
                refused: place.isSubscription ? ["match": reason, "error": reason] : [:])
        else { return nil }
        let errorsBefore = errorCount
        var rule = Reaction()
        if let node = fields["match"] { rule.match = match(node, place) }
        if let node = fields["set"] { rule.changes = changes(node) }
        if let node = fields["answer"] { rule.answers = answers(node, place) }
        if let node = fields["notify"] { rule.notified = notified(node, place) }
        if let node = fields["error"] { rule.error = refusal(node, place) }
        if let node = fields["disconnect"] { rule.disconnects = bool(node, "disconnect") ?? false }
        if let node = fields["advertise"] {
            rule.advertises = onOrOff(node, "advertise")
            if place.profile.advertising == nil {
                error(at: node, "advertise has no effect: the profile has no advertising")
            }
        }
        if rule.error != nil, let node = fields["answer"] {
            error(at: node, "a rule has error or answer, not both")
        }
        if fields.marks.keys.allSatisfy({ $0 == "match" }), errorCount == errorsBefore {
            warning(at: fields.mark, "this rule does nothing; add one of \(Self.list(ProfileKeys.effects))")
        }
        return errorCount == errorsBefore ? rule : nil
    }

    private mutating func onOrOff(_ node: YAMLNode, _ what: String) -> Bool? {
        guard let text = text(node, what) else { return nil }
        switch text.lowercased() {
        case "on", "true": return true
        case "off", "false": return false
        default:
            error(at: node, "\(what) must be on or off, not \(Self.quote(text))")
            return nil
        }
    }

    // MARK: Match

    private mutating func match(_ node: YAMLNode, _ place: ReactionPlace) -> ValueMatch {
        var match = ValueMatch()
        let layout = place.characteristic.layout
        let names = layout?.names ?? []
        for (key, value) in members(node, "match") {
            guard let name = text(key, "match") else { continue }
            if name == "hex", !names.contains("hex") {
                guard let pattern = text(value, "hex") else { continue }
                match.bytes = BytePattern(pattern)
                if match.bytes == nil {
                    error(
                        at: value,
                        """
                        hex must be hexadecimal digits, with .. for any byte, as in 02 .., not \
                        \(Self.quote(pattern))
                        """
                    )
                }
            } else if names.contains(name), let layout, let shape = FieldShape(name, in: layout) {
                match.conditions += conditions(value, name, shape)
            } else {
                error(
                    at: key,
                    layout == nil
                        ? """
                        the fields of \(place.characteristic.uuid) are not known: match hex, or write down a \
                        layout, as in value: {layout: [{opcode: uint8}]}
                        """
                        : Self.unknown("field \(Self.quote(name))", name, among: names + ["hex"]))
            }
        }
        return match
    }

    private mutating func conditions(
        _ node: YAMLNode, _ name: String, _ shape: FieldShape
    ) -> [ValueMatch.Condition] {
        guard case .mapping = node else {
            return operand(node, name, shape).map { [.init(field: name, comparison: .equal, operand: $0)] }
                ?? []
        }
        return comparisons(node, name).compactMap { written in
            guard shape.isNumber else {
                error(at: written.key, "\(name) is \(shape.typeName), which has no order")
                return nil
            }
            return operand(written.value, name, shape).map {
                .init(field: name, comparison: written.comparison, operand: $0)
            }
        }
    }

    /// A number, a name or a text of the field, or a variable.
    private mutating func operand(
        _ node: YAMLNode, _ name: String, _ shape: FieldShape
    ) -> ValueMatch.Condition.Operand? {
        guard let text = text(node, name) else { return nil }
        let isPlain = node.scalar?.isPlain == true
        if isPlain, scope.variables[text] != nil { return .variable(text) }
        if shape.isNumber, isPlain, let number = Self.decimal(text) { return .number(number) }
        switch shape.kind {
        case .boolean: return bool(node, name).map { .text($0 ? "true" : "false") }
        case .bytes: return bytes(node, name).map { .text(Hex.encode($0)) }
        case .dateTime where CivilTime.seconds(of: text) == nil:
            error(
                at: node, "\(name) is a date and a time, as in 2026-01-31T12:00:00")
            return nil
        case .integer, .float, .text, .dateTime: break
        }
        if shape.isNumber, shape.names.isEmpty {
            guard let written = writtenNumber(text, name, node, shape) else { return nil }
            return scaled(written, name, node, shape).map { .number($0.number) }
        }
        if !shape.names.isEmpty, !shape.names.contains(text) {
            let known = shape.names.filter { !$0.isEmpty } + scope.variables.names
            error(at: node, Self.unknown("value \(Self.quote(text)) of \(name)", text, among: known))
            return nil
        }
        return .text(text)
    }

    // MARK: Effects

    /// Variables that a rule or a step of a scenario sets.
    mutating func changes(_ node: YAMLNode) -> [Reaction.Change] {
        members(node, "set").compactMap { key, value in
            guard let name = text(key, "a variable") else { return nil }
            let known = scope.variables.names
            guard known.contains(name) else {
                error(
                    at: key,
                    known.isEmpty
                        ? "there is no variable \(Self.quote(name)); add it, as in variables: {\(name): 0}"
                        : Self.unknown("variable \(Self.quote(name))", name, among: known))
                return nil
            }
            guard let text = text(value, name) else { return nil }
            if value.scalar?.isPlain != true { return .init(variable: name, operand: .constant(.text(text))) }
            if let number = Self.variableNumber(text) {
                return .init(variable: name, operand: .constant(number))
            }
            let scope = scope
            return scope.operand(text, at: value, &self).map { .init(variable: name, operand: $0) }
        }
    }

    private mutating func answers(_ node: YAMLNode, _ place: ReactionPlace) -> [Reaction.Answer] {
        if case .sequence = node {
            return elements(node, "answer").compactMap { answer($0, place) }
        }
        return answer(node, place).map { [$0] } ?? []
    }

    private mutating func answer(_ node: YAMLNode, _ place: ReactionPlace) -> Reaction.Answer? {
        guard case .mapping(let mapping) = node, mapping["value"] != nil || mapping["to"] != nil else {
            // A bare value.
            guard let target = target(nil, at: node, place) else { return nil }
            return answerValue(node, for: target, place).map {
                .init(target: target, value: $0, delay: .zero)
            }
        }
        guard let fields = fields(node, "an answer", known: ProfileKeys.answer) else { return nil }
        guard let value = fields["value"] else {
            error(at: fields.mark, "an answer needs a value, as in {to: 2A37, value: {hex: 00 48}}")
            return nil
        }
        let delay = fields["after"].flatMap { duration($0, "after", atMost: .seconds(3600)) } ?? .zero
        guard let target = target(fields["to"], at: node, place) else { return nil }
        return answerValue(value, for: target, place).map { .init(target: target, value: $0, delay: delay) }
    }

    /// The characteristic that a value is sent on.
    private mutating func target(
        _ named: YAMLNode?, at node: YAMLNode, _ place: ReactionPlace
    ) -> AttributeTree.Position? {
        var position = place.position
        if let named {
            guard let found = self.position(named, "to", place) else { return nil }
            position = found
        }
        let uuid = place.characteristic(at: position)?.uuid
        guard place.characteristic(at: position)?.properties.isDisjoint(with: .anyUpdate) == false else {
            error(
                at: named ?? node,
                """
                no value can be sent on \(uuid.map(\.description) ?? "it"): it has neither notify nor \
                indicate
                """
            )
            return nil
        }
        return position
    }

    private mutating func position(
        _ node: YAMLNode, _ what: String, _ place: ReactionPlace
    ) -> AttributeTree.Position? {
        guard let text = text(node, what) else { return nil }
        do throws(AttributeName.Problem) {
            let position = try AttributeName(parsing: text).resolve(in: place.index)
            if position.characteristic != nil, position.descriptor == nil { return position }
            error(at: node, "\(what) must name a characteristic, not \(Self.quote(text))")
        } catch {
            self.error(at: node, "\(what): \(error.message)")
        }
        return nil
    }

    private mutating func answerValue(
        _ node: YAMLNode, for target: AttributeTree.Position, _ place: ReactionPlace
    ) -> AnswerValue? {
        guard Self.isTyped(node) else {
            guard let value = value(node) else { return nil }
            guard case .bytes(let bytes) = value else {
                error(at: node, "an answer is hex, text, base64 or fields")
                return nil
            }
            return AnswerValue(form: .bytes(bytes))
        }
        return fieldsOfAnswer(node, place.characteristic(at: target)).map { AnswerValue(form: .fields($0)) }
    }

    /// The characteristics whose values are sent: this one (`now`), or those that are named.
    private mutating func notified(_ node: YAMLNode, _ place: ReactionPlace) -> [AttributeTree.Position] {
        if node.scalar?.string == "now" { return target(nil, at: node, place).map { [$0] } ?? [] }
        if case .sequence = node {
            return elements(node, "notify").compactMap { target($0, at: $0, place) }
        }
        return target(node, at: node, place).map { [$0] } ?? []
    }

    private mutating func refusal(_ node: YAMLNode, _ place: ReactionPlace) -> ATTError? {
        guard let text = text(node, "error") else { return nil }
        if place.characteristic.properties.isDisjoint(with: [.write, .reliableWrite]) {
            error(
                at: node,
                "error is never sent: writeWithoutResponse gets no answer; add the property write")
        }
        if let error = ATTError(named: text) { return error }
        guard let code = integer(text, at: node, "an ATT error", in: 1...255) else { return nil }
        return ATTError(code: UInt8(truncatingIfNeeded: code))
    }
}
