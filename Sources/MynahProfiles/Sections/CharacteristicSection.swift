import MynahCore
import MynahSupport
import MynahValues

/// The words for sending values to centrals without a subscription.
enum SubscriptionWord: String, CaseIterable {
    case none, always

    fileprivate var subscription: UpdateRules.Subscription { self == .none ? .none : .always }
}

/// An entry of the section `characteristics`.
struct CharacteristicSection {
    static let uuid = Field(
        "uuid", .uuid(of: .characteristic), missing: "a characteristic needs a uuid",
        doc: "The SIG's name, or a number of 16, 32 or 128 bits.")
    static let properties = Field(
        "properties", .properties(CharacteristicProperties.named.map(\.name)),
        doc: "The operations that it allows.")
    static let permissions = Field(
        "permissions", .section("permissions"), doc: "The security that each use requires; left out: open.")
    static let value = Field(
        "value", .section("value"), doc: "Its value: hex, text, base64, generate or fields.")
    static let every = Field(
        "every", .duration(.milliseconds(1)), doc: "The interval at which it is sent to subscribers.")
    static let subscription = Field(
        "subscription", Kind<SubscriptionWord>.word,
        doc: """
            none: it has no 2902, and its values are sent to every central; always: they are, whether or not \
            2902 was written; left out: to those that have subscribed. Not on BlueZ.
            """)
    static let pieces = Field(
        "pieces", Kind<ValuePieces>.word,
        doc: """
            mtu: a value that is longer than ATT_MTU − 3 is sent in pieces of that; left out: cut to it.
            """)
    static let maxLength = Field(
        "maxLength", .integer(0...GATT.maximumValueLength, "valueLength"),
        doc: "The longest value that may be written, in bytes; left out: 512.")
    static let errors = Field("errors", .section("errors"), doc: "ATT errors instead of answers.")
    static let ask = Field(
        "ask",
        .words(AskedAccess.named.map(\.name), each: "request", atLeast: 1) { "ask: \($0) is repeated" },
        doc: "Requests that a test answers over the control API.")
    static let on = Field("on", .section("on"), doc: "Rules for writes and subscriptions of centrals.")
    static let descriptors = Field(
        "descriptors", .sections("descriptor"),
        doc: "Its descriptors, without 2900 and 2902: the radio makes those.")
    static let table = Section(
        "characteristic", what: "a characteristic",
        [
            uuid, properties, permissions, value, every, subscription, pieces, maxLength, errors, ask, on,
            descriptors,
        ])

    /// The characteristic as parsed so far.
    private var result: Profile.Characteristic
    private let fields: Fields
    private var reader: FormatReader { fields.reader }
    /// The UUID, or `nil` if it is missing or invalid.
    private let uuid: BluetoothUUID?

    /// Parses a characteristic; returns its rules unparsed, because they may refer to attributes that follow.
    static func read(
        _ node: YAMLNode, in scope: FieldScope, _ reader: FormatReader
    ) -> (characteristic: Profile.Characteristic, rules: YAMLNode?)? {
        guard let fields = reader.fields(node, table) else { return nil }
        let uuid = fields.read(uuid)
        // The other keys are checked even if the UUID is invalid.
        var section = CharacteristicSection(fields, uuid)
        section.read(scope)
        return uuid == nil ? nil : (section.result, fields[on])
    }

    private init(_ fields: Fields, _ uuid: BluetoothUUID?) {
        self.fields = fields
        self.uuid = uuid
        result = Profile.Characteristic(
            uuid: uuid ?? BluetoothUUID(0 as UInt16), properties: [], permissions: .open, value: .bytes([]),
            layout: uuid.flatMap { KnownLayouts.layout(of: $0) }, every: nil,
            maximumLength: GATT.maximumValueLength, readError: nil, writeError: nil, descriptors: [],
            mark: fields.mark, marks: fields.marks)
    }

