import MynahCore
import MynahSupport

/// The effects that are words of `do`.
enum DoneEffect: String, CaseIterable {
    case drop, duplicate, reorder, noAnswer, disconnect, refuseSubscription, refuseConnection, loseBond
    case changeServices, advertise, vanish

    /// The keys that say more about it.
    var parameters: [String] {
        switch self {
        case .disconnect: ["reason"]
        case .loseBond: ["how"]
        case .changeServices: ["remove"]
        case .advertise: ["with", "for"]
        case .vanish: ["for"]
        case .drop, .duplicate, .reorder, .noAnswer, .refuseSubscription, .refuseConnection: []
        }
    }
}

// The effects of `faults:`
extension ProfileDecoder {
    /// The effect of a fault, and the position that `changeServices` removes.
    mutating func faultEffect(
        _ fields: Fields, of attribute: AttributeTree.Position?, in scope: FaultScope, isNeeded: Bool
    ) -> (effect: FaultEffect?, removed: AttributeTree.Position?) {
        let keys = ProfileKeys.faultEffects.filter { fields[$0] != nil }
        checkParameters(fields)
        guard keys.count <= 1 else {
            error(
                at: fields.mark(of: keys[1]),
                "a fault has one effect, and this one has \(Self.list(keys)); make it \(keys.count) faults")
            return (nil, nil)
        }
        guard let key = keys.first, let node = fields[key] else {
            if fields["delay"] == nil, isNeeded {
                let known = Self.list(ProfileKeys.faultEffects + ["delay"], "or")
                error(at: fields.mark, "a fault needs an effect: \(known)")
            }
            return (nil, nil)
        }
        if key == "do" { return doneEffect(node, fields, in: scope) }
        if key == "value", Self.isTyped(node) {
            let layout = attribute.flatMap { scope.attribute($0)?.layout }
            return (faultyFields(node, layout, of: attribute, fields).map { .value($0) }, nil)
        }
        return (writtenEffect(key, node), nil)
    }

    /// A key that says more about an effect needs that effect.
    private mutating func checkParameters(_ fields: Fields) {
        let word = fields["do"]?.scalar?.string ?? ""
        // Of a wrong word, nothing is known.
        if fields["do"] != nil, DoneEffect(rawValue: word) == nil { return }
        let allowed = DoneEffect(rawValue: word)?.parameters ?? []
        for key in ProfileKeys.faultParameters where fields[key] != nil && !allowed.contains(key) {
            let owners = DoneEffect.allCases.filter { $0.parameters.contains(key) }.map(\.rawValue)
            error(
                at: fields.mark(of: key), "\(key) has no effect without do: \(Self.list(owners, "or"))")
        }
    }

    private mutating func writtenEffect(_ key: String, _ node: YAMLNode) -> FaultEffect? {
        switch key {
        case "error": return attError(node).map { .error($0) }
        case "truncate":
            let longest = GATT.maximumValueLength - 1
            return integer(node, "truncate", in: 0...longest).map { .truncate($0) }
        case "corrupt": return corruption(node).map { .corrupt($0) }
        case "mtu": return integer(node, "mtu", in: GATT.defaultMTU...0xFFFF).map { .mtu($0) }
        default:
            guard let value = value(node) else { return nil }
            guard case .bytes(let bytes) = value else {
                error(at: node, "the value of a fault does not change: write hex, text, base64 or fields")
                return nil
            }
            if bytes.count > GATT.maximumValueLength {
                error(
                    at: node,
                    "the value has \(bytes.count) bytes, more than the maximum of \(GATT.maximumValueLength)")
            }
            return .value(bytes)
        }
    }

    /// The bytes of `{fields: {heartRate: 300}}` in the layout of the fault's attribute.
    private mutating func faultyFields(
        _ node: YAMLNode, _ layout: ValueLayout?, of attribute: AttributeTree.Position?, _ fault: Fields
    ) -> [UInt8]? {
        guard let value = fields(node, "the value of a fault", known: ["fields"]), let node = value["fields"]
        else { return nil }
        guard let layout else {
            if fault["of"] == nil {
                error(at: node, "fields are those of an attribute: add of, or write hex")
            } else if attribute != nil {
                error(at: node, "the fields of the attribute are not known: write hex")
            }
            return nil
        }
        return constantFields(node, in: layout)
    }

    /// A code, or its name as in `insufficientAuthorization`.
    private mutating func attError(_ node: YAMLNode) -> ATTError? {
        guard let text = text(node, "error") else { return nil }
        if Self.number(text) == nil {
            if let error = ATTError(named: text) { return error }
            error(at: node, Self.unknown("ATT error \(Self.quote(text))", text, among: ATTError.names))
            return nil
        }
        guard let code = integer(node, "an ATT error", in: 1...255) else { return nil }
        let result = ATTError(code: UInt8(truncatingIfNeeded: code))
        checkIsAssigned(result, as: node)
        return result
    }

