import MynahCore
import MynahSupport
import MynahValues

/// The section `on:` of a characteristic.
enum OnSection {
    static let write = Field(
        "write", .sections("reaction"), doc: "The first rule that matches a write is carried out.")
    static let subscribe = Field(
        "subscribe", .sections("reaction"),
        doc: "The first rule whose when holds is carried out; it has neither match nor error.")
    static let table = Section("on", [write, subscribe])

    /// Parses the rules of all characteristics; all attributes to which they may refer must be known.
    static func read(
        _ nodes: [AttributeTree.Position: YAMLNode], into profile: inout Profile,
        _ reader: FormatReader
    ) {
        guard !nodes.isEmpty else { return }
        let attributes = AttributeIndex(profile.attributeTree)
        for (index, service) in profile.services.enumerated() {
            for (number, characteristic) in service.characteristics.enumerated() {
                let position = AttributeTree.Position(service: index, characteristic: number)
                guard let node = nodes[position] else { continue }
                let section = ReactionSection(
                    reader: reader, profile: profile, index: attributes, position: position,
                    scope: FieldScope(variables: profile.variables, layout: characteristic.layout),
                    trigger: .write)
                profile.services[index].characteristics[number].reactions = read(
                    node, characteristic, section, reader)
            }
        }
    }

    private static func read(
        _ node: YAMLNode, _ characteristic: Profile.Characteristic, _ section: ReactionSection,
        _ reader: FormatReader
    ) -> Profile.Reactions {
        var rules = Profile.Reactions()
        guard let fields = reader.fields(node, table) else { return rules }
        let (properties, uuid) = (characteristic.properties, characteristic.uuid)
        if let node = fields[write] {
            if properties.isDisjoint(with: .anyWrite) {
                reader.error(at: node, "on.write has no effect: \(uuid) has no write property")
            }
            rules.write = reader.elements(node, "on.write").compactMap { section.read($0) }
            checkAreReached(rules.write, node, reader)
        }
        if let node = fields[subscribe] {
            if properties.isDisjoint(with: .anyUpdate) {
                reader.error(at: node, "on.subscribe has no effect: \(uuid) has neither notify nor indicate")
            }
            var section = section
            section.scope.layout = nil
            section.trigger = .subscribe
            rules.subscribe = reader.elements(node, "on.subscribe").compactMap {
                section.read($0)
            }
            checkAreReached(rules.subscribe, node, reader)
        }
        return rules
    }

    /// Reports rules that are never reached, because they follow a rule without conditions.
    static func checkAreReached(_ rules: [Reaction], _ node: YAMLNode, _ reader: FormatReader) {
        let open = rules.firstIndex { $0.match == ValueMatch() && $0.conditions.isEmpty }
        guard let open, open + 1 < rules.count, case .sequence(let list) = node, list.count == rules.count
        else { return }
        reader.warning(
            at: list[open + 1].mark, "this rule is never reached: the one before it has no condition")
    }
}

/// Parses a rule of a characteristic or of the device.
struct ReactionSection {
    /// The event to which a rule applies.
    enum Trigger {
        case write, subscribe
        /// The beginning or end of a link, or a pairing.
        case link
    }

    static let match = Field(
        "match", .node("fields, or `hex`", .map()),
        doc: """
            The fields that the whole new value must have: a number, a name, a variable, or {">": 300}; or \
            its bytes, as hex: 02 .., where .. is any byte, and at the end any number of bytes. Left out: \
            any value.
            """)
    static let when = Field(
        "when",
        .node(
            "comparisons of variables",
            .types("string", pattern: "^[A-Za-z][A-Za-z0-9]* +([=!]=|[<>]=?) +[^ ].*$")),
        doc: """
            Comparisons of variables that must hold, as in unlocked == 1; and joins several. Left out: none.
            """)
    static let set = Field(
        "set", .changes,
        doc: "Variables, and for each a number, a text in quotes, a field of the write or another variable.")
    static let answer = Field(
        "answer",
        .node("`value`, `answer`, or a list of them", .anyOf(answers + [.list(of: .anyOf(answers))])),
        doc: """
            The values that are sent to the writer after the response: a value, which goes out on the \
            written characteristic, {to, value, after}, or a list of these.
            """)
    static let notify = Field(
        "notify",
        .node(
            "`now`, or a list of characteristics",
            .anyOf([.ref("attributeName"), .list(of: .anyOf([.ref("attributeName")]))])),
        doc: "Sends current values to the subscribers: now for this characteristic, or a list of others.")
    static let error = Field(
        "error", .attError(.types("string", "integer")),
        doc: "Refuses the write with this ATT error; a write without response cannot be refused.")
    static let disconnect = Field(
        "disconnect", .bool, doc: "Whether the link is ended, after the answers without after.")
    static let advertise = Field(
        "advertise", AdvertisementChangeSection.request,
        doc: """
            Whether the device advertises from now on, or the fields of its advertisement that change, as in \
            {localName: Found}.
            """)
    static let table = Section("reaction", what: "a rule of on.write", [match, when] + effects)
    /// The keys of rules for subscriptions and links, which have no value.
    private static let valuelessTable = Section(
        "reaction", what: "a rule", [when, set, answer, notify, disconnect, advertise])
    private static let effects: [any DeclaredField] = [set, answer, notify, error, disconnect, advertise]
    private static let answers: [Schema] = [.ref("value"), .ref("answer")]

