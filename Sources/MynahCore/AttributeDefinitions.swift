import MynahSupport

/// The identifier of an attribute in this process: a service, a characteristic's value or a descriptor.
///
/// Each new definition gets a unique key, which identifies the attribute in requests.
public struct AttributeKey: Hashable, Sendable {
    private static let last = Lock<UInt32>(0)

    package let rawValue: UInt32

    /// Makes a key that no other attribute has.
    public init() {
        rawValue = Self.last.withLock { last in
            last += 1
            return last
        }
    }
}

/// The link security that an access to an attribute requires (Core Specification, Vol 3, Part C, 10.2).
public enum SecurityRequirement: String, Hashable, Sendable, CaseIterable {
    /// No security.
    case open
    /// An encrypted link; without it, the error is 0x05 or 0x0F.
    case encrypted
    /// A link that is encrypted with an authenticated key; without it, the error is 0x05.
    case authenticated
    /// A link that is encrypted with an authenticated 128-bit key of LE Secure Connections; without it, the
    /// error is 0x05.
    case secure
    /// Authorization, which every paired central has; without it, the error is 0x08.
    case authorized
}

/// The security that reads and writes of an attribute, and subscriptions to it, require.
public struct AttributePermissions: Hashable, Sendable {
    /// The security for reads.
    public var read: SecurityRequirement
    /// The security for writes.
    public var write: SecurityRequirement
    /// The security for writes of the Client Characteristic Configuration.
    public var notify: SecurityRequirement

    /// Makes permissions; by default, nothing is required.
    public init(
        read: SecurityRequirement = .open, write: SecurityRequirement = .open,
        notify: SecurityRequirement = .open
    ) {
        self.read = read
        self.write = write
        self.notify = notify
    }

    /// Permissions without any requirement.
    public static let open = AttributePermissions()
}

/// The properties of a characteristic (Core Specification, Vol 3, Part G, 3.3.1.1 and 3.3.3.1).
public struct CharacteristicProperties: OptionSet, Hashable, Sendable {
    /// The bits of the set.
    ///
    /// The low byte is that of the declaration, and the high byte that of the Extended Properties
    /// descriptor.
    public let rawValue: UInt16

    /// Makes a set of these bits.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The value may be broadcast (0x01).
    public static let broadcast = CharacteristicProperties(rawValue: 0x01)
    /// A central may read the value (0x02).
    public static let read = CharacteristicProperties(rawValue: 0x02)
    /// A central may write the value with a command, which gets no response (0x04).
    public static let writeWithoutResponse = CharacteristicProperties(rawValue: 0x04)
    /// A central may write the value with a request, which gets a response (0x08).
    public static let write = CharacteristicProperties(rawValue: 0x08)
    /// The value can be notified (0x10).
    public static let notify = CharacteristicProperties(rawValue: 0x10)
    /// The value can be indicated (0x20).
    public static let indicate = CharacteristicProperties(rawValue: 0x20)
    /// A central may write the value with a signed command (0x40).
    public static let authenticatedSignedWrites = CharacteristicProperties(rawValue: 0x40)
    /// The characteristic has an Extended Properties descriptor (0x80).
    public static let extendedProperties = CharacteristicProperties(rawValue: 0x80)
    /// Prepared writes are verified and executed together (extended, bit 0).
    public static let reliableWrite = CharacteristicProperties(rawValue: 0x100)
    /// A central may write the user description (extended, bit 1).
    public static let writableAuxiliaries = CharacteristicProperties(rawValue: 0x200)

    /// Each property with its name in a profile, in the order of their bits.
    package static let named: [(name: String, property: CharacteristicProperties)] = [
        ("broadcast", .broadcast), ("read", .read), ("writeWithoutResponse", .writeWithoutResponse),
        ("write", .write), ("notify", .notify), ("indicate", .indicate),
        ("authenticatedSignedWrites", .authenticatedSignedWrites),
        ("extendedProperties", .extendedProperties),
        ("reliableWrite", .reliableWrite), ("writableAuxiliaries", .writableAuxiliaries),
    ]

    /// The names of the properties in the set, in the order of their bits.
    package var names: [String] { Self.named.filter { contains($0.property) }.map(\.name) }
}

/// The definition of a descriptor.
public struct DescriptorDefinition: Hashable, Sendable {
    /// The descriptor's key.
    public var key: AttributeKey
    /// The descriptor's type.
    public var uuid: BluetoothUUID
    /// The properties, which can only be `read` and `write`.
    public var properties: CharacteristicProperties
    /// The security that reads and writes require.
    public var permissions: AttributePermissions
    /// The value with which the radio itself answers reads, or `nil` to pass reads to the `RadioSink`.
    public var value: [UInt8]?
    /// The longest value that may be written, in bytes.
    public var maximumLength: Int

