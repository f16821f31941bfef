/// The rules that every batch of services must follow on any radio.
package enum DefinitionRules {
    /// Throws `servicesRefused` if the services violate a rule.
    ///
    /// With `ofApp`, throws `uuidNotAllowed` if an app may not publish one of the services.
    package static func check(_ services: [ServiceDefinition], ofApp: Bool = false) throws(RadioError) {
        if ofApp { try AppleServices.check(services) }
        var keys: Set<AttributeKey> = []
        var earlier: Set<AttributeKey> = []
        for service in services {
            guard service.uuid != GATT.genericAccess, service.uuid != GATT.genericAttribute else {
                throw refused("the radio adds the service \(service.uuid) itself")
            }
            guard keys.insert(service.key).inserted else { throw refused("a service is published twice") }
            guard earlier.isSuperset(of: service.includes) else {
                throw refused(
                    """
                    the service \(service.uuid) includes a service that does not come before it in its \
                    batch
                    """)
            }
            earlier.insert(service.key)
            for characteristic in service.characteristics {
                guard keys.insert(characteristic.key).inserted else {
                    throw refused("the characteristic \(characteristic.uuid) is repeated")
                }
                try check(characteristic, keys: &keys)
            }
        }
    }

    private static func check(
        _ characteristic: CharacteristicDefinition, keys: inout Set<AttributeKey>
    ) throws(RadioError) {
        let uuid = characteristic.uuid
        guard !characteristic.properties.isEmpty else {
            throw refused("the characteristic \(uuid) has no properties")
        }
        if let value = characteristic.value {
            guard value.count <= GATT.maximumValueLength else {
                throw refused("the value of \(uuid) is longer than \(GATT.maximumValueLength) bytes")
            }
            guard characteristic.properties.isDisjoint(with: .anyWrite) else {
                throw refused(
                    "the characteristic \(uuid) is writable, so it cannot have a static value")
            }
        }
        guard (0...GATT.maximumValueLength).contains(characteristic.maximumLength) else {
            throw refused("the maximum length of \(uuid) is not between 0 and \(GATT.maximumValueLength)")
        }
        try check(characteristic.descriptors, of: uuid, keys: &keys)
    }

    private static func check(
        _ descriptors: [DescriptorDefinition], of uuid: BluetoothUUID, keys: inout Set<AttributeKey>
    ) throws(RadioError) {
        for descriptor in descriptors {
            guard descriptor.uuid != GATT.clientConfiguration, descriptor.uuid != GATT.extendedProperties
            else {
                throw refused("the radio adds the descriptor \(descriptor.uuid) of \(uuid) itself")
            }
            guard keys.insert(descriptor.key).inserted else {
                throw refused("the descriptor \(descriptor.uuid) of \(uuid) is repeated")
            }
            guard !descriptor.properties.isEmpty, descriptor.properties.isSubset(of: [.read, .write]) else {
                throw refused("the descriptor \(descriptor.uuid) of \(uuid) needs read, write or both")
            }
            guard descriptor.value.map(\.count) ?? 0 <= GATT.maximumValueLength else {
                throw refused(
                    """
                    the value of \(descriptor.uuid) of \(uuid) is longer than \
                    \(GATT.maximumValueLength) bytes
                    """
                )
            }
            guard descriptor.value == nil || !descriptor.properties.contains(.write) else {
                throw refused(
                    """
                    the descriptor \(descriptor.uuid) of \(uuid) is writable, so it cannot have a static value
                    """
                )
            }
            guard (0...GATT.maximumValueLength).contains(descriptor.maximumLength) else {
                throw refused(
                    """
                    the maximum length of \(descriptor.uuid) of \(uuid) is not between 0 and \
                    \(GATT.maximumValueLength)
                    """
                )
            }
        }
    }

    private static func refused(_ message: String) -> RadioError {
        RadioError(.servicesRefused, message)
    }
}

extension CharacteristicProperties {
    /// All properties for writing.
    package static let anyWrite: CharacteristicProperties = [
        .write, .writeWithoutResponse, .authenticatedSignedWrites, .reliableWrite,
    ]
    /// Both properties for sending values: notify and indicate.
    package static let anyUpdate: CharacteristicProperties = [.notify, .indicate]
}
