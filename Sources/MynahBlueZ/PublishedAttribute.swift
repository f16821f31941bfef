import MynahCore
import MynahDBus

/// A published characteristic or descriptor.
struct PublishedAttribute {
    let path: ObjectPath
    let uuid: BluetoothUUID
    /// The value with which the radio answers reads, or `nil` if the `RadioSink` answers them.
    var value: [UInt8]?
    let permissions: AttributePermissions
    /// Whether the attribute has the property of reads, and one of writes.
    let (isReadable, isWritable): (Bool, Bool)
    /// The longest value that may be written, in bytes.
    let maximumLength: Int
    /// The only way in which the attribute sends values: by notification or by indication.
    ///
    /// The value is `nil` if the attribute supports both ways or neither.
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
        isReadable = definition.properties.contains(.read)
        isWritable = !definition.properties.isDisjoint(with: .anyWrite)
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
        isReadable = definition.properties.contains(.read)
        isWritable = definition.properties.contains(.write)
        maximumLength = definition.maximumLength
        delivery = nil
        (sends, isInPieces) = (false, false)
    }
}

extension CharacteristicProperties {
    /// The only way in which the characteristic sends values: by notification or by indication.
    ///
    /// The value is `nil` if the characteristic supports both ways or neither.
    fileprivate var delivery: Delivery? {
        switch intersection(.anyUpdate) {
        case .notify: .notification
        case .indicate: .indication
        default: nil
        }
    }
}
