/// A service of a peripheral, as its server declares it.
public struct RemoteService: Hashable, Sendable {
    /// The service's type.
    public var uuid: BluetoothUUID
    /// `true` for a primary service, `false` for a secondary one.
    public var isPrimary: Bool
    /// The handle range of the service.
    public var handles: ClosedRange<AttributeHandle>

    /// A service.
    package init(uuid: BluetoothUUID, isPrimary: Bool = true, handles: ClosedRange<AttributeHandle>) {
        self.uuid = uuid
        self.isPrimary = isPrimary
        self.handles = handles
    }
}

/// A characteristic of a peripheral, as its server declares it.
public struct RemoteCharacteristic: Hashable, Sendable {
    /// The characteristic's type.
    public var uuid: BluetoothUUID
    /// The properties in its declaration.
    public var properties: CharacteristicProperties
    /// The handle of its declaration.
    public var declaration: AttributeHandle
    /// The handle of its value.
    public var handle: AttributeHandle
    /// The last handle of the characteristic.
    public var end: AttributeHandle

    /// A characteristic.
    package init(
        uuid: BluetoothUUID, properties: CharacteristicProperties, declaration: AttributeHandle,
        handle: AttributeHandle,
        end: AttributeHandle
    ) {
        self.uuid = uuid
        self.properties = properties
        self.declaration = declaration
        self.handle = handle
        self.end = end
    }

    /// The handles that its descriptors may have, or `nil` if there is no room for any.
    package var descriptorHandles: ClosedRange<AttributeHandle>? {
        handle < end ? (handle + 1)...end : nil
    }
}

/// A descriptor of a peripheral, as its server reports it.
public struct RemoteDescriptor: Hashable, Sendable {
    /// The descriptor's type.
    public var uuid: BluetoothUUID
    /// The descriptor's attribute handle.
    public var handle: AttributeHandle

    /// A descriptor.
    package init(uuid: BluetoothUUID, handle: AttributeHandle) {
        self.uuid = uuid
        self.handle = handle
    }
}
