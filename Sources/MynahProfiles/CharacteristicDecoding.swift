import MynahCore
import MynahSupport
import Yams

// Characteristics and descriptors.
extension ProfileDecoder {
    mutating func characteristic(_ fields: Fields) -> Profile.Characteristic? {
        guard let node = fields["uuid"] else {
            error(at: fields.mark, "a characteristic needs a uuid")
            return nil
        }
        guard
            let uuid = uuid(
                node, "characteristic", names: AssignedNumbers.characteristicNames,
                lookup: { AssignedNumbers.characteristic(named: $0) })
        else { return nil }
        var result = Profile.Characteristic(
            uuid: uuid, properties: properties(fields, of: uuid), permissions: .open, value: .bytes([]),
            every: nil,
            maximumLength: GATT.maximumValueLength, readError: nil, writeError: nil, descriptors: [],
            mark: fields.mark, marks: fields.marks)
        if let node = fields["permissions"] {
            result.permissions = permissions(node, known: ProfileKeys.permissions)
            checkPermissions(node, result)
        }
        if let node = fields["value"], let value = value(node) { result.value = value }
        result.every = fields["every"].flatMap { duration($0, "every", atLeast: .milliseconds(1)) }
        if let node = fields["maxLength"],
            let length = integer(node, "maxLength", in: 0...GATT.maximumValueLength)
        {
            result.maximumLength = length
        }
        if let node = fields["errors"] { errors(node, of: &result) }
        if let node = fields["descriptors"] { result.descriptors = descriptors(node, of: &result) }
        checkRules(&result, fields)
        return result
    }

    private mutating func properties(_ fields: Fields, of uuid: BluetoothUUID) -> CharacteristicProperties {
        guard let node = fields["properties"] else {
            error(at: fields.mark, "the characteristic \(uuid) needs properties, as in [read, notify]")
            return []
        }
        let properties = properties(node, among: CharacteristicProperties.named)
        if properties.isEmpty, case .sequence(let list) = node, list.isEmpty {
            error(at: node, "the characteristic \(uuid) needs at least one property")
        }
        return properties
    }

    private mutating func properties(
        _ node: Node, among named: [(name: String, property: CharacteristicProperties)]
    ) -> CharacteristicProperties {
        var properties: CharacteristicProperties = []
        for element in elements(node, "properties") {
            guard let text = text(element, "a property") else { continue }
            guard let property = named.first(where: { $0.name == text })?.property else {
                error(at: element, Self.unknown("property \"\(text)\"", text, among: named.map(\.name)))
                continue
            }
            if properties.contains(property) { error(at: element, "the property \(text) is there twice") }
            properties.insert(property)
        }
        return properties
    }

