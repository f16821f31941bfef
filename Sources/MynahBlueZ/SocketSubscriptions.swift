import MynahCore

/// The centrals that subscribed through a notification socket, and whether they still have it.
///
/// bluetoothd up to 5.87 closes the wrong central's socket when an unbonded one disconnects (bluez#1452), and
/// opens none for a bonded central that returns, whose subscription it has kept. A change of `Value` still
/// reaches both, and every other subscriber. So if one subscriber has no socket, values are sent to all that
/// way, and to none twice.
struct SocketSubscriptions {
    /// The way to a subscriber.
    enum Standing: Hashable {
        /// The central's socket is open.
        case open
        /// The socket was closed while the central is connected: the central has unsubscribed, or bluetoothd
        /// closed the wrong one.
        case doubtful(since: Duration)
        /// The subscriber gets changes of `Value`, and no socket.
        case withoutSocket
    }

    /// The way of a value.
    enum Route: Hashable {
        case nobody
        case sockets([Peer.ID])
        case property
        /// Some of the addressed centrals can only be reached together with others.
        case impossible
    }

    /// The time after a socket is closed in which the end of a link may explain it.
    static let doubtTime: Duration = .milliseconds(500)

    private var standings: [AttributeKey: [Peer.ID: Standing]] = [:]
    /// The subscriptions of bonded centrals that disconnected.
    private var kept: [AttributeKey: Set<Peer.ID>] = [:]
    private var lastEnd: (peer: Peer.ID, time: Duration)?

    func standing(of peer: Peer.ID, for key: AttributeKey) -> Standing? { standings[key]?[peer] }

    /// A central got a socket.
    ///
    /// Returns whether it was not subscribed before.
    mutating func acquired(_ key: AttributeKey, _ peer: Peer.ID) -> Bool {
        standings[key, default: [:]].updateValue(.open, forKey: peer) == nil
    }

    /// bluetoothd closed a socket.
    ///
    /// Returns whether that may be the end of the subscription.
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
                // Its socket closes with the link, and the subscription stays.
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

    /// A link began.
    ///
    /// Returns the attributes that the central is still subscribed to.
    mutating func connected(_ peer: Peer.ID) -> [AttributeKey] {
        var keys: [AttributeKey] = []
        for key in kept.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            guard kept[key]?.remove(peer) != nil else { continue }
            standings[key, default: [:]][peer] = .withoutSocket
            keys.append(key)
        }
        return keys
    }

    /// Returns the subscriptions that ended with their socket, because no other link ended at that time.
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

    /// Whether a closed socket is not explained yet.
    var hasDoubts: Bool {
        standings.values.contains { subscribers in
            subscribers.values.contains {
                if case .doubtful = $0 { true } else { false }
            }
        }
    }

    /// Returns the way to these centrals, or to all if `nil`.
    ///
    /// `hasUnnamed` says whether there are subscribers without a name.
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

    /// The attribute is not published any more.
    mutating func remove(_ key: AttributeKey) {
        standings[key] = nil
        kept[key] = nil
    }

    private static func sorted(_ peers: some Sequence<Peer.ID>) -> [Peer.ID] {
        peers.sorted { $0.rawValue < $1.rawValue }
    }
}
