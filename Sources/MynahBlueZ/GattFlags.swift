import MynahCore

/// The flags of characteristics and descriptors in bluetoothd's spelling (parse_chrc_flags,
/// parse_desc_flags).
enum GattFlags {
    /// Returns the flags of a characteristic; a characteristic with a property has at least one flag.
    static func flags(of characteristic: CharacteristicDefinition) -> [String] {
        let properties = characteristic.properties
        let permissions = characteristic.permissions
        var flags: [String] = []
        if properties.contains(.broadcast) { flags.append("broadcast") }
        if properties.contains(.read) { flags.append(flag("read", permissions.read)) }
        if properties.contains(.writeWithoutResponse) { flags.append("write-without-response") }
        if properties.contains(.write) {
            flags.append(flag("write", permissions.write))
        } else if isSecured(permissions.write), !properties.isDisjoint(with: .anyWrite) {
            // bluetoothd can protect a command only by the write flag, which adds the write property.
            flags.append(flag("write", permissions.write))
        }
        if properties.contains(.notify) { flags.append(flag("notify", permissions.notify)) }
        if properties.contains(.indicate) { flags.append(flag("indicate", permissions.notify)) }
        if properties.contains(.authenticatedSignedWrites) { flags.append("authenticated-signed-writes") }
        if properties.contains(.extendedProperties) { flags.append("extended-properties") }
        if properties.contains(.reliableWrite) { flags.append("reliable-write") }
        if properties.contains(.writableAuxiliaries) { flags.append("writable-auxiliaries") }
        if wantsAuthorization(permissions) { flags.append("authorize") }
        return flags
    }

    /// Returns the flags of a descriptor.
    static func flags(of descriptor: DescriptorDefinition) -> [String] {
        var flags: [String] = []
        if descriptor.properties.contains(.read) { flags.append(flag("read", descriptor.permissions.read)) }
        if descriptor.properties.contains(.write) {
            flags.append(flag("write", descriptor.permissions.write))
        }
        if wantsAuthorization(descriptor.permissions) { flags.append("authorize") }
        return flags
    }

    /// Returns the number of handles that a service needs.
    ///
    /// They are for its declaration, its includes, its characteristics and all descriptors, including those
    /// that bluetoothd adds.
    static func handleCount(of service: ServiceDefinition) -> Int {
        service.characteristics.reduce(1 + service.includes.count) { $0 + handleCount(of: $1) }
    }

    static func handleCount(of characteristic: CharacteristicDefinition) -> Int {
        2 + madeDescriptors(of: characteristic) + characteristic.descriptors.count
    }

    /// Returns the number of descriptors that bluetoothd adds to a characteristic: Client Characteristic
    /// Configuration and Extended Properties.
    static func madeDescriptors(of characteristic: CharacteristicDefinition) -> Int {
        (characteristic.properties.isDisjoint(with: .anyUpdate) ? 0 : 1)
            + (characteristic.properties.isDisjoint(with: [.reliableWrite, .writableAuxiliaries]) ? 0 : 1)
    }

    private static func flag(_ use: String, _ requirement: SecurityRequirement) -> String {
        switch requirement {
        // bluetoothd's authorize flag affects only prepared writes; the radio checks authorization itself.
        case .open, .authorized: use
        case .encrypted: "encrypt-" + use
        case .authenticated: "encrypt-authenticated-" + use
        case .secure: "secure-" + use
        }
    }

    private static func isSecured(_ requirement: SecurityRequirement) -> Bool {
        requirement != .open && requirement != .authorized
    }

    private static func wantsAuthorization(_ permissions: AttributePermissions) -> Bool {
        permissions.read == .authorized || permissions.write == .authorized
    }
}
