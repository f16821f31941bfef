/// A service of a peripheral, as declared by the peripheral's server.
public struct RemoteService: Hashable, Sendable {
    /// The service's type.
    public var uuid: BluetoothUUID
    /// `true` for a primary service, `false` for a secondary one.
    public var isPrimary: Bool
    /// The handle range of the service.
    public var handles: ClosedRange<AttributeHandle>

    package init(uuid: BluetoothUUID, isPrimary: Bool = true, handles: ClosedRange<AttributeHandle>) {
        self.uuid = uuid
        self.isPrimary = isPrimary
        self.handles = handles
    }
}

/// A characteristic of a peripheral, as declared by the peripheral's server.
public struct RemoteCharacteristic: Hashable, Sendable {
    /// The characteristic's type.
    public var uuid: BluetoothUUID
    /// The properties in the declaration.
    public var properties: CharacteristicProperties
    /// The handle of the declaration.
    public var declaration: AttributeHandle
    /// The handle of the value.
    public var handle: AttributeHandle
    /// The last attribute handle of the characteristic.
    public var end: AttributeHandle

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

    /// The handles that descriptors can have, or `nil` if there can be no descriptor.
    package var descriptorHandles: ClosedRange<AttributeHandle>? {
        handle < end ? (handle + 1)...end : nil
    }
}

/// A descriptor of a peripheral, as reported by the peripheral's server.
public struct RemoteDescriptor: Hashable, Sendable {
    /// The descriptor's type.
    public var uuid: BluetoothUUID
    /// The descriptor's attribute handle.
    public var handle: AttributeHandle

    package init(uuid: BluetoothUUID, handle: AttributeHandle) {
        self.uuid = uuid
        self.handle = handle
    }
}
