import MynahCore

/// The lasting effects that end with the link of the central that caused them.
struct LinkedEffects: Sendable {
    private var effects: [(fault: String, central: Peer.ID?)] = []

    /// Records that the effect of a fault began; `central` is `nil` if it was not caused by a single central.
    mutating func begin(_ fault: Fault, of central: Peer.ID?) {
        effects.removeAll { $0.fault == fault.name }
        if fault.endsWithLink { effects.append((fault.name, central)) }
    }

    /// Removes and returns the faults whose effects end because a central has disconnected, in the order in
    /// which they began.
    mutating func takeEnded(by central: Peer.ID) -> [String] {
        let ended = effects.filter { $0.central == nil || $0.central == central }.map(\.fault)
        effects.removeAll { ended.contains($0.fault) }
        return ended
    }
}