    private mutating func permissions(_ node: Node, known: [String]) -> AttributePermissions {
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

    private mutating func checkPermissions(_ node: Node, _ characteristic: Profile.Characteristic) {
        guard case .mapping(let mapping) = node else { return }
        let properties = characteristic.properties
        for (key, _) in mapping {
            switch key.scalar?.string {
            case "read" where !properties.contains(.read):
                error(at: key, "permissions.read says nothing: the characteristic has no read property")
            case "write" where properties.isDisjoint(with: .anyWrite):
                error(at: key, "permissions.write says nothing: the characteristic has no write property")
            case "notify" where properties.isDisjoint(with: .anyUpdate):
                error(
                    at: key,
                    "permissions.notify says nothing: the characteristic has neither notify nor indicate")
            default: break
            }
        }
    }

    private mutating func errors(_ node: Node, of characteristic: inout Profile.Characteristic) {
        guard let fields = fields(node, "errors", known: ProfileKeys.errors) else { return }
        for key in ProfileKeys.errors {
            guard let node = fields[key], let code = integer(node, "an ATT error", in: 1...255) else {
                continue
            }
            characteristic.marks["errors.\(key)"] = Self.mark(node)
            let error = ATTError(code: UInt8(code))
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
                }
            }
        }
    }

    private mutating func checkRules(_ characteristic: inout Profile.Characteristic, _ fields: Fields) {
        let uuid = characteristic.uuid
        if characteristic.every != nil, characteristic.properties.isDisjoint(with: .anyUpdate) {
            error(at: fields["every"], "every has nobody to send to: \(uuid) has neither notify nor indicate")
        }
        let length: Int
        switch characteristic.value {
        case .bytes(let bytes): length = bytes.count
        case .generated(let generator): length = generator.maximumLength
        }
        if length > characteristic.maximumLength {
            error(
                at: fields["value"],
                "the value has \(length) bytes, more than \(fields["maxLength"] == nil ? "the 512 of any value" : "its maxLength of \(characteristic.maximumLength)")"
            )
        }
        if fields["maxLength"] != nil, characteristic.properties.isDisjoint(with: .anyWrite) {
            warning(at: fields.mark(of: "maxLength"), "maxLength says nothing: nobody can write \(uuid)")
        }
    }

    // MARK: Values

    mutating func value(_ node: Node) -> Profile.Value? {
        guard case .mapping(let mapping) = node else {
            error(
                at: node,
                "a value must say how it is written, as in {hex: 01 02}, {text: Pulse}, {base64: AQI=} or {generate: heart-rate}"
            )
            return nil
        }
        let forms = mapping.compactMap { pair in pair.key.scalar.map(\.string) }
            .filter { ProfileKeys.valueForms.contains($0) }
        guard forms.count == 1, let form = forms.first else {
            error(
                at: node,
                forms.isEmpty
                    ? "a value needs one of \(Self.list(ProfileKeys.valueForms))\(nearForm(mapping))"
                    : "a value is written one way, and this one has \(Self.list(forms))")
            return nil
        }
        if form == "generate" { return generated(node, mapping) }
        guard let fields = fields(node, "a value", known: [form]), let content = fields[form] else {
            return nil
        }
        switch form {
        case "hex": return bytes(content, "hex").map { .bytes($0) }
        case "text":
            guard let scalar = content.scalar else {
                error(at: content, "text must be one value, not \(Self.shape(of: content))")
                return nil
            }
            return .bytes(Array(scalar.string.utf8))
        default:
            guard let text = text(content, "base64") else { return nil }
            guard let bytes = Base64.decode(text) else {
                error(
                    at: content, "base64 must be groups of four of A-Z, a-z, 0-9, + and /, with = at the end")
                return nil
            }
            return .bytes(bytes)
        }
    }

    private func nearForm(_ mapping: Node.Mapping) -> String {
        let near = mapping.lazy.compactMap { $0.key.scalar?.string }
            .compactMap { NearestName.of($0, among: ProfileKeys.valueForms) }
        return near.first.map { "; did you mean \"\($0)\"?" } ?? ""
    }

    private mutating func generated(_ node: Node, _ mapping: Node.Mapping) -> Profile.Value? {
        guard let nameNode = mapping["generate"], let name = text(nameNode, "generate") else { return nil }
        guard let kind = Generators.all.first(where: { $0.name == name }) else {
            error(
                at: nameNode,
                Self.unknown("generator \"\(name)\"", name, among: Generators.all.map { $0.name }))
            return nil
        }
        guard let fields = fields(node, "generate: \(name)", known: ["generate"] + kind.keys) else {
            return nil
        }
        return kind.decode(fields, &self).map { .generated($0) }
    }

    // MARK: Descriptors

    private mutating func descriptors(
        _ node: Node, of characteristic: inout Profile.Characteristic
    ) -> [Profile.Descriptor] {
        var list: [Profile.Descriptor] = []
        for element in elements(node, "descriptors") {
            guard let fields = fields(element, "a descriptor", known: ProfileKeys.descriptor),
                let descriptor = descriptor(fields)
            else { continue }
            if descriptor.uuid == GATT.userDescription, descriptor.properties.contains(.write),
                !characteristic.properties.contains(.writableAuxiliaries)
            {
                warning(
                    at: fields.mark,
                    "a writable 2901 wants the property writableAuxiliaries on its characteristic; it has been set"
                )
                characteristic.properties.insert(.writableAuxiliaries)
            }
            list.append(descriptor)
        }
        return list
    }

    private mutating func descriptor(_ fields: Fields) -> Profile.Descriptor? {
        guard let node = fields["uuid"] else {
            error(at: fields.mark, "a descriptor needs a uuid")
            return nil
        }
        guard
            let uuid = uuid(
                node, "descriptor", names: AssignedNumbers.descriptorNames,
                lookup: { AssignedNumbers.descriptor(named: $0) })
        else { return nil }
        if uuid == GATT.clientConfiguration {
            error(at: node, "the descriptor 2902 is made by the radio for notify and indicate; leave it out")
        }
        if uuid == GATT.extendedProperties {
            error(
                at: node,
                "the descriptor 2900 is made by the radio for reliableWrite and writableAuxiliaries; leave it out"
            )
        }
        var result = Profile.Descriptor(
            uuid: uuid, properties: .read, permissions: .open, value: [],
            maximumLength: GATT.maximumValueLength,
            mark: fields.mark)
        if let node = fields["properties"] {
            let names = CharacteristicProperties.named.filter { [.read, .write].contains($0.property) }
            result.properties = properties(node, among: names)
            if case .sequence(let list) = node, list.isEmpty {
                error(at: node, "a descriptor needs read, write or both")
            }
        }
        if let node = fields["permissions"] {
            result.permissions = permissions(node, known: ProfileKeys.descriptorPermissions)
        }
        if let node = fields["maxLength"],
            let length = integer(node, "maxLength", in: 0...GATT.maximumValueLength)
        {
            result.maximumLength = length
        }
        if let node = fields["value"], let value = value(node) {
            switch value {
            case .bytes(let bytes): result.value = bytes
            case .generated: error(at: node, "a descriptor's value cannot be generated")
            }
        }
        if result.value.count > result.maximumLength {
            error(
                at: fields["value"],
                "the value has \(result.value.count) bytes, more than \(fields["maxLength"] == nil ? "the 512 of any value" : "its maxLength of \(result.maximumLength)")"
            )
        }
        return result
    }
}
