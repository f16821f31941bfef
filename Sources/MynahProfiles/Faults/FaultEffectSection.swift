import MynahCore
import MynahFaults
import MynahSupport
import MynahValues

/// The effects that are written as a word after the key `do`.
enum DoneEffect: String, CaseIterable {
    case drop, duplicate, reorder, noAnswer, disconnect, refuseSubscription, refuseConnection, loseBond
    case changeServices, advertise, vanish

    /// The keys for the parameters of the effect.
    var parameters: [String] {
        switch self {
        case .disconnect: ["reason"]
        case .loseBond: ["how"]
        case .changeServices: ["remove", "until"]
        case .advertise: ["with", "for", "until"]
        case .vanish: ["for"]
        case .drop, .duplicate, .reorder, .noAnswer, .refuseSubscription, .refuseConnection: []
        }
    }
}

/// The condition that ends an effect that lasts.
enum FaultEnd: String, CaseIterable {
    case disconnected
}

/// Parses the effect of a fault; a fault has at most one.
struct FaultEffectSection {
    static let error = Field(
        "error", .attError(.anyOf([.words(ATTError.names), .ref("attError")])),
        doc: "The ATT error that answers: its code or its name.")
    static let truncate = Field(
        "truncate", .integer(0...GATT.maximumValueLength - 1, "valueLength"),
        doc: "The number of bytes of the value that are left.")
    static let corrupt = Field(
        "corrupt", .corruption,
        doc: "Bytes that are changed by exclusive or, and the offset of the first, as in xor FF@2.")
    static let value = Field(
        "value", .node("`value` without `generate`", .ref("faultyValue")),
        doc: "Sent instead of the value: hex, text, base64 or fields.")
    static let mtu = Field(
        "mtu", .integer(GATT.defaultMTU...0xFFFF, "mtu"),
        doc: "The MTU that the device answers with, in bytes.")
    static let done = Field(
        "do", called: "effect", Kind<DoneEffect>.word, doc: "An effect without a parameter of its own.")
    static let effects: [any DeclaredField] = [error, truncate, corrupt, value, mtu, done]

    static let reason = Field("reason", .code, doc: "Of disconnect: the error code; left out: 0x13.")
    static let how = Field(
        "how", Kind<FaultEffect.LostBond>.word,
        doc: "Of loseBond: the answer to a central that encrypts; left out: reject.")
    static let remove = Field("remove", .attribute, doc: "Of changeServices: a service or a characteristic.")
    static let with = Field(
        "with", .section("advertisementChange"), doc: "Of advertise: the fields that change.")
    static let time = Field(
        "for", .duration(.microseconds(1)),
        doc: "Of advertise and vanish; left out: until it is turned off.")
    static let until = Field(
        "until", Kind<FaultEnd>.word,
        doc: "Of advertise and changeServices: until the central disconnects that it applied to.")
    /// The keys for parameters of the effects of `do`.
    static let parameters: [any DeclaredField] = [reason, how, remove, with, time, until]

    let fields: Fields
    private var reader: FormatReader { fields.reader }
    /// The attribute to which the fault applies, or `nil` for all attributes.
    let attribute: AttributeTree.Position?
    let scope: FaultScope

    /// Parses the effect, and the position of the attribute that `changeServices` removes.
    ///
    /// Reports a missing effect only if `isNeeded` is `true`.
    func read(isNeeded: Bool) -> (effect: FaultEffect?, removed: AttributeTree.Position?) {
        let keys = Self.effects.map(\.name).filter { fields[$0] != nil }
        checkParameters()
        guard keys.count <= 1 else {
            reader.error(
                at: fields.mark(of: keys[1]),
                "a fault has one effect, and this one has \(Words.list(keys)); make it \(keys.count) faults")
            return (nil, nil)
        }
        if keys.isEmpty, fields[FaultSection.delay] == nil, isNeeded {
            let known = Words.list(Self.effects.map(\.name) + ["delay"], "or")
            reader.error(at: fields.mark, "a fault needs an effect: \(known)")
        }
        return fields[Self.done] == nil ? (writtenEffect(), nil) : doneEffect()
    }

    /// Reports parameters that belong to an effect that the fault does not have.
    private func checkParameters() {
        let word = fields[Self.done]?.scalar?.string ?? ""
        // The parameters of an unknown effect cannot be checked.
        if fields[Self.done] != nil, DoneEffect(rawValue: word) == nil { return }
        let allowed = DoneEffect(rawValue: word)?.parameters ?? []
        for key in Self.parameters.map(\.name) where fields[key] != nil && !allowed.contains(key) {
            let owners = DoneEffect.allCases.filter { $0.parameters.contains(key) }.map(\.rawValue)
            reader.error(
                at: fields.mark(of: key), "\(key) has no effect without do: \(Words.list(owners, "or"))")
        }
    }

