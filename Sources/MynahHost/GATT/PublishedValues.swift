import MynahCore

/// The published characteristics: their properties, and the rules for sending their values.
struct PublishedValues: Sendable {
    /// The characteristics' properties, by key.
    private(set) var properties: [AttributeKey: CharacteristicProperties] = [:]
    /// The rules for sending values, by characteristic, if they differ from the default.
    private var updates: [AttributeKey: UpdateRules] = [:]
    /// The characteristics whose values are sent without a subscription, in the order of their publication.
    private var unasked: [AttributeKey] = []
    /// The Client Characteristic Configurations (0x2902) that faults can name.
    private(set) var configurations = ConfigurationKeys()

    /// Adds a published characteristic.
    mutating func add(_ characteristic: CharacteristicDefinition) {
        properties[characteristic.key] = characteristic.properties
        configurations.add(characteristic)
        let rules = characteristic.updates
        updates[characteristic.key] = rules == UpdateRules() ? nil : rules
        unasked.removeAll { $0 == characteristic.key }
        if rules.subscription != .asked { unasked.append(characteristic.key) }
    }

    /// Removes the characteristics of withdrawn services.
    mutating func remove(_ services: [ServiceDefinition]) {
        for characteristic in services.flatMap(\.characteristics) {
            properties[characteristic.key] = nil
            updates[characteristic.key] = nil
            configurations.remove(characteristic)
            unasked.removeAll { $0 == characteristic.key }
        }
    }

    /// Divides a value for a link that carries `room` bytes at a time.
    ///
    /// The result has only the first bytes (Core Specification, Vol 3, Part F, 3.4.7.1), or the whole value
    /// in pieces.
    func parts(of value: [UInt8], _ key: AttributeKey, room: Int) -> (parts: [[UInt8]], isCut: Bool) {
        guard value.count > room else { return ([value], false) }
        if updates[key]?.isInPieces == true { return (value.pieces(of: room), false) }
        return ([Array(value.prefix(room))], true)
    }

    // MARK: Values that are sent whether or not a client has configured that

    /// Returns the configuration of a client that has not written one; 0 if values are sent to subscribers
    /// only.
    func unasked(_ key: AttributeKey) -> UInt16 {
        guard !updates.isEmpty, let rules = updates[key], rules.subscription != .asked else { return 0 }
        return properties[key]?.contains(.notify) == true ? 1 : 2
    }

    /// Returns the event for a client's new configuration.
    ///
    /// Returns `nil` for a characteristic whose values are sent without a subscription.
    func event(for key: AttributeKey, bits: UInt16, of central: Peer.ID) -> RadioEvent? {
        guard unasked(key) == 0 else { return nil }
        let delivery: Delivery? = bits & 2 != 0 ? .indication : bits & 1 != 0 ? .notification : nil
        return delivery.map { .subscribed(key, central, $0) } ?? .unsubscribed(key, central)
    }

    /// Returns the characteristics of services whose values are sent without a subscription; `nil` means all
    /// services.
    func unaskedKeys(of services: [ServiceDefinition]? = nil) -> [AttributeKey] {
        guard let services, !unasked.isEmpty else { return unasked }
        return services.flatMap(\.characteristics).map(\.key).filter { unasked.contains($0) }
    }

    /// Returns the subscriptions to report when a client connects, because its values are sent without a
    /// subscription.
    ///
    /// Only the given services count, or all of them with `nil`.
    func unaskedEvents(for central: Peer.ID, of services: [ServiceDefinition]? = nil) -> [RadioEvent] {
        unaskedKeys(of: services).map {
            .subscribed($0, central, unasked($0) == 1 ? .notification : .indication)
        }
    }
}
