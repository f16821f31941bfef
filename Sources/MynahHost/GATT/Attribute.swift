import MynahCore

/// An attribute of a server: a handle, a type, permissions, and the source of its value.
struct Attribute: Hashable, Sendable {
    /// The source of a value.
    enum Content: Hashable, Sendable {
        /// Constant bytes that no client can write.
        case constant([UInt8])
        /// A characteristic's value or a descriptor's value. `fixed` is the value if the host answers without
        /// asking the publisher.
        case value(AttributeKey, fixed: [UInt8]?)
        /// The Client Characteristic Configuration of a characteristic, kept for each client.
        case configuration(AttributeKey, allows: CharacteristicProperties)
        /// Client Supported Features (0x2B29), kept for each client.
        case clientFeatures
        /// The Database Hash (0x2B2A) of the current services.
        case databaseHash
        /// The declaration of a service, which begins a group; `end` is the last handle of the group.
        case service(BluetoothUUID, isPrimary: Bool, end: AttributeHandle)
    }

    /// The permissions for reading and writing an attribute.
    struct Access: Hashable, Sendable {
        var canRead = true
        var canWrite = false
        /// `true` if a command can write the value too.
        var canCommand = false
        /// `true` if a signed command can write the value too.
        var canSign = false
        var read = SecurityRequirement.open
        var write = SecurityRequirement.open
        var maximumLength = GATT.maximumValueLength

        static let declaration = Access()
    }

    var handle: AttributeHandle
    var type: BluetoothUUID
    var access: Access
    var content: Content
}

/// The attribute types of declarations (Assigned Numbers, 3.5, 3.6).
enum AttributeType {
    static let primaryService = BluetoothUUID(0x2800 as UInt16)
    static let secondaryService = BluetoothUUID(0x2801 as UInt16)
    static let include = BluetoothUUID(0x2802 as UInt16)
    static let characteristic = BluetoothUUID(0x2803 as UInt16)
    static let serviceChanged = BluetoothUUID(0x2A05 as UInt16)
    static let deviceName = BluetoothUUID(0x2A00 as UInt16)
    static let appearance = BluetoothUUID(0x2A01 as UInt16)
    static let clientSupportedFeatures = BluetoothUUID(0x2B29 as UInt16)
    static let serverSupportedFeatures = BluetoothUUID(0x2B3A as UInt16)
    static let databaseHash = BluetoothUUID(0x2B2A as UInt16)
}