    let reader: FormatReader
    let profile: Profile
    let index: AttributeIndex
    /// The characteristic to which the rules belong, or `nil` if they are rules for links.
    var position: AttributeTree.Position?
    /// The names to which values can refer.
    var scope: FieldScope
    var trigger: Trigger
    private var characteristic: Profile.Characteristic? { position.flatMap(characteristic(at:)) }

    private func characteristic(at position: AttributeTree.Position) -> Profile.Characteristic? {
        position.characteristic.map { profile.services[position.service].characteristics[$0] }
    }

    func read(_ node: YAMLNode) -> Reaction? {
        let what = trigger == .link ? "a link" : "a subscription"
        let reason = "\(what) has no value, and it cannot be refused here: use a fault"
        let refused = trigger == .write ? [:] : [Self.match.name: reason, Self.error.name: reason]
        guard
            let fields = reader.fields(
                node, trigger == .write ? Self.table : Self.valuelessTable, refused: refused)
        else { return nil }
        let errorsBefore = reader.errorCount
        var rule = Reaction()
        if let node = fields[Self.match] { rule.match = match(node) }
        if let node = fields[Self.when], let text = reader.text(node, "when") {
            rule.conditions = .read(text, at: node, in: scope, reader)
        }
        if let node = fields[Self.set] { rule.changes = .read(node, in: scope, reader) }
        if let node = fields[Self.answer] { rule.answers = answers(node) }
        if let node = fields[Self.notify] { rule.notified = notified(node) }
        rule.error = refusal(fields)
        fields.read(Self.disconnect, into: &rule.disconnects)
        rule.advertises = fields[Self.advertise].flatMap {
            AdvertisementChangeSection.readRequest($0, of: profile, reader)
        }
        if rule.error != nil, let node = fields[Self.answer] {
            reader.error(at: node, "a rule has error or answer, not both")
        }
        guard reader.errorCount == errorsBefore else { return nil }
        if fields.entries.allSatisfy({ [Self.match.name, Self.when.name].contains($0.key) }) {
            reader.warning(
                at: fields.mark,
                "this rule does nothing; add one of \(Words.list(Self.effects.map(\.name)))")
        }
        return rule
    }

    // MARK: Match

    private func match(_ node: YAMLNode) -> ValueMatch {
        var match = ValueMatch()
        let layout = characteristic?.layout
        let names = layout?.names ?? []
        for (key, value) in reader.members(node, "match") {
            guard let name = reader.text(key, "match") else { continue }
            if name == "hex", !names.contains("hex") {
                guard let pattern = reader.text(value, "hex") else { continue }
                match.bytes = BytePattern(pattern)
                if match.bytes == nil {
                    reader.error(
                        at: value,
                        """
                        hex must be hexadecimal digits, with .. for any byte, as in 02 .., not \
                        \(Words.quote(pattern))
                        """
                    )
                }
            } else if names.contains(name), let layout, let field = FieldReader(name, in: layout, reader) {
                match.conditions += conditions(value, field)
            } else if scope.variables[name] != nil {
                reader.error(
                    at: key,
                    """
                    \(Words.quote(name)) is a variable, and match compares fields of the value: compare it \
                    beside match, as in when: \(name) == \(value.scalar?.string ?? "0")
                    """)
            } else {
                reader.error(
                    at: key,
                    layout == nil
                        ? """
                        the fields of \(characteristic?.uuid.description ?? "it") are not known: match hex, \
                        or write down a layout, as in value: {layout: [{opcode: uint8}]}
                        """
                        : Words.unknown("field \(Words.quote(name))", name, among: names + ["hex"]))
            }
        }
        return match
    }

