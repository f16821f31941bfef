import MynahCore

/// An entry of the section `descriptors`.
enum DescriptorSection {
    static let uuid = Field(
        "uuid", .uuid(of: .descriptor), missing: "a descriptor needs a uuid",
        doc: "The SIG's name, or a number of 16, 32 or 128 bits.")
    static let properties = Field("properties", .properties(["read", "write"]), doc: "Left out: read.")
    static let permissions = Field(
        "permissions", .node("`permissions` without `notify`", .ref("descriptorPermissions")),
        doc: CharacteristicSection.permissions.doc)
    static let value = Field(
        "value", .constantValue(else: "a descriptor's value cannot be generated"),
        doc: "Its value: hex, text or base64.")
    static let maxLength = CharacteristicSection.maxLength
    static let table = Section(
        "descriptor", what: "a descriptor", [uuid, properties, permissions, value, maxLength])

    static func read(_ node: YAMLNode, _ reader: FormatReader) -> Profile.Descriptor? {
        guard let fields = reader.fields(node, table) else { return nil }
        let uuid = uuid(fields, reader)
        // The other keys are checked even if the UUID is invalid.
        var result = Profile.Descriptor(
            uuid: uuid ?? BluetoothUUID(0 as UInt16), properties: .read, permissions: .open, value: [],
            maximumLength: GATT.maximumValueLength, mark: fields.mark, marks: fields.marks)
        if let words = fields.read(properties) {
            result.properties = CharacteristicProperties(words)
            if case .sequence(let list)? = fields[properties], list.isEmpty {
                reader.error(at: fields[properties], "a descriptor needs read, write or both")
            }
        }
        if let node = fields[permissions] {
            result.permissions = PermissionsSection.read(
                node, of: .descriptor, with: result.properties, reader)
        }
        fields.read(maxLength, into: &result.maximumLength)
        fields.read(value, into: &result.value)
        if fields[maxLength] != nil, !result.properties.contains(.write) {
            let name = uuid?.description ?? "the descriptor"
            reader.warning(at: fields.mark(of: maxLength), "maxLength has no effect: \(name) is not writable")
        }
        fields.checkLength(result.value.count, result.maximumLength, reader)
        return uuid == nil ? nil : result
    }

    private static func uuid(_ fields: Fields, _ reader: FormatReader) -> BluetoothUUID? {
        let uuid = fields.read(uuid)
        if uuid == GATT.clientConfiguration {
            reader.error(
                at: fields[Self.uuid],
                "the radio adds the descriptor 2902 for notify and indicate; leave it out")
        }
        if uuid == GATT.extendedProperties {
            reader.error(
                at: fields[Self.uuid],
                "the radio adds the descriptor 2900 for reliableWrite and writableAuxiliaries; leave it out")
        }
        return uuid
    }
}

/// The section `permissions:` of a characteristic or a descriptor.
enum PermissionsSection {
    static let read = Field("read", called: "permission", .permission, doc: "To read it.")
    static let write = Field("write", called: "permission", .permission, doc: "To write it.")
    static let notify = Field("notify", called: "permission", .permission, doc: "To subscribe to it.")
    static let table = Section("permissions", [read, write, notify])
    static let descriptorTable = Section("descriptorPermissions", what: "permissions", [read, write])

    static func read(
        _ node: YAMLNode, of type: AttributeType, with properties: CharacteristicProperties,
        _ reader: FormatReader
    ) -> AttributePermissions {
        var permissions = AttributePermissions()
        let table = type == .descriptor ? descriptorTable : table
        guard let fields = reader.fields(node, table) else { return permissions }
        fields.read(read, into: &permissions.read)
        fields.read(write, into: &permissions.write)
        fields.read(notify, into: &permissions.notify)
        let needs: [(Field<SecurityRequirement>, CharacteristicProperties, String)] = [
            (read, .read, "no read property"), (write, .anyWrite, "no write property"),
            (notify, .anyUpdate, "neither notify nor indicate"),
        ]
        for (use, needed, missing) in needs
        where fields[use] != nil && properties.isDisjoint(with: needed) {
            reader.error(
                at: fields.mark(of: use),
                "permissions.\(use.name) has no effect: the \(type.rawValue) has \(missing)")
        }
        return permissions
    }
}

extension Kind<SecurityRequirement> {
    fileprivate static var permission: Kind {
        Kind(word.form, .ref("permission")) { $2.choice($0, $1) }
    }
}

/// The section `errors:` of a characteristic.
enum ErrorsSection {
    static let read = Field(
        "read", called: "an ATT error", .code,
        doc: "Answers every read; 0x80 to 0x9F are the application's own.")
    static let write = Field(
        "write", called: "an ATT error", .code,
        doc: "Answers every write; 0x80 to 0x9F are the application's own.")
    static let table = Section("errors", [read, write])

    static func read(
        _ node: YAMLNode, into characteristic: inout Profile.Characteristic, _ reader: FormatReader
    ) {
        guard let fields = reader.fields(node, table) else { return }
        let properties = characteristic.properties
        for field in [read, write] {
            guard let code = fields.read(field), let node = fields[field] else { continue }
            characteristic.marks["errors.\(field.name)"] = node.mark
            let error = ATTError(code: code)
            reader.checkIsAssigned(error, as: node)
            if field.name == read.name {
                characteristic.readError = error
            } else {
                characteristic.writeError = error
            }
            let needed: CharacteristicProperties = field.name == read.name ? .read : .anyWrite
            if properties.isDisjoint(with: needed) {
                reader.error(
                    at: node,
                    """
                    errors.\(field.name) is never sent: the characteristic has no \(field.name) property
                    """)
            } else if field.name == write.name, properties.isDisjoint(with: [.write, .reliableWrite]) {
                reader.error(
                    at: node,
                    """
                    errors.write is never sent: writeWithoutResponse gets no answer; add the property write
                    """)
            }
        }
    }
}
