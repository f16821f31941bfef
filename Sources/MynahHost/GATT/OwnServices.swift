import MynahCore
import MynahSupport

// The services that every server has.
extension DeviceIdentity {
    /// The services GAP and GATT (Core Specification, Vol 3, Part C, 12 and Part G, 7).
    ///
    /// `changed` is the Service Changed characteristic, or `nil` if the device has none.
    func services(serviceChanged changed: CharacteristicDefinition?) -> [ServiceDefinition] {
        let name = CharacteristicDefinition(
            uuid: AttributeType.deviceName, properties: .read,
            value: Array(name.utf8.prefix(Self.longestName)))
        var writer = ByteWriter(capacity: 2)
        writer.write(appearance ?? 0)
        let appearance = CharacteristicDefinition(
            uuid: AttributeType.appearance, properties: .read, value: writer.bytes)
        let client = CharacteristicDefinition(
            uuid: AttributeType.clientSupportedFeatures, properties: [.read, .write])
        let hash = CharacteristicDefinition(uuid: AttributeType.databaseHash, properties: .read)
        // No feature is supported: there is no enhanced bearer.
        let server = CharacteristicDefinition(
            uuid: AttributeType.serverSupportedFeatures, properties: .read, value: [0])
        return [
            ServiceDefinition(uuid: GATT.genericAccess, characteristics: [name, appearance]),
            ServiceDefinition(
                uuid: GATT.genericAttribute,
                characteristics: (changed.map { [$0] } ?? []) + [client, hash, server]),
        ]
    }
}
