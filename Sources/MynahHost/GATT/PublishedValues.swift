import MynahCore

/// The characteristics that are published: their properties, and how their values are sent.
struct PublishedValues: Sendable {
    /// The properties, by key.
    private(set) var properties: [AttributeKey: CharacteristicProperties] = [:]
    /// How values are sent, by characteristic; without those that are sent as usual.
    private var updates: [AttributeKey: UpdateRules] = [:]
    /// Those whose values are sent unasked, in the order of their publication.
    private var unasked: [AttributeKey] = []
    /// The descriptors 2902 that faults can name.
    private(set) var configurations = ConfigurationKeys()

    /// A characteristic is published.
    mutating func add(_ characteristic: CharacteristicDefinition) {
        properties[characteristic.key] = characteristic.properties
        configurations.add(characteristic)
        let rules = characteristic.updates
        updates[characteristic.key] = rules == UpdateRules() ? nil : rules
        unasked.removeAll { $0 == characteristic.key }
        if rules.subscription != .asked { unasked.append(characteristic.key) }
    }

    /// Services are withdrawn.
    mutating func remove(_ services: [ServiceDefinition]) {
        for characteristic in services.flatMap(\.characteristics) {
            properties[characteristic.key] = nil
            updates[characteristic.key] = nil
            unasked.removeAll { $0 == characteristic.key }
        }
    }

    /// The parts of a value that a link with room for `room` bytes carries: its first bytes (Core
    /// Specification, Vol 3, Part F, 3.4.7.1), or all in pieces.
    func parts(of value: [UInt8], _ key: AttributeKey, room: Int) -> (parts: [[UInt8]], isCut: Bool) {
        guard value.count > room else { return ([value], false) }
        if updates[key]?.isInPieces == true { return (value.pieces(of: room), false) }
        return ([Array(value.prefix(room))], true)
    }

    // MARK: Values that are sent whether or not a client has configured that

    /// The configuration with which values of a characteristic are sent that a client has not configured; 0
    /// if they are not sent.
    func unasked(_ key: AttributeKey) -> UInt16 {
        guard !updates.isEmpty, let rules = updates[key], rules.subscription != .asked else { return 0 }
        return properties[key]?.contains(.notify) == true ? 1 : 2
    }

    /// The event for a configuration by a client, or `nil` for a characteristic whose values are sent in any
    /// case.
    func event(for key: AttributeKey, bits: UInt16, of central: Peer.ID) -> RadioEvent? {
        guard unasked(key) == 0 else { return nil }
        let delivery: Delivery? = bits & 2 != 0 ? .indication : bits & 1 != 0 ? .notification : nil
        return delivery.map { .subscribed(key, central, $0) } ?? .unsubscribed(key, central)
    }

    /// The characteristics of services whose values are sent unasked; `nil` means all services.
    func unaskedKeys(of services: [ServiceDefinition]? = nil) -> [AttributeKey] {
        guard let services, !unasked.isEmpty else { return unasked }
        return services.flatMap(\.characteristics).map(\.key).filter { unasked.contains($0) }
    }

    /// A client counts as subscribed to them from its connection on; `nil` means all services.
    func unaskedEvents(for central: Peer.ID, of services: [ServiceDefinition]? = nil) -> [RadioEvent] {
        unaskedKeys(of: services).map {
            .subscribed($0, central, unasked($0) == 1 ? .notification : .indication)
        }
    }
}
