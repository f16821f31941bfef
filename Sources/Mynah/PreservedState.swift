import MynahCore
import MynahSupport

/// The preserved state of one peripheral manager, in memory and in its file.
struct PreservedState: PreservableState {
    var name: PreservedName
    /// The services, grouped by the call that published them.
    var batches: [[ServiceDefinition]] = []
    var advertisement: Advertisement?
    /// The subscriptions; the address is `nil` for a central that the radio could not identify.
    var subscribers: [Subscriber] = []

    struct Subscriber: Hashable {
        var attribute: AttributeKey
        var address: DeviceAddress?
    }

    static let version = 1
}

// To JSON and back. Attributes get keys of this process when they are read.
extension PreservedState {
    var json: JSON {
        let positions = characteristicPositions
        return .object([
            .init("mynahState", .integer(Self.version)),
            .init("app", .string(name.app)),
            .init("restoreIdentifier", .string(name.restoreIdentifier)),
            .init("services", .array(batches.map(Self.json))),
            .init("advertisement", advertisement.map(Self.json) ?? .null),
            .init(
                "subscribers",
                .array(
                    subscribers.compactMap { subscriber in
                        guard let position = positions[subscriber.attribute] else { return nil }
                        return .object([
                            .init("characteristic", .integer(position)),
                            .init("address", subscriber.address.map { .string("\($0)") } ?? .null),
                            .init(
                                "addressKind", subscriber.address.map { .string($0.kind.rawValue) } ?? .null),
                        ])
                    })),
        ])
    }

