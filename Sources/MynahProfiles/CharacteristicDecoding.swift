import MynahCore
import MynahSupport

// `characteristics:`
extension ProfileDecoder {
    mutating func characteristic(_ fields: Fields) -> Profile.Characteristic? {
        let uuid = characteristicUUID(fields)
        // Without a valid UUID the other keys are still checked.
        var result = Profile.Characteristic(
            uuid: uuid ?? BluetoothUUID(0 as UInt16), properties: properties(fields, of: uuid),
            permissions: .open, value: .bytes([]),
            layout: uuid.flatMap { KnownLayouts.layout(of: $0) }, every: nil,
            maximumLength: GATT.maximumValueLength, readError: nil, writeError: nil, descriptors: [],
            mark: fields.mark, marks: fields.marks)
        if let node = fields["permissions"] {
            result.permissions = permissions(node, known: ProfileKeys.permissions)
            checkPermissions(node, of: "characteristic", with: result.properties)
        }
        // Fields may have the layout that belongs to the UUID.
        if let node = fields["value"], uuid != nil || !Self.isTyped(node) || Self.hasLayout(node) {
            takeValue(node, of: &result)
        }
        result.every = fields["every"].flatMap { duration($0, "every", atLeast: .milliseconds(1)) }
        if let node = fields["maxLength"],
            let length = integer(node, "maxLength", in: 0...GATT.maximumValueLength)
        {
            result.maximumLength = length
        }
        if let node = fields["errors"] { errors(node, of: &result) }
        if let node = fields["ask"] { result.asked = asked(node, of: result) }
        if let node = fields["on"] { reactionNodes[fields.mark] = node }
        if let node = fields["descriptors"] { result.descriptors = descriptors(node, of: &result) }
        checkRules(&result, uuid?.description ?? "the characteristic", fields)
        return uuid == nil ? nil : result
    }

    private mutating func characteristicUUID(_ fields: Fields) -> BluetoothUUID? {
        guard let node = fields["uuid"] else {
            error(at: fields.mark, "a characteristic needs a uuid")
            return nil
        }
        let uuid = uuid(
            node, "characteristic", names: AssignedNumbers.characteristicNames,
            lookup: { AssignedNumbers.characteristic(named: $0) })
        if let uuid { checkType(uuid, "characteristic", at: node) }
        return uuid
    }

    private mutating func takeValue(_ node: YAMLNode, of characteristic: inout Profile.Characteristic) {
        if Self.isTyped(node) {
            typedValue(node, of: &characteristic)
        } else if let value = value(node) {
            characteristic.value = value
        }
    }

    private mutating func properties(_ fields: Fields, of uuid: BluetoothUUID?) -> CharacteristicProperties {
        let name = uuid.map { "the characteristic \($0)" } ?? "the characteristic"
        guard let node = fields["properties"] else {
            error(at: fields.mark, "\(name) needs properties, as in [read, notify]")
            return []
        }
        let errorsBefore = errorCount
        let properties = properties(node, among: CharacteristicProperties.named)
        // An unknown property may be any one, so all are assumed: no rule then reports a missing one.
        guard errorCount == errorsBefore else { return CharacteristicProperties(rawValue: 0x1FF) }
        if properties.isEmpty, case .sequence(let list) = node, list.isEmpty {
            error(at: node, "\(name) needs at least one property")
        }
        return properties
    }

    mutating func properties(
        _ node: YAMLNode, among named: [(name: String, property: CharacteristicProperties)]
    ) -> CharacteristicProperties {
        var properties: CharacteristicProperties = []
        for element in elements(node, "properties") {
            guard let text = text(element, "a property") else { continue }
            guard let property = named.first(where: { $0.name == text })?.property else {
                error(
                    at: element, Self.unknown("property \(Self.quote(text))", text, among: named.map(\.name)))
                continue
            }
            if properties.contains(property) { error(at: element, "the property \(text) is repeated") }
            properties.insert(property)
        }
        return properties
    }

    mutating func permissions(_ node: YAMLNode, known: [String]) -> AttributePermissions {
        var permissions = AttributePermissions()
        guard let fields = fields(node, "permissions", known: known) else { return permissions }
        func requirement(_ key: String, _ decoder: inout ProfileDecoder) -> SecurityRequirement? {
            fields[key].flatMap { decoder.choice($0, "permission", as: SecurityRequirement.self) }
        }
        if let read = requirement("read", &self) { permissions.read = read }
        if let write = requirement("write", &self) { permissions.write = write }
        if let notify = requirement("notify", &self) { permissions.notify = notify }
        return permissions
    }

