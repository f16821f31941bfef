/// The PHYs of the two directions of a connection: one PHY each, or a bit for each PHY that may be
/// chosen.
struct LinkPHYs: Hashable, Sendable {
    var sending: UInt8
    var receiving: UInt8

    init(sending: UInt8, receiving: UInt8) {
        self.sending = sending
        self.receiving = receiving
    }

    /// Parses the PHYs that a host prefers, or returns `nil` if they are invalid (Core Specification, Vol 4,
    /// Part E, 7.8.48).
    ///
    /// A set bit of `all` means that the host has no preference for that direction.
    init?(all: UInt8, sending: UInt8, receiving: UInt8) {
        self.sending = all & 1 != 0 ? 7 : sending
        self.receiving = all & 2 != 0 ? 7 : receiving
        guard (1...7).contains(self.sending), (1...7).contains(self.receiving) else { return nil }
    }
}

/// The PHY update procedure of a connection (Core Specification, Vol 6, Part B, 5.1.10).
struct PHYProcedure: Sendable {
    /// The PHYs as numbers: 1 for LE 1M, 2 for LE 2M, 3 for LE Coded.
    private(set) var current = LinkPHYs(sending: 1, receiving: 1)
    private var isRequested = false

    /// Requests PHYs from the peer, unless a request is waiting for its answer.
    mutating func request(_ wanted: LinkPHYs, _ actions: inout [ConnectionAction]) -> HCIStatus {
        guard !isRequested else { return .commandDisallowed }
        isRequested = true
        actions.append(.begin(.phyRequest(sending: wanted.sending, receiving: wanted.receiving)))
        return .success
    }

    /// Answers a request of the peer with the fastest PHYs that both sides accept.
    mutating func receiveRequest(
        _ wanted: LinkPHYs, _ settings: ConnectionSettings, _ endpoints: ConnectionEndpoints,
        _ actions: inout [ConnectionAction]
    ) {
        // This side's transmit direction is the peer's receive direction.
        let preferred = settings.defaultPHYs
        let chosen = LinkPHYs(
            sending: Self.fastest(wanted.receiving & preferred.sending, settings) ?? current.sending,
            receiving: Self.fastest(wanted.sending & preferred.receiving, settings) ?? current.receiving)
        actions.append(.send(.phyUpdate(sending: chosen.sending, receiving: chosen.receiving)))
        use(chosen, isRequested: false, endpoints, &actions)
    }

    /// Applies the PHYs that the peer chose.
    ///
    /// In `chosen`, sending and receiving are those of the peer.
    mutating func receiveUpdate(
        _ chosen: LinkPHYs, _ endpoints: ConnectionEndpoints, _ actions: inout [ConnectionAction]
    ) {
        guard isRequested, (1...3).contains(chosen.sending), (1...3).contains(chosen.receiving)
        else { return }
        isRequested = false
        let own = LinkPHYs(sending: chosen.receiving, receiving: chosen.sending)
        use(own, isRequested: true, endpoints, &actions)
    }

    private mutating func use(
        _ phys: LinkPHYs, isRequested: Bool, _ endpoints: ConnectionEndpoints,
        _ actions: inout [ConnectionAction]
    ) {
        let isNew = current != phys
        current = phys
        guard isRequested || isNew else { return }
        actions.append(
            .reportLE(
                HCIEvent.LESubevent.phyUpdateComplete,
                [0] + endpoints.handleBytes + [phys.sending, phys.receiving]))
    }

    private static func fastest(_ phys: UInt8, _ settings: ConnectionSettings) -> UInt8? {
        guard settings.isExtended else { return 1 }
        return phys & 2 != 0 ? 2 : phys & 1 != 0 ? 1 : phys & 4 != 0 ? 3 : nil
    }
}
