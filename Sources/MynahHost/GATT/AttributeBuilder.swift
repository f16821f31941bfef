import MynahCore
import MynahSupport

/// Builds the attributes of services (Core Specification, Vol 3, Part G, 3).
struct AttributeBuilder {
    private var next: AttributeHandle
    private var ranges: [AttributeKey: (start: AttributeHandle, end: AttributeHandle, uuid: BluetoothUUID)] =
        [:]
    private(set) var attributes: [Attribute] = []
    private(set) var handles: [AttributeKey: AttributeHandle] = [:]

    private let isOwn: Bool

    init(next: AttributeHandle, isOwn: Bool = false) {
        self.next = next
        self.isOwn = isOwn
        place = next
    }

    private var place: AttributeHandle

    /// Assigns handles to a service before it is added, so that other services can include it.
    mutating func place(_ service: ServiceDefinition) {
        let end = place + (service.attributeCount - 1)
        ranges[service.key] = (place, end, service.uuid)
        place = end.next ?? .none
    }

    mutating func add(_ service: ServiceDefinition) {
        let end = ranges[service.key]?.end ?? next
        append(
            service.isPrimary ? AttributeType.primaryService : AttributeType.secondaryService, .declaration,
            .service(service.uuid, isPrimary: service.isPrimary, end: end), as: service.key)
        for key in service.includes {
            guard let range = ranges[key] else { continue }
            var writer = ByteWriter(capacity: 6)
            writer.write(range.start)
            writer.write(range.end)
            // Only a 16-bit UUID is part of the declaration (3.2).
            if range.uuid.onAir.count == 2 { writer.write(range.uuid.onAir) }
            append(AttributeType.include, .declaration, .constant(writer.bytes))
        }
        for characteristic in service.characteristics { add(characteristic) }
    }

    private mutating func add(_ characteristic: CharacteristicDefinition) {
        let properties = characteristic.properties
        var writer = ByteWriter(capacity: 19)
        writer.write(UInt8(truncatingIfNeeded: properties.declared.rawValue))
        writer.write(next + 1)
        writer.write(characteristic.uuid.onAir)
        append(AttributeType.characteristic, .declaration, .constant(writer.bytes))
        append(
            characteristic.uuid,
            Attribute.Access(
                canRead: properties.contains(.read), canWrite: properties.contains(.write),
                canCommand: properties.contains(.writeWithoutResponse),
                canSign: properties.contains(.authenticatedSignedWrites),
                read: characteristic.permissions.read, write: characteristic.permissions.write,
                maximumLength: characteristic.maximumLength),
            content(of: characteristic), as: characteristic.key)
        if characteristic.hasConfiguration {
            append(
                GATT.clientConfiguration,
                Attribute.Access(
                    canWrite: true, read: .open, write: characteristic.permissions.notify, maximumLength: 2),
                .configuration(characteristic.key, allows: properties))
        }
        if properties.hasExtended {
            var bits: UInt16 = 0
            if properties.contains(.reliableWrite) { bits |= 1 }
            if properties.contains(.writableAuxiliaries) { bits |= 2 }
            var writer = ByteWriter(capacity: 2)
            writer.write(bits)
            append(GATT.extendedProperties, .declaration, .constant(writer.bytes))
        }
        for descriptor in characteristic.descriptors {
            append(
                descriptor.uuid,
                Attribute.Access(
                    canRead: descriptor.properties.contains(.read),
                    canWrite: descriptor.properties.contains(.write),
                    read: descriptor.permissions.read, write: descriptor.permissions.write,
                    maximumLength: descriptor.maximumLength),
                .value(descriptor.key, fixed: descriptor.value), as: descriptor.key)
        }
    }

    private func content(of characteristic: CharacteristicDefinition) -> Attribute.Content {
        switch characteristic.uuid {
        case AttributeType.clientSupportedFeatures where isOwn: .clientFeatures
        case AttributeType.databaseHash where isOwn: .databaseHash
        default: .value(characteristic.key, fixed: characteristic.value)
        }
    }

    private mutating func append(
        _ type: BluetoothUUID, _ access: Attribute.Access, _ content: Attribute.Content,
        as key: AttributeKey? = nil
    ) {
        attributes.append(Attribute(handle: next, type: type, access: access, content: content))
        if let key { handles[key] = next }
        next = next.next ?? .none
    }
}

extension CharacteristicProperties {
    /// Whether the properties need a Characteristic Extended Properties descriptor.
    var hasExtended: Bool { !isDisjoint(with: [.extendedProperties, .reliableWrite, .writableAuxiliaries]) }
    /// The property bits of the characteristic declaration, with Extended Properties if needed.
    var declared: CharacteristicProperties {
        var declared = CharacteristicProperties(rawValue: rawValue & 0x7F)
        if hasExtended { declared.insert(.extendedProperties) }
        return declared
    }
}

extension ServiceDefinition {
    var attributeCount: Int {
        1 + includes.count
            + characteristics.reduce(0) { count, characteristic in
                count + 2 + (characteristic.hasConfiguration ? 1 : 0)
                    + (characteristic.properties.hasExtended ? 1 : 0) + characteristic.descriptors.count
            }
    }
}

extension [ServiceDefinition] {
    /// A description of the services' attributes: their types, properties and order.
    ///
    /// Services with the same description can use the same handles, if one is withdrawn before the other is
    /// published.
    var shape: [UInt8] {
        var writer = ByteWriter()
        for service in self {
            writer.write(service.uuid.bigEndianBytes)
            writer.write([service.isPrimary ? 1 : 0, UInt8(truncatingIfNeeded: service.includes.count)])
            for key in service.includes {
                writer.write(UInt16(truncatingIfNeeded: firstIndex { $0.key == key } ?? 0xFFFF))
            }
            for characteristic in service.characteristics {
                writer.write(characteristic.uuid.bigEndianBytes)
                let hasConfiguration: UInt16 = characteristic.hasConfiguration ? 0x8000 : 0
                writer.write(characteristic.properties.rawValue | hasConfiguration)
                writer.write(UInt16(truncatingIfNeeded: characteristic.descriptors.count))
                for descriptor in characteristic.descriptors { writer.write(descriptor.uuid.bigEndianBytes) }
            }
        }
        return writer.bytes
    }
}