    /// `xor FF@2`: bytes, and the offset of the first, which is 0 if it is left out.
    private mutating func corruption(_ node: YAMLNode) -> FaultEffect.Corruption? {
        guard let text = text(node, "corrupt") else { return nil }
        let parts = text.dropFirst(4).split(separator: "@", omittingEmptySubsequences: false)
        guard text.hasPrefix("xor "), (1...2).contains(parts.count), let mask = Hex.decode(parts[0]),
            !mask.isEmpty
        else {
            error(
                at: node,
                """
                corrupt must be bytes and the offset of the first, as in xor FF@2 or xor 01 80@0, not \
                \(Self.quote(text))
                """)
            return nil
        }
        let last = GATT.maximumValueLength - 1
        guard parts.count == 2 else { return .init(xor: mask, at: 0) }
        let offset = integer(String(parts[1]), at: node, "the offset of corrupt", in: 0...last)
        return offset.map { .init(xor: mask, at: $0) }
    }

    // MARK: do

    private mutating func doneEffect(
        _ node: YAMLNode, _ fields: Fields, in scope: FaultScope
    ) -> (effect: FaultEffect?, removed: AttributeTree.Position?) {
        guard let word = text(node, "do") else { return (nil, nil) }
        if ProfileKeys.faultEffects.contains(word) || word == "delay" {
            error(at: node, "\(word) takes a parameter, so it is a key of its own; write \(word) for do")
            return (nil, nil)
        }
        guard let done = choice(node, "effect", as: DoneEffect.self) else { return (nil, nil) }
        switch done {
        case .drop: return (.drop, nil)
        case .duplicate: return (.duplicate, nil)
        case .reorder: return (.reorder, nil)
        case .noAnswer: return (.noAnswer, nil)
        case .refuseSubscription: return (.refuseSubscription, nil)
        case .refuseConnection: return (.refuseConnection, nil)
        case .disconnect:
            let reason = fields["reason"].flatMap { integer($0, "reason", in: 1...0xFF) }
            let code = reason.map { UInt8(truncatingIfNeeded: $0) } ?? FaultEffect.usualReason
            return (.disconnect(reason: code), nil)
        case .loseBond:
            let how = fields["how"].flatMap { choice($0, "how", as: FaultEffect.LostBond.self) }
            return (.loseBond(how ?? .reject), nil)
        case .changeServices:
            guard let node = fields["remove"] else {
                error(at: node, "changeServices needs remove, a service or a characteristic")
                return (nil, nil)
            }
            guard let removed = removedAttribute(node, in: scope) else { return (nil, nil) }
            return (.changeServices(removing: AttributeKey()), removed)
        case .advertise:
            guard let node = fields["with"] else {
                error(at: node, "advertise needs with, as in with: {localName: DFU}")
                return (nil, nil)
            }
            let time = faultTime(fields)
            return (faultyAdvertisement(node, in: scope).map { .advertise($0, for: time) }, nil)
        case .vanish: return (.vanish(for: faultTime(fields)), nil)
        }
    }

    private mutating func faultTime(_ fields: Fields) -> Duration? {
        fields["for"].flatMap { duration($0, "for", atLeast: .microseconds(1)) }
    }

    private mutating func faultyAdvertisement(
        _ node: YAMLNode, in scope: FaultScope
    ) -> FaultyAdvertisement? {
        let errorsBefore = errorCount
        guard let fields = fields(node, "with", known: ProfileKeys.faultAdvertising) else { return nil }
        var change = FaultyAdvertisement()
        if let node = fields["localName"] {
            let isNone = node.scalar.map { $0.string.isEmpty && !$0.isPlain } ?? false
            change.localName = isNone ? "" : text(node, "localName")
            checkIsPrintable(change.localName ?? "", "localName", at: node)
        }
        if fields["serviceUUIDs"] != nil { change.serviceUUIDs = uuids(fields, "serviceUUIDs") }
        if let node = fields["manufacturerData"] { change.manufacturerData = manufacturerData(node) }
        if let node = fields["serviceData"] { change.serviceData = serviceData(node) }
        if let node = fields["appearance"] { change.appearance = appearance(node) }
        if let node = fields["interval"] { change.interval = interval(node, "interval") }
        if let node = fields["connectable"] { change.isConnectable = bool(node, "connectable") }
        guard errorCount == errorsBefore else { return nil }
        guard let advertisement = scope.advertisement else {
            if scope.isWhole { error(at: node, "advertise has no effect: the device does not advertise") }
            return nil
        }
        do throws(AdvertisementError) {
            _ = try AccessoryAdvertising.compose(change.applied(to: advertisement))
        } catch {
            self.error(at: fields.mark(of: error.field), "\(error); shorten it, or leave something else out")
        }
        return change
    }
}
