public import MynahCore

/// A service that was found on a peripheral (after CBService).
public struct DiscoveredService: Hashable, Sendable, Identifiable {
    /// Its declaration on the server.
    public var attribute: RemoteService
    /// The services that it includes; empty until they were looked for.
    public var includedServices: [RemoteService] = []
    /// Its characteristics, in order; empty until they were looked for.
    public var characteristics: [DiscoveredCharacteristic] = []

    /// The handle of its declaration.
    public var id: AttributeHandle { attribute.handles.lowerBound }
    /// Its type.
    public var uuid: BluetoothUUID { attribute.uuid }
    /// Whether it is a primary service.
    public var isPrimary: Bool { attribute.isPrimary }

    init(_ attribute: RemoteService) {
        self.attribute = attribute
    }
}

/// A characteristic that was found on a peripheral (after CBCharacteristic).
public struct DiscoveredCharacteristic: Hashable, Sendable, Identifiable {
    /// Its declaration on the server.
    public var attribute: RemoteCharacteristic
    /// The type of the service that it belongs to.
    public var service: BluetoothUUID
    /// Its descriptors, in order; `nil` if they were not looked for.
    public var descriptors: [RemoteDescriptor]?
    /// How it sends values by itself, as this side asked for it last; `nil` if it does not.
    public var delivery: Delivery?
    /// The value that was read or sent last; `nil` if none was.
    public var value: [UInt8]?

    /// The handle of its value.
    public var id: AttributeHandle { attribute.handle }
    /// Its type.
    public var uuid: BluetoothUUID { attribute.uuid }
    /// What may be done with it.
    public var properties: CharacteristicProperties { attribute.properties }

    init(_ attribute: RemoteCharacteristic, of service: BluetoothUUID) {
        self.attribute = attribute
        self.service = service
    }
}
