import MynahCore
import MynahFaults

/// The keys of Client Characteristic Configurations, with which a fault can refer to them.
struct ConfigurationKeys: Sendable {
    private var keys: [AttributeKey: AttributeKey] = [:]

    /// Adds a published characteristic.
    mutating func add(_ characteristic: CharacteristicDefinition) {
        keys[characteristic.key] = characteristic.configurationKey
    }

    mutating func remove(_ characteristic: CharacteristicDefinition) { keys[characteristic.key] = nil }

    /// Describes a request to a Client Characteristic Configuration, so that faults can apply to the request.
    ///
    /// Returns `nil` for other requests, or if no configuration has a key.
    func request(_ request: ATTRequest, _ database: AttributeDatabase) -> LowerRequest? {
        guard !keys.isEmpty else { return nil }
        switch request {
        case .findInformation(let range): return .discover(all(in: range, database))
        case .readByType(let range, GATT.clientConfiguration):
            return all(in: range, database).first.map { .readConfiguration($0) }
        case .read(let handle), .readBlob(let handle, 0):
            return key(of: database[handle]).map { .readConfiguration($0) }
        case .write(let handle, let value):
            return key(of: database[handle]).map {
                .writeConfiguration($0, subscribes: value.contains { $0 != 0 })
            }
        default: return nil
        }
    }

    private func all(
        in range: ClosedRange<AttributeHandle>, _ database: AttributeDatabase
    ) -> [ConfigurationKey] {
        database[range].compactMap { key(of: $0) }
    }

    private func key(of attribute: Attribute?) -> ConfigurationKey? {
        guard case .configuration(let characteristic, _)? = attribute?.content else { return nil }
        return keys[characteristic].map { ConfigurationKey($0, of: characteristic) }
    }
}
