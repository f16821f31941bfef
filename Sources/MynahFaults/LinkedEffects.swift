import MynahCore

/// The lasting effects that end with the link of the central that they applied to.
struct LinkedEffects: Sendable {
    private var effects: [(fault: String, central: Peer.ID?)] = []

    /// The effect of a fault began; `central` is `nil` if no central in particular caused it.
    mutating func begin(_ fault: Fault, of central: Peer.ID?) {
        effects.removeAll { $0.fault == fault.name }
        if fault.endsWithLink { effects.append((fault.name, central)) }
    }

    /// Removes the effects that end because a central has disconnected; returns their faults, in the order in
    /// which they began.
    mutating func takeEnded(by central: Peer.ID) -> [String] {
        let ended = effects.filter { $0.central == nil || $0.central == central }.map(\.fault)
        effects.removeAll { ended.contains($0.fault) }
        return ended
    }
}
