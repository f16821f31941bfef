import MynahCore

/// The connections that a central has asked for, and links whose request is not known yet.
///
/// A bonded peripheral that is asked for by a resolvable private address is reported by its identity address. Which request
/// the link answers is known when the radio returns from that request; until then the link's events wait.
struct PendingLinks<Target: Sendable>: Sendable {
    /// What a new link is to.
    enum Match {
        case asked(Target)
        /// No request asked for it: it is to the peripheral at its own address.
        case address(DeviceAddress)
        /// It is known when a request returns.
        case unknown
    }

    private var asked: [(number: UInt64, address: DeviceAddress, target: Target)] = []
    private var lastNumber: UInt64 = 0
    private var arrivals: [Peer.ID: [CentralEvent]] = [:]

    /// The addresses that are asked for.
    var addresses: [DeviceAddress] { asked.map(\.address) }

    /// A connection is asked for; returns its number.
    mutating func begin(_ address: DeviceAddress, _ target: Target) -> UInt64 {
        lastNumber += 1
        asked.append((lastNumber, address, target))
        return lastNumber
    }

    /// A request has returned; returns the links that no request can claim any more.
    mutating func end(_ number: UInt64) -> [Peer.ID] {
        asked.removeAll { $0.number == number }
        guard !asked.contains(where: { $0.address.isResolvable }) else { return [] }
        return arrivals.keys.sorted { $0.rawValue < $1.rawValue }
    }

    /// Returns what a new link is to.
    func match(_ peer: Peer) -> Match {
        guard let address = peer.address else {
            return asked.count == 1 ? .asked(asked[0].target) : .unknown
        }
        if let request = asked.first(where: { $0.address == address }) { return .asked(request.target) }
        let mayBeIdentity = !address.isResolvable && asked.contains { $0.address.isResolvable }
        return mayBeIdentity ? .unknown : .address(address)
    }

    /// A link's events wait from now on, this one first.
    mutating func park(_ event: CentralEvent, of id: Peer.ID) {
        arrivals[id] = [event]
    }

    /// Whether a link's events wait.
    func isParked(_ id: Peer.ID) -> Bool { arrivals[id] != nil }

    /// The peer of a link whose events wait.
    func peer(_ id: Peer.ID) -> Peer? {
        if case .connected(let peer)? = arrivals[id]?.first { peer } else { nil }
    }

    /// Adds an event of a link whose events wait.
    mutating func add(_ event: CentralEvent, of id: Peer.ID) {
        arrivals[id]?.append(event)
    }

    /// Returns the events of a link that waited, or `nil` if none did.
    mutating func take(_ id: Peer.ID) -> [CentralEvent]? {
        arrivals.removeValue(forKey: id)
    }

    mutating func removeArrivals() {
        arrivals = [:]
    }
}

extension DeviceAddress {
    /// Whether it is a resolvable private address (Core Specification, Vol 6, Part B, 1.3.2.2).
    var isResolvable: Bool { kind == .random && value >> 46 & 0b11 == 0b01 }
}