    /// The index of each characteristic among all characteristics, in the order of the file.
    private var characteristicPositions: [AttributeKey: Int] {
        let keys = batches.joined().flatMap(\.characteristics).map(\.key)
        return Dictionary(keys.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Reads the state that is preserved under a name.
    init(json: JSON, of name: PreservedName) throws(PreservedStateProblem) {
        try json.checkVersion(Self.version)
        guard let identifier = json["restoreIdentifier"]?.stringValue,
            let batches = json["services"]?.arrayValue
        else { throw .init(description: "restoreIdentifier or services are missing") }
        guard identifier == name.restoreIdentifier else {
            throw .init(description: "it is of \"\(identifier)\"")
        }
        // An earlier version did not write it.
        if let app = json["app"]?.stringValue, app != name.app {
            throw .init(description: "it belongs to the app \"\(app)\"")
        }
        self.name = name
        for batch in batches { self.batches.append(try Self.services(batch)) }
        if let advertisement = json["advertisement"], advertisement != .null {
            self.advertisement = try Self.advertisement(advertisement)
        }
        let characteristics = self.batches.joined().flatMap(\.characteristics)
        for entry in json["subscribers"]?.arrayValue ?? [] {
            guard let position = entry["characteristic"]?.integerValue,
                characteristics.indices.contains(position)
            else { throw .init(description: "a subscriber names no characteristic") }
            let kind = entry["addressKind"]?.stringValue.flatMap { DeviceAddress.Kind(rawValue: $0) }
            let address = entry["address"]?.stringValue.flatMap { DeviceAddress($0, kind: kind ?? .random) }
            subscribers.append(Subscriber(attribute: characteristics[position].key, address: address))
        }
    }

    // MARK: Services

    private static func json(_ services: [ServiceDefinition]) -> JSON {
        let positions = Dictionary(
            services.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
        return .array(
            services.map { service in
                .object([
                    .init("uuid", .string(service.uuid.description)),
                    .init("primary", .bool(service.isPrimary)),
                    .init(
                        "includes", .array(service.includes.compactMap { positions[$0].map { .integer($0) } })
                    ),
                    .init("characteristics", .array(service.characteristics.map(json))),
                ])
            })
    }

    private static func json(_ characteristic: CharacteristicDefinition) -> JSON {
        .object(
            attribute(
                characteristic.uuid, characteristic.properties, characteristic.permissions,
                characteristic.value,
                characteristic.maximumLength)
                + [
                    .init(
                        "descriptors",
                        .array(
                            characteristic.descriptors.map {
                                .object(
                                    attribute(
                                        $0.uuid, $0.properties, $0.permissions, $0.value, $0.maximumLength))
                            }))
                ])
    }

    private static func attribute(
        _ uuid: BluetoothUUID, _ properties: CharacteristicProperties, _ permissions: AttributePermissions,
        _ value: [UInt8]?, _ maximumLength: Int
    ) -> [JSON.Member] {
        [
            .init("uuid", .string(uuid.description)),
            .init("properties", .array(properties.names.map { .string($0) })),
            .init(
                "permissions",
                .object([
                    .init("read", .string(permissions.read.rawValue)),
                    .init("write", .string(permissions.write.rawValue)),
                    .init("notify", .string(permissions.notify.rawValue)),
                ])),
            .init("value", value.map { .string(Hex.encode($0)) } ?? .null),
            .init("maxLength", .integer(maximumLength)),
        ]
    }

    private static func services(_ json: JSON) throws(PreservedStateProblem) -> [ServiceDefinition] {
        var services: [ServiceDefinition] = []
        for entry in json.arrayValue ?? [] {
            var service = ServiceDefinition(
                uuid: try uuid(entry), isPrimary: entry["primary"]?.boolValue ?? true)
            for characteristic in entry["characteristics"]?.arrayValue ?? [] {
                let parts = try parts(characteristic)
                var definition = CharacteristicDefinition(
                    uuid: parts.uuid, properties: parts.properties, permissions: parts.permissions,
                    value: parts.value,
                    maximumLength: parts.maximumLength)
                for descriptor in characteristic["descriptors"]?.arrayValue ?? [] {
                    let parts = try self.parts(descriptor)
                    definition.descriptors.append(
                        DescriptorDefinition(
                            uuid: parts.uuid, properties: parts.properties, permissions: parts.permissions,
                            value: parts.value, maximumLength: parts.maximumLength))
                }
                service.characteristics.append(definition)
            }
            services.append(service)
        }
        for (index, entry) in (json.arrayValue ?? []).enumerated() {
            for position in entry["includes"]?.arrayValue ?? [] {
                guard let position = position.integerValue, services.indices.contains(position) else {
                    throw .init(description: "a service includes a service that is missing")
                }
                services[index].includes.append(services[position].key)
            }
        }
        do throws(RadioError) {
            try DefinitionRules.check(services)
        } catch {
            throw .init(description: "its services cannot be published: \(error)")
        }
        return services
    }

    private static func uuid(_ json: JSON) throws(PreservedStateProblem) -> BluetoothUUID {
        guard let uuid = json["uuid"]?.stringValue.flatMap({ BluetoothUUID($0) }) else {
            throw .init(description: "a UUID is invalid")
        }
        return uuid
    }

    private struct Parts {
        var uuid: BluetoothUUID
        var properties: CharacteristicProperties
        var permissions: AttributePermissions
        var value: [UInt8]?
        var maximumLength: Int
    }

    private static func parts(_ json: JSON) throws(PreservedStateProblem) -> Parts {
        var properties: CharacteristicProperties = []
        for name in json["properties"]?.arrayValue ?? [] {
            guard let named = CharacteristicProperties.named.first(where: { $0.name == name.stringValue })
            else {
                throw .init(description: "a property is unknown")
            }
            properties.insert(named.property)
        }
        let permissions = AttributePermissions(
            read: try requirement("read", json), write: try requirement("write", json),
            notify: try requirement("notify", json))
        var value: [UInt8]?
        if let text = json["value"]?.stringValue {
            guard let bytes = Hex.decode(text) else {
                throw .init(description: "a value is not hexadecimal")
            }
            value = bytes
        }
        return Parts(
            uuid: try uuid(json), properties: properties, permissions: permissions, value: value,
            maximumLength: json["maxLength"]?.integerValue ?? GATT.maximumValueLength)
    }

    /// Reads a security requirement; an unknown word is an error, because it may mean more protection than
    /// any known one.
    private static func requirement(
        _ key: String, _ json: JSON
    ) throws(PreservedStateProblem) -> SecurityRequirement {
        guard let word = json["permissions"]?[key] else { return .open }
        guard let requirement = word.stringValue.flatMap({ SecurityRequirement(rawValue: $0) }) else {
            let known = SecurityRequirement.allCases.map(\.rawValue).joined(separator: ", ")
            throw .init(
                description:
                    """
                    permissions.\(key) of the attribute \(try uuid(json)) is \(word.text), not one of \
                    \(known)
                    """
            )
        }
        return requirement
    }

    // MARK: Advertisement

    private static func json(_ advertisement: Advertisement) -> JSON {
        .object([
            .init("localName", advertisement.localName.map { .string($0) } ?? .null),
            .init("serviceUUIDs", .array(advertisement.serviceUUIDs.map { .string($0.description) })),
        ])
    }

    private static func advertisement(_ json: JSON) throws(PreservedStateProblem) -> Advertisement {
        var advertisement = Advertisement()
        advertisement.localName = json["localName"]?.stringValue
        for text in json["serviceUUIDs"]?.arrayValue ?? [] {
            guard let uuid = text.stringValue.flatMap({ BluetoothUUID($0) }) else {
                throw .init(description: "an advertised UUID is invalid")
            }
            advertisement.serviceUUIDs.append(uuid)
        }
        return advertisement
    }
}