    private func conditions(_ node: YAMLNode, _ field: FieldReader) -> [ValueMatch.Condition] {
        guard case .mapping = node else {
            return condition(.equal, node, field).map { [$0] } ?? []
        }
        return WrittenComparison.read(node, field.name, reader).compactMap { written in
            guard field.shape.isNumber else {
                reader.error(at: written.key, "\(field.name) is \(field.shape.typeName), which has no order")
                return nil
            }
            return condition(written.comparison, written.value, field)
        }
    }

    private func condition(
        _ comparison: Comparison, _ node: YAMLNode, _ field: FieldReader
    ) -> ValueMatch.Condition? {
        guard let operand = operand(node, field) else { return nil }
        if case .number(let number) = operand,
            let problem = field.shape.problem(of: field.name, comparison, number)
        {
            reader.error(at: node, problem)
            return nil
        }
        return .init(field: field.name, comparison: comparison, operand: operand)
    }

    /// Parses a number, a name or a text that the field can have, or the name of a variable.
    private func operand(_ node: YAMLNode, _ field: FieldReader) -> ValueMatch.Condition.Operand? {
        let (name, shape) = (field.name, field.shape)
        guard let text = reader.text(node, name) else { return nil }
        let isPlain = node.scalar?.isPlain == true
        if isPlain, scope.variables[text] != nil { return .variable(text) }
        if shape.isNumber, isPlain, let number = WrittenNumber.decimal(text) {
            reader.warnIfAmbiguous(text, field.name, at: node)
            return .number(number)
        }
        switch shape.kind {
        case .boolean: return reader.bool(node, name).map { .text($0 ? "true" : "false") }
        case .bytes: return reader.bytes(node, name).map { .text(Hex.encode($0)) }
        case .dateTime where CivilTime.seconds(of: text) == nil:
            reader.error(at: node, "\(name) is a date and a time, as in 2026-01-31T12:00:00")
            return nil
        case .integer, .float, .text, .dateTime: break
        }
        if shape.isNumber, shape.names.isEmpty {
            guard let written = field.written(text, name, node) else { return nil }
            return field.scaled(written, name, node).map { .number(ExactNumber($0.number)) }
        }
        if !shape.names.isEmpty, !shape.names.contains(text) {
            let known = shape.names.filter { !$0.isEmpty } + scope.variables.names
            reader.error(at: node, Words.unknown("value \(Words.quote(text)) of \(name)", text, among: known))
            return nil
        }
        return .text(text)
    }

    // MARK: Effects

    private func answers(_ node: YAMLNode) -> [Reaction.Answer] {
        guard case .sequence = node else { return answer(node).map { [$0] } ?? [] }
        let elements = reader.elements(node, "answer")
        let limit = ProfileLimit.answers.count
        guard elements.count <= limit else {
            reader.error(
                at: node,
                "a rule has at most \(limit) answers, as many as wait for a central, not \(elements.count)")
            return []
        }
        return elements.compactMap { answer($0) }
    }

    private func answer(_ node: YAMLNode) -> Reaction.Answer? {
        guard case .mapping(let mapping) = node, mapping["value"] != nil || mapping["to"] != nil else {
            // A value without a target is sent on the rule's own characteristic.
            guard let target = target(nil, at: node) else { return nil }
            return answerValue(node, for: target).map {
                .init(target: target, value: $0, delay: .zero)
            }
        }
        guard let fields = reader.fields(node, AnswerSection.table) else { return nil }
        guard let value = fields[AnswerSection.value] else { return nil }
        let delay = fields.read(AnswerSection.after) ?? .zero
        guard let target = target(fields[AnswerSection.to], at: node) else { return nil }
        let isInPieces = fields.read(AnswerSection.pieces) != nil
        return answerValue(value, for: target).map {
            .init(target: target, value: $0, delay: delay, isInPieces: isInPieces)
        }
    }

    /// Parses the characteristic on which a value is sent.
    private func target(
        _ named: YAMLNode?, at node: YAMLNode, of key: String = "to"
    ) -> AttributeTree.Position? {
        guard let position = named == nil ? position : named.flatMap({ self.position($0, key) }) else {
            if named == nil {
                reader.error(
                    at: node,
                    "a rule of the device names the characteristic, as in {to: 2A37, value: {hex: 01}}")
            }
            return nil
        }
        let target = characteristic(at: position)
        if target?.properties.isDisjoint(with: .anyUpdate) == false { return position }
        reader.error(
            at: named ?? node,
            """
            no value can be sent on \(target?.uuid.description ?? "it"): it has neither notify nor \
            indicate
            """
        )
        return nil
    }