    mutating func checkPermissions(
        _ node: YAMLNode, of what: String, with properties: CharacteristicProperties
    ) {
        guard case .mapping(let mapping) = node else { return }
        for (key, _) in mapping {
            switch key.scalar?.string {
            case "read" where !properties.contains(.read):
                error(at: key, "permissions.read has no effect: the \(what) has no read property")
            case "write" where properties.isDisjoint(with: .anyWrite):
                error(at: key, "permissions.write has no effect: the \(what) has no write property")
            case "notify" where what == "characteristic" && properties.isDisjoint(with: .anyUpdate):
                error(
                    at: key,
                    "permissions.notify has no effect: the \(what) has neither notify nor indicate")
            default: break
            }
        }
    }

    private mutating func errors(_ node: YAMLNode, of characteristic: inout Profile.Characteristic) {
        guard let fields = fields(node, "errors", known: ProfileKeys.errors) else { return }
        for key in ProfileKeys.errors {
            guard let node = fields[key], let code = integer(node, "an ATT error", in: 1...255) else {
                continue
            }
            characteristic.marks["errors.\(key)"] = node.mark
            let error = ATTError(code: UInt8(truncatingIfNeeded: code))
            checkIsAssigned(error, as: node)
            if key == "read" {
                characteristic.readError = error
                if !characteristic.properties.contains(.read) {
                    self.error(at: node, "errors.read is never sent: the characteristic has no read property")
                }
            } else {
                characteristic.writeError = error
                if characteristic.properties.isDisjoint(with: .anyWrite) {
                    self.error(
                        at: node, "errors.write is never sent: the characteristic has no write property")
                } else if characteristic.properties.isDisjoint(with: [.write, .reliableWrite]) {
                    self.error(
                        at: node,
                        """
                        errors.write is never sent: writeWithoutResponse gets no answer; add the \
                        property write
                        """
                    )
                }
            }
        }
    }

    /// 80 is meant to be 0x80 more often than 0x50, which nobody has assigned (Vol 3, Part F, 3.4.1.1).
    mutating func checkIsAssigned(_ error: ATTError, as node: YAMLNode) {
        let code = error.code
        guard code > 0x13, code < 0xFC, !ATTError.applicationCodes.contains(code) else { return }
        let text = node.scalar?.string ?? ""
        let meant = UInt8(text, radix: 16).map(ATTError.init(code:)).flatMap { other in
            ATTError.applicationCodes.contains(other.code) ? "; did you mean 0x\(text)?" : nil
        }
        warning(
            at: node.mark,
            """
            0x\(Hex.encode([code])) is a reserved error code; application errors are 0x80 to \
            0x9F\(meant ?? "")
            """
        )
    }

    /// The message about a value that is longer than its maximum length.
    static func excess(_ count: Int, _ maximum: Int, _ fields: Fields) -> String {
        let limit = fields["maxLength"] == nil ? "the maximum of 512" : "its maxLength of \(maximum)"
        return "the value has \(count) bytes, more than \(limit)"
    }

    private mutating func checkRules(
        _ characteristic: inout Profile.Characteristic, _ name: String, _ fields: Fields
    ) {
        if characteristic.every != nil, characteristic.properties.isDisjoint(with: .anyUpdate) {
            error(at: fields["every"], "every has no effect: \(name) has neither notify nor indicate")
        }
        let length: Int
        switch characteristic.value {
        case .bytes(let bytes): length = bytes.count
        case .generated(let generator): length = generator.maximumLength
        }
        if length > characteristic.maximumLength {
            error(at: fields["value"], Self.excess(length, characteristic.maximumLength, fields))
        }
        if fields["maxLength"] != nil, characteristic.properties.isDisjoint(with: .anyWrite) {
            warning(at: fields.mark(of: "maxLength"), "maxLength has no effect: \(name) is not writable")
        }
        if let node = fields["value"], !Self.isLayoutAlone(node), !characteristic.properties.isEmpty,
            characteristic.properties.isDisjoint(with: [.read, .notify, .indicate, .broadcast])
        {
            warning(
                at: fields.mark(of: "value"),
                "no central can get this value: \(name) has none of read, notify, indicate and broadcast")
        }
        checkAuxiliaries(of: characteristic, fields)
    }

    /// Vol 3, Part G, 3.3.3.1 and 3.3.3.2.
    private mutating func checkAuxiliaries(of characteristic: Profile.Characteristic, _ fields: Fields) {
        var seen: Set<BluetoothUUID> = []
        for descriptor in characteristic.descriptors {
            // Of the presentation formats there may be several, and nobody says so of one's own.
            let isOnce = [GATT.userDescription, "2905"].contains(descriptor.uuid)
            if !seen.insert(descriptor.uuid).inserted, isOnce {
                error(at: descriptor.mark, "a characteristic can have only one \(descriptor.uuid) descriptor")
            }
        }
        let isWritable = characteristic.descriptors.contains {
            $0.uuid == GATT.userDescription && $0.properties.contains(.write)
        }
        if characteristic.properties.contains(.writableAuxiliaries), !isWritable {
            warning(
                at: fields.mark(of: "properties"),
                "writableAuxiliaries needs a writable descriptor 2901, and there is none"
            )
        }
    }
}
