import MynahCore

/// The values that wait for space in a link's send queue, in order for each central.
struct Outbox {
    /// A value for one central, or for all subscribers if the radio cannot address one of them.
    struct Value: Equatable {
        var bytes: [UInt8]
        var attribute: AttributeKey
        var central: Peer.ID?
    }

    private(set) var values: [Value] = []
    private var room = AnswerRoom()

    /// Adds a value; returns `false` if too many already wait.
    ///
    /// The limit keeps a central that writes but accepts no values from filling the memory.
    mutating func add(_ value: Value) -> Bool {
        guard room.take(value.bytes.count, of: value.central) else { return false }
        values.append(value)
        return true
    }

    /// Whether a value of an attribute waits for this central, or for all subscribers.
    func contains(_ attribute: AttributeKey, for central: Peer.ID) -> Bool {
        values.contains { $0.attribute == attribute && ($0.central == central || $0.central == nil) }
    }

    /// Sends values in order, until `send` returns `false` because a link has no space.
    mutating func deliver(_ send: (Value) -> Bool) {
        var full: Set<Peer.ID?> = []
        // With only one central, the first value without space ends the loop.
        let centrals = room.centrals
        var (kept, next): ([Value], Int) = ([], 0)
        while next < values.count, full.count < centrals {
            let value = values[next]
            next += 1
            if !full.contains(value.central), send(value) {
                room.release(value.bytes.count, of: value.central)
            } else {
                full.insert(value.central)
                kept.append(value)
            }
        }
        values.replaceSubrange(..<next, with: kept)
    }

    /// Discards the values for a central whose link has ended.
    mutating func forget(_ central: Peer.ID) {
        remove { $0.central == central }
    }

    /// Discards the values of an attribute for a central that has unsubscribed.
    mutating func forget(_ central: Peer.ID, _ attribute: AttributeKey) {
        remove { $0.central == central && $0.attribute == attribute }
    }

    /// Discards the values for all subscribers of attributes that no longer have a subscriber.
    mutating func forgetUnaddressed(_ isUnsubscribed: (AttributeKey) -> Bool) {
        remove { $0.central == nil && isUnsubscribed($0.attribute) }
    }

    private mutating func remove(_ isRemoved: (Value) -> Bool) {
        values.removeAll { value in
            guard isRemoved(value) else { return false }
            room.release(value.bytes.count, of: value.central)
            return true
        }
    }
}
