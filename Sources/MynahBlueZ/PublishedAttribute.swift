import MynahCore
import MynahDBus

/// A published characteristic or descriptor.
struct PublishedAttribute {
    let path: ObjectPath
    let uuid: BluetoothUUID
    /// The value with which the radio answers reads by itself, or `nil` if it asks the sink.
    var value: [UInt8]?
    let permissions: AttributePermissions
    /// The longest value that may be written, in bytes.
    let maximumLength: Int
    /// Notifications or indications, or `nil` if the attribute supports both or neither.
    let delivery: Delivery?
    /// Whether the characteristic supports notifications or indications.
    let sends: Bool

    init(_ definition: CharacteristicDefinition, at path: ObjectPath) {
        self.path = path
        uuid = definition.uuid
        value = definition.value
        permissions = definition.permissions
        maximumLength = definition.maximumLength
        delivery = definition.properties.delivery
        sends = !definition.properties.isDisjoint(with: .anyUpdate)
    }

    init(_ definition: DescriptorDefinition, at path: ObjectPath) {
        self.path = path
        uuid = definition.uuid
        value = definition.value
        permissions = definition.permissions
        maximumLength = definition.maximumLength
        delivery = nil
        sends = false
    }
}

extension CharacteristicProperties {
    /// Notifications or indications, or `nil` if the characteristic supports both or neither.
    fileprivate var delivery: Delivery? {
        switch intersection(.anyUpdate) {
        case .notify: .notification
        case .indicate: .indication
        default: nil
        }
    }
}