    private mutating func read(_ scope: FieldScope) {
        result.properties = properties()
        if let node = fields[Self.permissions] {
            result.permissions = PermissionsSection.read(
                node, of: .characteristic, with: result.properties, reader)
        }
        // A value written as fields may use the known layout for the UUID.
        if let node = fields[Self.value],
            uuid != nil || !FieldsSection.isTyped(node) || FieldsSection.hasLayout(node)
        {
            takeValue(node, scope)
        }
        fields.read(Self.every, into: &result.every)
        result.updates.isInPieces = fields.read(Self.pieces) != nil
        if let word = fields.read(Self.subscription) { result.updates.subscription = word.subscription }
        for key in [Self.pieces.name, Self.subscription.name]
        where fields[key] != nil && result.properties.isDisjoint(with: .anyUpdate) {
            reader.error(
                at: fields.mark(of: key),
                "\(key) has no effect: the characteristic has neither notify nor indicate")
        }
        if fields[Self.subscription] != nil, result.permissions.notify != .open {
            reader.error(
                at: fields.mark(of: Self.subscription.name),
                """
                subscription sends to every central, and permissions.notify requires security; leave one out
                """)
        }
        fields.read(Self.maxLength, into: &result.maximumLength)
        if let node = fields[Self.errors] { ErrorsSection.read(node, into: &result, reader) }
        result.asked = asked()
        if let node = fields[Self.descriptors] { takeDescriptors(node) }
        checkUse()
        checkAuxiliaries()
    }

    private func properties() -> CharacteristicProperties {
        let name = uuid.map { "the characteristic \($0)" } ?? "the characteristic"
        guard let node = fields[Self.properties] else {
            reader.error(at: fields.mark, "\(name) needs properties, as in [read, notify]")
            return []
        }
        let errorsBefore = reader.errorCount
        let words = fields.read(Self.properties) ?? []
        // If a property is invalid, all properties are assumed, so that no check reports a missing one.
        guard reader.errorCount == errorsBefore else { return CharacteristicProperties(rawValue: 0x1FF) }
        if words.isEmpty { reader.error(at: node, "\(name) needs at least one property") }
        return CharacteristicProperties(words)
    }

    private mutating func takeValue(_ node: YAMLNode, _ scope: FieldScope) {
        let text = TextSection(reader: reader, scope: scope).read(node)
        if let template = text.template {
            result.value = .generated(template)
        } else if text.isWrong {
            return
        } else if FieldsSection.isTyped(node) {
            let typed = FieldsSection(reader: reader, scope: scope).value(
                node, of: "\(result.uuid)", usual: result.layout)
            result.layout = typed.layout
            if let value = typed.value { result.value = value }
        } else if let value = ValueSection.read(node, reader) {
            result.value = value
        }
    }

    private mutating func takeDescriptors(_ node: YAMLNode) {
        for element in reader.elements(node, "descriptors") {
            guard let descriptor = DescriptorSection.read(element, reader) else { continue }
            if descriptor.uuid == GATT.userDescription, descriptor.properties.contains(.write),
                !result.properties.contains(.writableAuxiliaries)
            {
                reader.warning(
                    at: descriptor.mark,
                    """
                    a writable 2901 needs the property writableAuxiliaries on its characteristic; it was added
                    """
                )
                result.properties.insert(.writableAuxiliaries)
            }
            result.descriptors.append(descriptor)
        }
    }

    // MARK: Ask

    private func asked() -> AskedAccess {
        var asked: AskedAccess = []
        let words = fields.read(Self.ask) ?? []
        if case .sequence(let list)? = fields[Self.ask], list.isEmpty {
            reader.error(at: fields[Self.ask], "ask needs read, write or both")
        }
        for (word, node) in words.map({ ($0.word, $0.node) }) {
            guard let access = AskedAccess.named.first(where: { $0.name == word })?.access else { continue }
            if let problem = problem(of: access, word) { reader.error(at: node, problem) }
            asked.insert(access)
        }
        return asked
    }

