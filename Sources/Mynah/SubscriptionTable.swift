import MynahCore

/// The subscriptions of a manager's attributes, as far as the radio reports them.
struct SubscriptionTable {
    private struct Entry {
        /// The subscribers that the radio identifies, in the order of their numbers.
        var named: [Peer.ID] = []
        /// Whether there are subscribers that the radio cannot identify or count.
        var unnamed = false

        mutating func insert(_ central: Peer.ID) {
            let place = named.firstIndex { $0.rawValue >= central.rawValue } ?? named.endIndex
            if place == named.endIndex || named[place] != central { named.insert(central, at: place) }
        }
    }

    private var entries: [AttributeKey: Entry] = [:]

    mutating func subscribe(_ central: Peer.ID?, to attribute: AttributeKey) {
        if let central {
            entries[attribute, default: Entry()].insert(central)
        } else {
            entries[attribute, default: Entry()].unnamed = true
        }
    }

    /// Ends the subscription of a central, or those of all unidentified centrals if `central` is `nil`.
    mutating func unsubscribe(_ central: Peer.ID?, from attribute: AttributeKey) {
        guard var entry = entries[attribute] else { return }
        if let central { entry.named.removeAll { $0 == central } } else { entry.unnamed = false }
        entries[attribute] = entry.named.isEmpty && !entry.unnamed ? nil : entry
    }

    mutating func forget(_ central: Peer.ID) {
        for attribute in Array(entries.keys) where entries[attribute]?.named.contains(central) == true {
            unsubscribe(central, from: attribute)
        }
    }

    mutating func remove(_ services: [ServiceDefinition]) {
        for key in services.flatMap(\.attributeKeys) { entries[key] = nil }
    }

    mutating func removeAll() {
        entries = [:]
    }

    /// Every attribute that has a subscriber.
    var attributes: [AttributeKey] { entries.keys.sorted { $0.rawValue < $1.rawValue } }

    /// Whether there are subscribers that the radio does not identify.
    func hasUnnamed(_ attribute: AttributeKey) -> Bool {
        entries[attribute]?.unnamed == true
    }

    func isSubscribed(_ attribute: AttributeKey) -> Bool {
        entries[attribute] != nil
    }

    /// The subscribers that the radio identifies, in the order of their numbers.
    func centrals(of attribute: AttributeKey) -> [Peer.ID] {
        entries[attribute]?.named ?? []
    }
}
