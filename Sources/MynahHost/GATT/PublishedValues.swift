import MynahCore

/// The published characteristics, with their properties and the rules for sending their values.
struct PublishedValues: Sendable {
    /// The characteristics' properties, by key.
    private(set) var properties: [AttributeKey: CharacteristicProperties] = [:]
    /// The rules for sending values, by characteristic; characteristics with the default rules are left out.
    private var updates: [AttributeKey: UpdateRules] = [:]
    /// The characteristics whose values are sent without a subscription, in the order of their publication.
    private var unasked: [AttributeKey] = []
    /// The Client Characteristic Configurations (0x2902) to which faults can refer.
    private(set) var configurations = ConfigurationKeys()

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
    /// The result is all of the value, in pieces if necessary, or only its first bytes (Core Specification,
    /// Vol 3, Part F, 3.4.7.1).
    func parts(of value: [UInt8], _ key: AttributeKey, room: Int) -> (parts: [[UInt8]], isCut: Bool) {
        guard value.count > room else { return ([value], false) }
        if updates[key]?.isInPieces == true { return (value.pieces(of: room), false) }
        return ([Array(value.prefix(room))], true)
    }

    // MARK: Values that are sent without a subscription

    /// Returns the Client Characteristic Configuration that applies to a client that has not written one.
    ///
    /// The result is 0 if values are sent only to subscribers.
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

    /// Returns the characteristics whose values are sent without a subscription.
    ///
    /// `services` limits the result to these services; `nil` means all services.
    func unaskedKeys(of services: [ServiceDefinition]? = nil) -> [AttributeKey] {
        guard let services, !unasked.isEmpty else { return unasked }
        return services.flatMap(\.characteristics).map(\.key).filter { unasked.contains($0) }
    }

    /// Returns the subscription events to report when a client connects.
    ///
    /// They are for characteristics whose values are sent without a subscription. `services` limits them to
    /// these services; `nil` means all services.
    func unaskedEvents(for central: Peer.ID, of services: [ServiceDefinition]? = nil) -> [RadioEvent] {
        unaskedKeys(of: services).map {
            .subscribed($0, central, unasked($0) == 1 ? .notification : .indication)
        }
    }
}
