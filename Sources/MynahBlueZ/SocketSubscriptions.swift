import MynahCore

/// Who is subscribed through a notification socket, and who may be without one.
///
/// Pure. bluetoothd up to 5.87 closes the wrong central's socket when an unbonded one leaves (bluez#1452), and gives none
/// to a bonded central that returns, whose subscription it has kept. Both are still reached by a change of `Value`, which
/// reaches everybody; so as long as one subscriber has no socket, all are sent to that way, and nobody twice.
struct SocketSubscriptions {
    /// How a subscriber is reached.
    enum Standing: Hashable {
        /// By its socket.
        case open
        /// Its socket was closed while it is connected: it has unsubscribed, or bluetoothd took the wrong one.
        case doubtful(since: Duration)
        /// Without a socket, by a change of `Value` alone.
        case withoutSocket
    }

    /// How a value is sent.
    enum Route: Hashable {
        case nobody
        case sockets([Peer.ID])
        case property
        /// Some of those who are named can only be reached together with others who are not.
        case impossible
    }

    /// A socket that closes is waited on for this long: for a link that ended beside it.
    static let doubtTime: Duration = .milliseconds(500)

    private var standings: [AttributeKey: [Peer.ID: Standing]] = [:]
    /// Bonded centrals that left with their subscription.
    private var kept: [AttributeKey: Set<Peer.ID>] = [:]
    private var lastEnd: (peer: Peer.ID, time: Duration)?

    func standing(of peer: Peer.ID, for key: AttributeKey) -> Standing? { standings[key]?[peer] }

    /// A central got a socket; says whether it was not subscribed before.
    mutating func acquired(_ key: AttributeKey, _ peer: Peer.ID) -> Bool {
        standings[key, default: [:]].updateValue(.open, forKey: peer) == nil
    }

    /// A socket was closed at bluetoothd's end; says whether that may be an end of the subscription.
    mutating func hungUp(_ key: AttributeKey, _ peer: Peer.ID, at now: Duration) -> Bool {
        guard standings[key]?[peer] == .open else { return false }
        if let lastEnd, lastEnd.peer != peer, now - lastEnd.time < Self.doubtTime {
            standings[key]?[peer] = .withoutSocket
            return false
        }
        standings[key]?[peer] = .doubtful(since: now)
        return true
    }

    /// A link ended.
    mutating func disconnected(_ peer: Peer.ID, isBonded: Bool, at now: Duration) {
        lastEnd = (peer, now)
        for key in Array(standings.keys) {
            if let standing = standings[key]?.removeValue(forKey: peer), isBonded {
                // Its socket closes with the link, which is no end of the subscription.
                if case .doubtful(let since) = standing, now - since >= Self.doubtTime { continue }
                kept[key, default: []].insert(peer)
            }
            for (other, standing) in standings[key] ?? [:] {
                if case .doubtful(let since) = standing, now - since < Self.doubtTime {
                    standings[key]?[other] = .withoutSocket
                }
            }
        }
    }

    /// A link began; the attributes that the central is subscribed to from before.
    mutating func connected(_ peer: Peer.ID) -> [AttributeKey] {
        var keys: [AttributeKey] = []
        for key in kept.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            guard kept[key]?.remove(peer) != nil else { continue }
            standings[key, default: [:]][peer] = .withoutSocket
            keys.append(key)
        }
        return keys
    }

    /// The subscriptions whose doubt is over: nobody left beside them, so they were ended.
    mutating func doubtsOver(at now: Duration) -> [(key: AttributeKey, peer: Peer.ID)] {
        var ended: [(key: AttributeKey, peer: Peer.ID)] = []
        for key in standings.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            for (peer, standing) in standings[key] ?? [:] {
                guard case .doubtful(let since) = standing, now - since >= Self.doubtTime else { continue }
                standings[key]?[peer] = nil
                ended.append((key, peer))
            }
        }
        return ended
    }

    /// Whether a doubt is not over yet.
    var hasDoubts: Bool {
        standings.values.contains { subscribers in
            subscribers.values.contains {
                if case .doubtful = $0 { true } else { false }
            }
        }
    }

    /// How to reach these centrals, nil being all; `hasUnnamed`: somebody subscribed without a name.
    func route(_ key: AttributeKey, to centrals: [Peer.ID]?, hasUnnamed: Bool) -> Route {
        let subscribers = standings[key] ?? [:]
        guard let centrals else {
            if hasUnnamed || subscribers.values.contains(where: { $0 != .open }) { return .property }
            return subscribers.isEmpty ? .nobody : .sockets(Self.sorted(subscribers.keys))
        }
        let named = Set(centrals).intersection(subscribers.keys)
        if named.isEmpty { return .nobody }
        if named.allSatisfy({ subscribers[$0] == .open }) { return .sockets(Self.sorted(named)) }
        return named.count == subscribers.count && !hasUnnamed ? .property : .impossible
    }

    /// The attribute is gone.
    mutating func remove(_ key: AttributeKey) {
        standings[key] = nil
        kept[key] = nil
    }

    private static func sorted(_ peers: some Sequence<Peer.ID>) -> [Peer.ID] {
        peers.sorted { $0.rawValue < $1.rawValue }
    }
}
