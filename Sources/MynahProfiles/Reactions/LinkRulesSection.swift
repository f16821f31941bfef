import MynahCore

/// The section `on:` of a device.
enum LinkRulesSection {
    static let connect = Field(
        "connect", .sections("reaction"),
        doc: "The first rule whose when holds, after a central has connected.")
    static let disconnect = Field(
        "disconnect", .sections("reaction"),
        doc: "The same, after a central has disconnected, which gets no answer any more.")
    static let pair = Field("pair", .sections("reaction"), doc: "The same, after a central has paired.")
    static let table = Section("onLink", what: "on", [connect, disconnect, pair])

    /// Parses the rules; all attributes to which they may refer must be known.
    static func read(_ node: YAMLNode, into profile: inout Profile, _ reader: FormatReader) {
        guard profile.app == nil else {
            return reader.error(
                at: node, "on is for accessories: iOS tells an app of no connection and no pairing")
        }
        let refused = [
            "write": "write is a key of on: of a characteristic",
            "subscribe": "subscribe is a key of on: of a characteristic",
        ]
        guard let fields = reader.fields(node, table, refused: refused) else { return }
        let section = ReactionSection(
            reader: reader, profile: profile, index: AttributeIndex(profile.attributeTree),
            scope: FieldScope(variables: profile.variables), trigger: .link)
        func rules(_ field: Field<YAMLNode>) -> [Reaction] {
            guard let node = fields[field] else { return [] }
            let rules = reader.elements(node, "on.\(field.name)").compactMap { section.read($0) }
            OnSection.checkAreReached(rules, node, reader)
            return rules
        }
        profile.linkRules.connect = rules(connect)
        profile.linkRules.disconnect = rules(disconnect)
        profile.linkRules.pair = rules(pair)
        for rule in profile.linkRules.disconnect where rule.disconnects || !rule.answers.isEmpty {
            reader.error(
                at: fields[disconnect],
                "a rule of on.disconnect has neither disconnect nor answer: the link has ended already")
        }
    }
}
