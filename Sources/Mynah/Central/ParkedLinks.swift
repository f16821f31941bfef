import MynahCore

/// Links whose device is not known before the request that they answer has returned; their events wait until then.
///
/// A bonded device that is asked for by a resolvable private address is reported by its identity address, and some radios
/// report no address at all. Which device such a link is to is known when the radio returns from the request.
struct ParkedLinks: Sendable {
    /// What a new link is to.
    enum Device: Hashable, Sendable {
        case known(DeviceAddress)
        /// It is known when a request returns.
        case unknown
        /// Nobody asked for it, and it has no address.
        case nobody
    }

    private var events: [Peer.ID: [CentralEvent]] = [:]

    /// Returns what a new link is to, while these addresses are asked for.
    func device(of peer: Peer, asked: [DeviceAddress]) -> Device {
        guard let address = peer.address else { return asked.isEmpty ? .nobody : .unknown }
        guard !asked.contains(address) else { return .known(address) }
        let mayBeIdentity = !address.isResolvable && asked.contains { $0.isResolvable }
        return mayBeIdentity ? .unknown : .known(address)
    }

    /// A link's events wait from now on, its connection first.
    mutating func park(_ peer: Peer) {
        events[peer.id] = [.connected(peer)]
    }

    /// Keeps an event of a link whose events wait; returns `false` for any other link.
    mutating func keep(_ event: CentralEvent, of link: Peer.ID) -> Bool {
        events[link]?.append(event) != nil
    }

    /// Returns the events of a link that have waited, its connection first; empty if none did.
    mutating func take(_ link: Peer.ID) -> [CentralEvent] {
        events.removeValue(forKey: link) ?? []
    }

    /// Returns the links that no request can claim any more, while these addresses are asked for.
    func unclaimed(asked: [DeviceAddress]) -> [Peer.ID] {
        let open = events.filter { _, waiting in
            guard case .connected(let peer)? = waiting.first else { return true }
            return device(of: peer, asked: asked) != .unknown
        }
        return open.keys.sorted { $0.rawValue < $1.rawValue }
    }

    mutating func removeAll() {
        events = [:]
    }
}

extension DeviceAddress {
    /// Whether it is a resolvable private address (Core Specification, Vol 6, Part B, 1.3.2.2).
    var isResolvable: Bool { kind == .random && value >> 46 & 0b11 == 0b01 }
}