    /// The reason that no request of this kind can be passed to a test, or `nil` if one can.
    private func problem(of access: AskedAccess, _ word: String) -> String? {
        let properties = result.properties
        let error: ATTError?
        if access == .read {
            guard properties.contains(.read) else {
                return "ask: read has no effect: the characteristic has no read property"
            }
            error = result.readError
        } else {
            guard !properties.isDisjoint(with: .anyWrite) else {
                return "ask: write has no effect: the characteristic has no write property"
            }
            guard !properties.isDisjoint(with: [.write, .reliableWrite]) else {
                return """
                    ask: write has no effect: a write without response gets no answer; add the property write
                    """
            }
            error = result.writeError
        }
        return error.map { _ in
            "ask: \(word) has no effect: errors.\(word) answers each \(word); remove one of them"
        }
    }

    // MARK: Rules

    private func checkUse() {
        let name = uuid?.description ?? "the characteristic"
        let properties = result.properties
        if result.every != nil, properties.isDisjoint(with: .anyUpdate) {
            reader.error(
                at: fields[Self.every], "every has no effect: \(name) has neither notify nor indicate")
        }
        let length =
            switch result.value {
            case .bytes(let bytes): bytes.count
            case .generated(let generator): generator.maximumLength
            }
        fields.checkLength(length, result.maximumLength, reader)
        if fields[Self.maxLength] != nil, properties.isDisjoint(with: .anyWrite) {
            reader.warning(
                at: fields.mark(of: Self.maxLength), "maxLength has no effect: \(name) is not writable")
        }
        if let node = fields[Self.value], !FieldsSection.isLayoutAlone(node), !properties.isEmpty,
            properties.isDisjoint(with: [.read, .notify, .indicate, .broadcast])
        {
            reader.warning(
                at: fields.mark(of: Self.value),
                "no central can get this value: \(name) has none of read, notify, indicate and broadcast")
        }
    }

    /// Reports a descriptor that is declared twice.
    ///
    /// Also reports the property `writableAuxiliaries` if there is no writable user description (Vol 3, Part
    /// G, 3.3.3.1 and 3.3.3.2).
    private func checkAuxiliaries() {
        var seen: Set<BluetoothUUID> = []
        for descriptor in result.descriptors {
            // There may be several presentation formats, and the specification does not limit custom
            // descriptors.
            let isOnce = [GATT.userDescription, "2905"].contains(descriptor.uuid)
            if !seen.insert(descriptor.uuid).inserted, isOnce {
                reader.error(
                    at: descriptor.mark, "a characteristic can have only one \(descriptor.uuid) descriptor")
            }
        }
        let isWritable = result.descriptors.contains {
            $0.uuid == GATT.userDescription && $0.properties.contains(.write)
        }
        if result.properties.contains(.writableAuxiliaries), !isWritable {
            reader.warning(
                at: fields.mark(of: Self.properties),
                "writableAuxiliaries needs a writable descriptor 2901, and there is none"
            )
        }
    }
}

extension Fields {
    /// Reports a value of a characteristic or a descriptor that exceeds its maximum length.
    func checkLength(_ count: Int, _ maximum: Int, _ reader: FormatReader) {
        guard count > maximum else { return }
        let isSaid = self[CharacteristicSection.maxLength] != nil
        let limit = isSaid ? "its maxLength of \(maximum)" : "the maximum of 512"
        reader.error(
            at: self[CharacteristicSection.value], "the value has \(count) bytes, more than \(limit)")
    }
}

extension Kind<[PlacedWord]> {
    /// Makes the format of the properties of a characteristic or a descriptor.
    static func properties(_ names: [String]) -> Kind {
        .words(names, each: "property", atLeast: 1) { "the property \($0) is repeated" }
    }
}

extension CharacteristicProperties {
    /// Makes the set of properties with these names.
    init(_ words: [PlacedWord]) {
        self = Self.named.reduce(into: []) { properties, named in
            if words.contains(where: { $0.word == named.name }) { properties.insert(named.property) }
        }
    }
}
