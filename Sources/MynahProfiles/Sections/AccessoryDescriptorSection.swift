import MynahCore

/// An entry of the section `accessorySetup:` of an app (ASDiscoveryDescriptor).
enum AccessoryDescriptorSection {
    static let serviceUUID = Field(
        "serviceUUID", .uuid(of: .service),
        doc: "A service that it advertises (bluetoothServiceUUID, NSAccessorySetupBluetoothServices).")
    static let companyIdentifier = Field(
        "companyIdentifier", .integer(0...0xFFFF, "companyNumber"),
        doc: """
            The company of its manufacturer data (bluetoothCompanyIdentifier, \
            NSAccessorySetupBluetoothCompanyIdentifiers).
            """)
    static let nameSubstring = Field(
        "nameSubstring", .text,
        doc: "A part of its local name (bluetoothNameSubstring, NSAccessorySetupBluetoothNames).")
    static let table = Section(
        "accessoryDescriptor", what: "a descriptor", [serviceUUID, companyIdentifier, nameSubstring],
        rules: Schema.anyOf([
            .required([serviceUUID.name]), .required([companyIdentifier.name]),
        ]).members)

    /// Parses the descriptors of an app; the list must not be empty.
    static func list(_ node: YAMLNode, _ reader: FormatReader) -> [Profile.App.AccessoryDescriptor] {
        let elements = reader.elements(node, "accessorySetup")
        if case .sequence = node, elements.isEmpty {
            reader.error(
                at: node, "accessorySetup needs a descriptor, as in accessorySetup: [{serviceUUID: 180D}]")
        }
        return elements.compactMap { read($0, reader) }
    }

    private static func read(_ node: YAMLNode, _ reader: FormatReader) -> Profile.App.AccessoryDescriptor? {
        guard let fields = reader.fields(node, table) else { return nil }
        guard fields[serviceUUID] != nil || fields[companyIdentifier] != nil else {
            reader.error(
                at: node,
                "a descriptor needs serviceUUID or companyIdentifier; a part of the name alone is not enough")
            return nil
        }
        let name = fields.read(nameSubstring)
        if name?.isEmpty == true {
            reader.error(
                at: fields[nameSubstring], "nameSubstring must not be empty; leave it out for any name")
        }
        return .init(
            serviceUUID: fields.read(serviceUUID),
            companyIdentifier: fields.read(companyIdentifier).map { UInt16(clamping: $0) },
            nameSubstring: name)
    }
}
