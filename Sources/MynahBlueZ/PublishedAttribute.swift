import MynahCore
import MynahDBus

/// A published characteristic or descriptor.
struct PublishedAttribute {
    let path: ObjectPath
    let uuid: BluetoothUUID
    /// The value that the radio returns by itself, or `nil` if the sink is asked.
    var value: [UInt8]?
    let permissions: AttributePermissions
    /// The longest value that may be written, in bytes.
    let maximumLength: Int
    /// Notification or indication, or `nil` if the attribute supports both or none.
    let delivery: Delivery?
    /// `true` if the characteristic notifies or indicates.
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
    /// The only way of sending, or `nil` if there are two or none.
    fileprivate var delivery: Delivery? {
        switch intersection(.anyUpdate) {
        case .notify: .notification
        case .indicate: .indication
        default: nil
        }
    }
}
