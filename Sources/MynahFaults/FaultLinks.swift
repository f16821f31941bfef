import MynahCore

/// The connected centrals of a `FaultyRadio`: their addresses, order, subscriptions and long reads.
struct FaultLinks: Sendable {
    /// A long read of a central.
    struct Reading: Sendable {
        var attribute: AttributeKey
        /// The whole value that the central is reading, or `nil` if each part is requested from the device.
        var value: [UInt8]?
    }

    /// A connected central.
    struct Link: Sendable {
        var peer: Peer
        /// The unique number of the connection.
        let number: Int
        /// The number of the connection in the order of connecting, counted from 1 since the last
        /// `countAnew`.
        var order: Int
        /// The last read of the central, or `nil` if it has not read a value.
        var reading: Reading?
    }

    private(set) var links: [Peer.ID: Link] = [:]
    private var lastNumber = 0
    private var lastOrder = 0
    private var subscribers: [AttributeKey: [Peer.ID]] = [:]
    /// The attributes with subscribers that the radio cannot identify.
    private var unnamed: Set<AttributeKey> = []

    /// Updates the links after an event of the radio.
    mutating func note(_ event: RadioEvent) {
        switch event {
        case .connected(let peer):
            lastNumber += 1
            lastOrder += 1
            links[peer.id] = Link(peer: peer, number: lastNumber, order: lastOrder)
        case .peerChanged(let peer): links[peer.id]?.peer = peer
        case .disconnected(let id):
            links[id] = nil
            for key in Array(subscribers.keys) { unsubscribe(id, from: key) }
            if links.isEmpty { unnamed = [] }
        case .subscribed(let key, let id?, _):
            if subscribers[key]?.contains(id) != true { subscribers[key, default: []].append(id) }
        case .subscribed(let key, nil, _): unnamed.insert(key)
        case .unsubscribed(let key, let id?): unsubscribe(id, from: key)
        case .unsubscribed(let key, nil):
            unnamed.remove(key)
            subscribers[key] = nil
        default: break
        }
    }

    /// Numbers the existing connections from 1 again, in their order; later connections continue the numbers.
    mutating func countAnew() {
        for (index, id) in ids(for: nil).enumerated() { links[id]?.order = index + 1 }
        lastOrder = links.count
    }

    private mutating func unsubscribe(_ id: Peer.ID, from key: AttributeKey) {
        subscribers[key]?.removeAll { $0 == id }
        if subscribers[key]?.isEmpty == true { subscribers[key] = nil }
    }

    /// The identifier, the address and the number of a central, with which a fault selects it.
    func central(_ id: Peer.ID) -> FaultRules.Central {
        FaultRules.Central(id, address: links[id]?.peer.address, order: links[id]?.order ?? 0)
    }

    /// The connected centrals that a fault selects, in the order of connecting.
    func ids(for wanted: FaultCentral?) -> [Peer.ID] {
        links.values.sorted { $0.order < $1.order }.map(\.peer.id)
            .filter { wanted?.matches(central($0)) ?? true }
    }

    /// The subscribers of an attribute, or those among `centrals`.
    ///
    /// If the radio cannot identify them, the result has one element, which is `nil`.
    func targets(of attribute: AttributeKey, among centrals: [Peer.ID]?) -> [Peer.ID?] {
        if unnamed.contains(attribute) { return [nil] }
        return (subscribers[attribute] ?? []).filter { centrals?.contains($0) ?? true }
    }

    /// The events that report the end of all subscriptions to an attribute.
    func ends(of attribute: AttributeKey) -> [RadioEvent] {
        if unnamed.contains(attribute) { return [.unsubscribed(attribute, nil)] }
        return (subscribers[attribute] ?? []).map { .unsubscribed(attribute, $0) }
    }

    // MARK: Reads

    /// The long read that a request continues, or `nil` if the request begins a read.
    func reading(_ request: ReadRequest) -> Reading? {
        guard request.offset > 0, let reading = links[request.central]?.reading,
            reading.attribute == request.attribute
        else { return nil }
        return reading
    }

    /// Records that a central reads a value.
    mutating func noteRead(_ request: ReadRequest, value: [UInt8]? = nil) {
        links[request.central]?.reading = Reading(attribute: request.attribute, value: value)
    }
}