    private func writtenEffect() -> FaultEffect? {
        if let error = fields.read(Self.error) {
            if let node = fields[Self.error], Words.number(node.scalar?.string ?? "") != nil {
                reader.checkIsAssigned(error, as: node)
            }
            return .error(error)
        }
        if let length = fields.read(Self.truncate) { return .truncate(length) }
        if let corruption = fields.read(Self.corrupt) { return .corrupt(corruption) }
        if let mtu = fields.read(Self.mtu) { return .mtu(mtu) }
        guard let node = fields[Self.value] else { return nil }
        return (FieldsSection.isTyped(node) ? faultyFields(node) : faultyValue(node))
            .map { .value($0) }
    }

    private func faultyValue(_ node: YAMLNode) -> [UInt8]? {
        let changes = "the value of a fault does not change: write hex, text, base64 or fields"
        guard let bytes = ValueSection.constant(node, else: changes, reader) else { return nil }
        if bytes.count > GATT.maximumValueLength {
            reader.error(
                at: node,
                "the value has \(bytes.count) bytes, more than the maximum of \(GATT.maximumValueLength)")
        }
        return bytes
    }

    /// Returns the bytes of `{fields: {heartRate: 300}}` in the layout of the fault's attribute.
    private func faultyFields(_ node: YAMLNode) -> [UInt8]? {
        guard let value = reader.fields(node, FieldsSection.faultTable),
            let node = value[FieldsSection.fields]
        else { return nil }
        guard let layout = attribute.flatMap({ scope.attribute($0)?.layout }) else {
            if fields[FaultSection.of] == nil {
                reader.error(at: node, "fields are those of an attribute: add of, or write hex")
            } else if attribute != nil {
                reader.error(at: node, "the fields of the attribute are not known: write hex")
            }
            return nil
        }
        let names = FieldScope(variables: scope.variables)
        return FieldsSection(reader: reader, scope: names).constant(node, in: layout)
    }

    // MARK: do

    private func doneEffect() -> (effect: FaultEffect?, removed: AttributeTree.Position?) {
        guard let node = fields[Self.done], let word = reader.text(node, "do") else { return (nil, nil) }
        if Self.effects.contains(where: { $0.name == word }) || word == FaultSection.delay.name {
            reader.error(
                at: node, "\(word) takes a parameter, so it is a key of its own; write \(word) for do")
            return (nil, nil)
        }
        guard let done = fields.read(Self.done) else { return (nil, nil) }
        switch done {
        case .drop: return (.drop, nil)
        case .duplicate: return (.duplicate, nil)
        case .reorder: return (.reorder, nil)
        case .noAnswer: return (.noAnswer, nil)
        case .refuseSubscription: return (.refuseSubscription, nil)
        case .refuseConnection: return (.refuseConnection, nil)
        case .disconnect:
            let reason = fields.read(Self.reason) ?? FaultEffect.usualReason
            return (.disconnect(reason: reason), nil)
        case .loseBond: return (.loseBond(fields.read(Self.how) ?? .reject), nil)
        case .changeServices:
            guard let remove = fields[Self.remove] else {
                reader.error(at: node, "changeServices needs remove, a service or a characteristic")
                return (nil, nil)
            }
            guard let removed = scope.removed(remove, reader) else { return (nil, nil) }
            return (.changeServices(removing: AttributeKey()), removed)
        case .advertise:
            guard let with = fields[Self.with] else {
                reader.error(at: node, "advertise needs with, as in with: {localName: DFU}")
                return (nil, nil)
            }
            let time = fields.read(Self.time)
            let advertisement = AdvertisementChangeSection.read(with, in: scope, reader)
            return (advertisement.map { .advertise($0, for: time) }, nil)
        case .vanish: return (.vanish(for: fields.read(Self.time)), nil)
        }
    }
}

extension Kind<FaultEffect.Corruption> {
    /// The format `xor FF@2`: the bytes, and the index of the first changed byte, which is 0 by default.
    fileprivate static var corruption: Kind {
        Kind("`xor` bytes`@`offset", .types("string", pattern: "^xor [0-9A-Fa-f :-]+(@[0-9]+)?$")) {
            node, what, reader in
            guard let text = reader.text(node, what) else { return nil }
            let parts = text.dropFirst(4).split(separator: "@", omittingEmptySubsequences: false)
            guard text.hasPrefix("xor "), (1...2).contains(parts.count), let mask = Hex.decode(parts[0]),
                !mask.isEmpty
            else {
                reader.error(
                    at: node,
                    """
                    \(what) must be bytes and the offset of the first, as in xor FF@2 or xor 01 80@0, not \
                    \(Words.quote(text))
                    """)
                return nil
            }
            guard parts.count == 2 else { return .init(xor: mask, at: 0) }
            let last = GATT.maximumValueLength - 1
            return reader.integer(String(parts[1]), at: node, "the offset of \(what)", in: 0...last)
                .map { .init(xor: mask, at: $0) }
        }
    }
}
