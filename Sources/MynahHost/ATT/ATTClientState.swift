import MynahCore
import MynahSupport

/// The state that the server keeps for a bonded client: Client Characteristic Configurations, supported
/// features and change-awareness (Core Specification, Vol 3, Part G, 2.5.2, 3.3.3.3 and 7.2).
struct ATTClientState: Sendable {
    /// Whether the client is change-aware (Vol 3, Part G, 2.5.2.1).
    enum Awareness: Hashable {
        case aware
        case unaware
        /// The client received Database Out Of Sync or read the hash, so its next request makes it
        /// change-aware.
        case informed
    }

    /// The Client Characteristic Configurations, by descriptor handle.
    var configurations = SortedMap<AttributeHandle, UInt16>()
    /// The Client Supported Features.
    var features: UInt8 = 0
    var awareness = Awareness.aware

    /// `true` if the client supports Multiple Handle Value Notifications: bit 2 (Vol 3, Part G, 7.2).
    var takesMultipleNotifications: Bool { features & 4 != 0 }

    /// Makes a client with robust caching change-unaware, because the database changed.
    mutating func databaseChanged() {
        // Bit 0 of Client Supported Features: robust caching.
        if features & 1 != 0 { awareness = .unaware }
    }

    /// The value of an attribute if the host can answer a read of it, or `nil` if the application must
    /// answer.
    func known(_ attribute: Attribute, _ database: AttributeDatabase) -> [UInt8]? {
        switch attribute.content {
        case .constant, .service: return attribute.constantValue
        case .value(_, let fixed): return fixed
        case .configuration:
            let value = configurations[attribute.handle] ?? 0
            return [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
        case .clientFeatures: return [features]
        case .databaseHash: return database.hash
        }
    }

    /// Writes an attribute whose value is part of this state.
    mutating func write(_ value: [UInt8], to attribute: Attribute) throws(ATTServer.Denial) -> [ATTAction] {
        switch attribute.content {
        case .configuration(let key, let allowed):
            return try configure(attribute.handle, key, allowed, value)
        case .clientFeatures: return try setFeatures(attribute.handle, value)
        case .value, .constant, .service, .databaseHash:
            throw ATTServer.Denial(.writeNotPermitted, at: attribute.handle)
        }
    }

    /// Writes a Client Characteristic Configuration (Vol 3, Part G, 3.3.3.3).
    ///
    /// Throws if the value is not two bytes, or sets a bit that the characteristic's properties do not allow.
    private mutating func configure(
        _ handle: AttributeHandle, _ key: AttributeKey, _ allowed: CharacteristicProperties, _ value: [UInt8]
    ) throws(ATTServer.Denial) -> [ATTAction] {
        guard value.count == 2 else { throw ATTServer.Denial(.invalidAttributeValueLength, at: handle) }
        let bits = UInt16(value[0]) | UInt16(value[1]) << 8
        let known: UInt16 = (allowed.contains(.notify) ? 1 : 0) | (allowed.contains(.indicate) ? 2 : 0)
        guard bits & ~3 == 0 else { throw ATTServer.Denial(.valueNotAllowed, at: handle) }
        guard bits & ~known == 0 else { throw ATTServer.Denial(.cccdImproperlyConfigured, at: handle) }
        let old = configurations[handle] ?? 0
        guard bits != old else { return [] }
        configurations[handle] = bits == 0 ? nil : bits
        return [.configured(key, bits)]
    }

    /// Sets the Client Supported Features; throws if the value clears a feature (Vol 3, Part G, 7.2).
    private mutating func setFeatures(
        _ handle: AttributeHandle, _ value: [UInt8]
    ) throws(ATTServer.Denial) -> [ATTAction] {
        guard let first = value.first else {
            throw ATTServer.Denial(.invalidAttributeValueLength, at: handle)
        }
        guard features & ~first == 0 else { throw ATTServer.Denial(.valueNotAllowed, at: handle) }
        features = first & 0x07
        return [.clientFeatures(features)]
    }
}
