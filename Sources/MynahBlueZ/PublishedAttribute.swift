import MynahCore
import MynahDBus

/// A published characteristic or descriptor.
struct PublishedAttribute {
    let path: ObjectPath
    let uuid: BluetoothUUID
    /// The value that the radio returns by itself, or `nil` if the radio asks the sink.
    var value: [UInt8]?
    let permissions: AttributePermissions
    /// The longest value that may be written, in bytes.
    let maximumLength: Int
    /// The way of sending, or `nil` if the attribute supports both notifications and indications, or neither.
    let delivery: Delivery?
    /// Whether the characteristic supports notifications or indications.
    let sends: Bool
    /// Whether a value that is too long for a link is sent in pieces.
    let isInPieces: Bool

    init(_ definition: CharacteristicDefinition, at path: ObjectPath) {
        self.path = path
        uuid = definition.uuid
        value = definition.value
        permissions = definition.permissions
        maximumLength = definition.maximumLength
        delivery = definition.properties.delivery
        sends = !definition.properties.isDisjoint(with: .anyUpdate)
        isInPieces = definition.updates.isInPieces
    }

    init(_ definition: DescriptorDefinition, at path: ObjectPath) {
        self.path = path
        uuid = definition.uuid
        value = definition.value
        permissions = definition.permissions
        maximumLength = definition.maximumLength
        delivery = nil
        (sends, isInPieces) = (false, false)
    }
}

extension CharacteristicProperties {
    /// The way of sending, or `nil` if the characteristic supports both, or neither.
    fileprivate var delivery: Delivery? {
        switch intersection(.anyUpdate) {
        case .notify: .notification
        case .indicate: .indication
        default: nil
        }
    }
}
