import MynahCore

/// The peripherals that a central manager knows, by address and by link.
///
/// It names no radio: the manager reports links and requests, and learns which peripheral each link is to.
struct PeripheralTable<Target: AnyObject & Sendable>: Sendable {
    /// What a connection request that has returned means for its link.
    enum Claim {
        /// The link has just been found to be its peripheral's; these events of it have waited.
        case begins(waiting: ArraySlice<CentralEvent>)
        /// The link counted as another peripheral's until now.
        case moves
        /// The link is known to be its peripheral's.
        case isKnown
    }

    private let make: @Sendable (DeviceAddress) -> Target
    private var known: [DeviceAddress: Target] = [:]
    private var linked: [Peer.ID: Target] = [:]
    private var pending = PendingLinks<Target>()

    /// A table that makes a peripheral for an address that it does not know.
    init(make: @escaping @Sendable (DeviceAddress) -> Target) {
        self.make = make
    }

    /// How many peripherals are known by address before the idle ones are forgotten.
    static var limit: Int { DiscoveryTable.limit }

    /// The links.
    var links: [Peer.ID] { Array(linked.keys) }

    /// The peripherals that have a link.
    var connected: [Target] { Array(linked.values) }

    /// The peripheral of a link, or `nil` if the link ended or its peripheral is not known yet.
    subscript(link: Peer.ID) -> Target? { linked[link] }

    // MARK: Addresses

    /// Returns the peripheral at an address, which is made if it is not known.
    mutating func peripheral(at address: DeviceAddress) -> Target {
        if let target = known[address] { return target }
        if known.count >= Self.limit { forgetIdle() }
        let new = make(address)
        known[address] = new
        return new
    }

    /// Forgets every peripheral without a link that nobody is connecting to.
    ///
    /// A program that holds one still has it; it is only not found by its address any more.
    private mutating func forgetIdle() {
        let linked = Set(linked.values.map(ObjectIdentifier.init))
        let pending = Set(pending.addresses)
        known = known.filter { pending.contains($0.key) || linked.contains(ObjectIdentifier($0.value)) }
    }

    /// A peripheral that has paired may be known by its identity address from now on, if no other is.
    mutating func add(_ target: Target, alsoAt address: DeviceAddress?) {
        guard let address, known[address] == nil else { return }
        known[address] = target
    }

    // MARK: Connection requests

    /// A connection is asked for; returns the request's number.
    mutating func beginRequest(for target: Target, at address: DeviceAddress) -> UInt64 {
        known[address] = target
        return pending.begin(address, target)
    }

    /// A request has returned; returns the links that no request can claim any more.
    mutating func endRequest(_ number: UInt64) -> [Peer.ID] {
        pending.end(number)
    }

    /// A request for a peripheral has returned with this link.
    mutating func claim(_ link: Peer.ID, for target: Target) -> Claim {
        if let events = pending.take(link) {
            linked[link] = target
            return .begins(waiting: events.dropFirst())
        }
        guard let other = linked[link], other !== target else { return .isKnown }
        linked[link] = target
        return .moves
    }

    // MARK: Links

    /// A link began; returns its peripheral, or `nil` if a request that returns later will name it.
    mutating func begin(_ peer: Peer) -> Target? {
        let target: Target
        switch pending.match(peer) {
        case .asked(let asked): target = asked
        case .address(let address): target = peripheral(at: address)
        case .unknown:
            pending.park(.connected(peer), of: peer.id)
            return nil
        }
        linked[peer.id] = target
        return target
    }

    /// Keeps an event of a link whose peripheral is not known yet; returns `false` for any other link.
    mutating func keep(_ event: CentralEvent, of link: Peer.ID) -> Bool {
        guard pending.isParked(link) else { return false }
        pending.add(event, of: link)
        return true
    }

    /// Returns the peer of a link that no request will claim, with the peripheral at the peer's own address.
    ///
    /// Returns `nil` if the link's peripheral is known, or the peer has no address.
    mutating func unclaimed(_ link: Peer.ID) -> (peer: Peer, target: Target)? {
        guard let peer = pending.peer(link), let address = peer.address else { return nil }
        return (peer, peripheral(at: address))
    }

    /// A link ended.
    mutating func end(_ link: Peer.ID) {
        linked[link] = nil
    }

    /// Every link ended; returns each with its peripheral.
    mutating func endAll() -> [Peer.ID: Target] {
        defer { linked = [:] }
        pending.removeArrivals()
        return linked
    }
}