    private func position(_ node: YAMLNode, _ key: String) -> AttributeTree.Position? {
        guard let text = reader.text(node, key) else { return nil }
        do throws(AttributeName.Problem) {
            let position = try AttributeName(parsing: text).resolve(in: index)
            if position.characteristic != nil, position.descriptor == nil { return position }
            reader.error(at: node, "\(key) must name a characteristic, not \(Words.quote(text))")
        } catch {
            reader.error(at: node, "\(key): \(error.message)")
        }
        return nil
    }

    private func answerValue(_ node: YAMLNode, for target: AttributeTree.Position) -> AnswerValue? {
        let text = TextSection(reader: reader, scope: scope, isAnswer: true).read(node)
        if text.isWrong { return nil }
        if let template = text.template { return AnswerValue(form: .text(template)) }
        guard FieldsSection.isTyped(node) else {
            return ValueSection.constant(node, else: "an answer is hex, text, base64 or fields", reader)
                .map { AnswerValue(form: .bytes($0)) }
        }
        return FieldsSection(reader: reader, scope: scope).answer(node, on: characteristic(at: target))
            .map { AnswerValue(form: .fields($0)) }
    }

    /// Parses the characteristics whose values are sent: the rule's own for `now`, or those in a list.
    private func notified(_ node: YAMLNode) -> [AttributeTree.Position] {
        let name = Self.notify.name
        if node.scalar?.string == "now", trigger != .link { return target(nil, at: node).map { [$0] } ?? [] }
        if case .sequence = node {
            return reader.elements(node, name).compactMap { element in
                refusesNow(element, isInList: true) ? nil : target(element, at: element, of: name)
            }
        }
        if refusesNow(node, isInList: false) { return [] }
        return target(node, at: node, of: name).map { [$0] } ?? []
    }

    /// Reports the word `now` if it does not mean the rule's own characteristic; returns `false` if there is
    /// no error.
    private func refusesNow(_ node: YAMLNode, isInList: Bool) -> Bool {
        guard let text = node.scalar?.string, text.lowercased() == "now" else { return false }
        let problem =
            if trigger == .link {
                "now is a rule's own characteristic, and the device has none; name one, as in notify: 2A37"
            } else if isInList {
                "now is no element of a list; write notify: now, or a list as in [2A37]"
            } else {
                "notify has no \(Words.quote(text)); write notify: now"
            }
        reader.error(at: node, problem)
        return true
    }

    private func refusal(_ fields: Fields) -> ATTError? {
        guard let node = fields[Self.error] else { return nil }
        let error = fields.read(Self.error)
        if characteristic?.properties.isDisjoint(with: [.write, .reliableWrite]) != false {
            reader.error(
                at: node, "error is never sent: writeWithoutResponse gets no answer; add the property write")
        }
        return error
    }
}

/// The section `answer:` of a rule.
enum AnswerSection {
    static let to = Field(
        "to", .node("characteristic", .ref("attributeName")),
        doc: "The characteristic; left out: the one that was written.")
    static let value = Field(
        "value", .section("value"),
        missing: "an answer needs a value, as in {to: 2A37, value: {hex: 00 48}}",
        doc: "Its value: hex, text, base64 or fields.")
    static let after = Field(
        "after", .duration(atMost: .seconds(3600)), doc: "The time after the response; left out: at once.")
    static let pieces = Field(
        "pieces", Kind<ValuePieces>.word,
        doc: "mtu: a value longer than ATT_MTU − 3 is sent in pieces of that; left out: cut to it.")
    static let table = Section("answer", what: "an answer", [to, value, after, pieces])
}

/// The length of the pieces in which a value is sent.
enum ValuePieces: String, CaseIterable {
    /// The maximum number of bytes that a notification can carry: ATT_MTU − 3.
    case mtu
}

extension Kind<YAMLNode> {
    /// The format of a mapping from variables to their new values.
    static var changes: Kind {
        node("values by the names of variables", .map(to: .types("string", "number")))
    }
}

extension Kind<ATTError> {
    /// Makes the format of an ATT error: its code, or its name, such as `insufficientAuthorization`.
    static func attError(_ schema: @autoclosure @escaping @Sendable () -> Schema) -> Kind {
        Kind("name, or 1 to 255", schema()) { node, what, reader in
            guard let text = reader.text(node, what) else { return nil }
            if let error = ATTError(named: text) { return error }
            guard Words.number(text) != nil else {
                reader.error(
                    at: node, Words.unknown("ATT error \(Words.quote(text))", text, among: ATTError.names))
                return nil
            }
            return reader.integer(text, at: node, "an ATT error", in: 1...255).map {
                ATTError(code: UInt8(truncatingIfNeeded: $0))
            }
        }
    }
}
