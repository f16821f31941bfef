import MynahCore

/// Values that behaviors send and that wait for room, each central's in order.
struct Outbox {
    /// A value for one central, or for every subscriber if the radio cannot address one.
    struct Value: Equatable {
        var bytes: [UInt8]
        var attribute: AttributeKey
        var central: Peer.ID?
    }

    /// The most values that wait for one central, which may write and never make room.
    static let limit = 64

    private(set) var values: [Value] = []

    /// Adds a value; returns `false` if too many wait already.
    mutating func add(_ value: Value) -> Bool {
        guard values.count(where: { $0.central == value.central }) < Self.limit else { return false }
        values.append(value)
        return true
    }

    /// Whether a value of an attribute waits for a central, or for everyone.
    func contains(_ attribute: AttributeKey, for central: Peer.ID) -> Bool {
        values.contains { $0.attribute == attribute && ($0.central == central || $0.central == nil) }
    }

    /// Sends what there is room for; `send` returns `false` if there is none.
    mutating func deliver(_ send: (Value) -> Bool) {
        var full: Set<Peer.ID?> = []
        values = values.filter { value in
            guard !full.contains(value.central), send(value) else {
                full.insert(value.central)
                return true
            }
            return false
        }
    }

    /// A central's link has ended.
    mutating func forget(_ central: Peer.ID) {
        values.removeAll { $0.central == central }
    }

    /// A central has unsubscribed from an attribute.
    mutating func forget(_ central: Peer.ID, _ attribute: AttributeKey) {
        values.removeAll { $0.central == central && $0.attribute == attribute }
    }

    /// Forgets values for everyone of attributes to which nobody is subscribed.
    mutating func forgetUnaddressed(_ isUnsubscribed: (AttributeKey) -> Bool) {
        values.removeAll { $0.central == nil && isUnsubscribed($0.attribute) }
    }
}
