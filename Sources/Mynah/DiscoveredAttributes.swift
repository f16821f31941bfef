public import MynahCore

/// A service that was discovered on a peripheral (after CBService).
public struct DiscoveredService: Hashable, Sendable, Identifiable {
    /// The service's declaration in the peripheral's database.
    public var attribute: RemoteService
    /// The included services; empty until they are discovered.
    public var includedServices: [RemoteService] = []
    /// The characteristics, in the order of their handles; empty until they are discovered.
    public var characteristics: [DiscoveredCharacteristic] = []

    /// The attribute handle of the service declaration.
    public var id: AttributeHandle { attribute.handles.lowerBound }
    /// The type of the service.
    public var uuid: BluetoothUUID { attribute.uuid }
    /// `true` for a primary service, `false` for a secondary one.
    public var isPrimary: Bool { attribute.isPrimary }

    init(_ attribute: RemoteService) {
        self.attribute = attribute
    }
}

/// A characteristic that was discovered on a peripheral (after CBCharacteristic).
public struct DiscoveredCharacteristic: Hashable, Sendable, Identifiable {
    /// The characteristic's declaration in the peripheral's database.
    public var attribute: RemoteCharacteristic
    /// The type of the service that the characteristic belongs to.
    public var service: BluetoothUUID
    /// The descriptors, in the order of their handles, or `nil` if they were not discovered.
    public var descriptors: [RemoteDescriptor]?
    /// The delivery of the subscription, notifications or indications, or `nil` if there is no subscription.
    public var delivery: Delivery?
    /// The value that was last read or received, or `nil` if none was.
    public var value: [UInt8]?
    /// The unambiguous path, such as `180F~2/2A19`, of a characteristic that was looked up for a report, or
    /// `nil` if its UUIDs are unique.
    package var path: String?

    /// The attribute handle of the characteristic's value.
    public var id: AttributeHandle { attribute.handle }
    /// The type of the characteristic.
    public var uuid: BluetoothUUID { attribute.uuid }
    /// The properties of the characteristic.
    public var properties: CharacteristicProperties { attribute.properties }

    init(_ attribute: RemoteCharacteristic, of service: BluetoothUUID) {
        self.attribute = attribute
        self.service = service
    }
}
