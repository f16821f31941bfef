import MynahCore

// `descriptors:`
extension ProfileDecoder {
    mutating func descriptors(
        _ node: YAMLNode, of characteristic: inout Profile.Characteristic
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
                    """
                    a writable 2901 needs the property writableAuxiliaries on its characteristic; it was added
                    """
                )
                characteristic.properties.insert(.writableAuxiliaries)
            }
            list.append(descriptor)
        }
        return list
    }

    private mutating func descriptor(_ fields: Fields) -> Profile.Descriptor? {
        let uuid = descriptorUUID(fields)
        // Without a valid UUID the other keys are still checked.
        var result = Profile.Descriptor(
            uuid: uuid ?? BluetoothUUID(0 as UInt16), properties: .read, permissions: .open, value: [],
            maximumLength: GATT.maximumValueLength,
            mark: fields.mark, marks: fields.marks)
        if let node = fields["properties"] {
            let names = CharacteristicProperties.named.filter { [.read, .write].contains($0.property) }
            result.properties = properties(node, among: names)
            if case .sequence(let list) = node, list.isEmpty {
                error(at: node, "a descriptor needs read, write or both")
            }
        }
        if let node = fields["permissions"] {
            result.permissions = permissions(node, known: ProfileKeys.descriptorPermissions)
            checkPermissions(node, of: "descriptor", with: result.properties)
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
        if fields["maxLength"] != nil, !result.properties.contains(.write) {
            let name = uuid?.description ?? "the descriptor"
            warning(at: fields.mark(of: "maxLength"), "maxLength has no effect: \(name) is not writable")
        }
        if result.value.count > result.maximumLength {
            error(at: fields["value"], Self.excess(result.value.count, result.maximumLength, fields))
        }
        return uuid == nil ? nil : result
    }

    private mutating func descriptorUUID(_ fields: Fields) -> BluetoothUUID? {
        guard let node = fields["uuid"] else {
            error(at: fields.mark, "a descriptor needs a uuid")
            return nil
        }
        guard
            let uuid = uuid(
                node, "descriptor", names: AssignedNumbers.descriptorNames,
                lookup: { AssignedNumbers.descriptor(named: $0) })
        else { return nil }
        checkType(uuid, "descriptor", at: node)
        if uuid == GATT.clientConfiguration {
            error(at: node, "the radio adds the descriptor 2902 for notify and indicate; leave it out")
        }
        if uuid == GATT.extendedProperties {
            error(
                at: node,
                "the radio adds the descriptor 2900 for reliableWrite and writableAuxiliaries; leave it out"
            )
        }
        return uuid
    }
}
