import MynahCore

/// An attribute of a server: a handle, a type, permissions, and the source of its value.
struct Attribute: Hashable, Sendable {
    /// The source of a value.
    enum Content: Hashable, Sendable {
        /// Bytes that never change.
        case constant([UInt8])
        /// The value of a characteristic or descriptor.
        ///
        /// `fixed` is the value if the host answers reads itself, or `nil` if the application answers them.
        case value(AttributeKey, fixed: [UInt8]?)
        /// The Client Characteristic Configuration of a characteristic, stored per client.
        case configuration(AttributeKey, allows: CharacteristicProperties)
        /// Client Supported Features (0x2B29), stored per client.
        case clientFeatures
        /// The Database Hash (0x2B2A) of the current services.
        case databaseHash
        /// The declaration of a service, whose group ends with the handle `end`.
        case service(BluetoothUUID, isPrimary: Bool, end: AttributeHandle)
    }

    /// The permissions for reading and writing an attribute.
    struct Access: Hashable, Sendable {
        var canRead = true
        var canWrite = false
        /// `true` if the value can also be written with a command.
        var canCommand = false
        /// `true` if the value can also be written with a signed command.
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

/// The types of declarations, and of the characteristics of the services GAP and GATT (Assigned Numbers).
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