    /// Makes a descriptor, readable and without security requirements by default.
    public init(
        key: AttributeKey = AttributeKey(), uuid: BluetoothUUID, properties: CharacteristicProperties = .read,
        permissions: AttributePermissions = .open, value: [UInt8]? = nil,
        maximumLength: Int = GATT.maximumValueLength
    ) {
        self.key = key
        self.uuid = uuid
        self.properties = properties
        self.permissions = permissions
        self.value = value
        self.maximumLength = maximumLength
    }
}

/// The rules for sending the values of a characteristic.
package struct UpdateRules: Hashable, Sendable {
    /// `true` to send a value that is too long for a link in pieces of ATT_MTU − 3 bytes.
    ///
    /// Otherwise, only its first bytes are sent (Core Specification, Vol 3, Part F, 3.4.7.1).
    package var isInPieces = false
    /// The centrals to which values are sent.
    package var subscription = Subscription.asked

    /// Makes the default rules: values are sent to subscribers, and truncated if they are too long.
    package init() {}

    /// The centrals to which values are sent.
    package enum Subscription: Hashable, Sendable {
        /// The centrals that have subscribed through the Client Characteristic Configuration.
        case asked
        /// All centrals; there is no Client Characteristic Configuration.
        case none
        /// All centrals, regardless of their Client Characteristic Configuration.
        case always
    }
}

extension CharacteristicDefinition {
    /// Whether the characteristic has a Client Characteristic Configuration descriptor.
    package var hasConfiguration: Bool {
        !properties.isDisjoint(with: .anyUpdate) && updates.subscription != .none
    }
}

/// The definition of a characteristic.
public struct CharacteristicDefinition: Hashable, Sendable {
    /// The key of the characteristic's value.
    public var key: AttributeKey
    /// The characteristic's type.
    public var uuid: BluetoothUUID
    /// The properties, as in the characteristic's declaration.
    public var properties: CharacteristicProperties
    /// The security that each kind of access requires.
    public var permissions: AttributePermissions
    /// The value with which the radio itself answers reads, or `nil` to pass reads to the `RadioSink`.
    public var value: [UInt8]?
    /// The longest value that may be written, in bytes.
    public var maximumLength: Int
    /// The descriptors in order, without 0x2900 and 0x2902, which the radio adds.
    public var descriptors: [DescriptorDefinition]
    /// The rules for sending the values.
    package var updates = UpdateRules()
    /// The key by which a fault identifies the Client Characteristic Configuration, or `nil` if no fault
    /// does.
    package var configurationKey: AttributeKey?

    /// Makes a characteristic with values of up to 512 bytes, and without security requirements by default.
    public init(
        key: AttributeKey = AttributeKey(), uuid: BluetoothUUID, properties: CharacteristicProperties,
        permissions: AttributePermissions = .open, value: [UInt8]? = nil,
        maximumLength: Int = GATT.maximumValueLength, descriptors: [DescriptorDefinition] = []
    ) {
        self.key = key
        self.uuid = uuid
        self.properties = properties
        self.permissions = permissions
        self.value = value
        self.maximumLength = maximumLength
        self.descriptors = descriptors
    }
}

/// The definition of a service.
public struct ServiceDefinition: Hashable, Sendable {
    /// The service's key.
    public var key: AttributeKey
    /// The service's type.
    public var uuid: BluetoothUUID
    /// `true` for a primary service, `false` for a secondary one.
    public var isPrimary: Bool
    /// The keys of the included services, which must be published in the same batch, before this service.
    public var includes: [AttributeKey]
    /// The characteristics, in order.
    public var characteristics: [CharacteristicDefinition]

    /// Makes a service, primary by default.
    public init(
        key: AttributeKey = AttributeKey(), uuid: BluetoothUUID, isPrimary: Bool = true,
        includes: [AttributeKey] = [],
        characteristics: [CharacteristicDefinition] = []
    ) {
        self.key = key
        self.uuid = uuid
        self.isPrimary = isPrimary
        self.includes = includes
        self.characteristics = characteristics
    }
}

/// Constants of the Generic Attribute Profile.
public enum GATT {
    /// The longest attribute value, in bytes (Core Specification, Vol 3, Part F, 3.2.9).
    public static let maximumValueLength = 512
    /// The ATT_MTU of an LE link before an exchange, in bytes (Vol 3, Part G, 5.2.1).
    public static let defaultMTU = 23
    /// The number of bytes of a notification's opcode and handle, which are part of ATT_MTU (Vol 3, Part F,
    /// 3.4.7.1).
    package static let notificationHeaderLength = 3

    /// The GAP service, which the radio adds.
    package static let genericAccess = BluetoothUUID(0x1800 as UInt16)
    /// The GATT service, which the radio adds.
    package static let genericAttribute = BluetoothUUID(0x1801 as UInt16)
    /// Characteristic Extended Properties, which the radio adds.
    package static let extendedProperties = BluetoothUUID(0x2900 as UInt16)
    /// Characteristic User Description.
    public static let userDescription = BluetoothUUID(0x2901 as UInt16)
    /// Client Characteristic Configuration, which the radio adds.
    public static let clientConfiguration = BluetoothUUID(0x2902 as UInt16)
}
