import MynahCore

/// Tracks the centrals that subscribed through a notification socket, and the sockets that are still open.
///
/// bluetoothd up to 5.87 has two faults (bluez#1452). When a central without a bond disconnects, bluetoothd
/// closes the socket of the wrong central. When a bonded central connects again, bluetoothd keeps its
/// subscription but opens no socket. A change of `Value` still reaches both, and every other subscriber. So
/// if one subscriber has no socket, values are sent to all subscribers as changes of `Value`, and to none
/// through a socket.
struct SocketSubscriptions {
    /// The state of a subscriber's socket.
    enum Standing: Hashable {
        /// The socket is open.
        case open
        /// The socket was closed while the central is connected.
        ///
        /// Either the central has unsubscribed, or bluetoothd has closed the wrong socket.
        case doubtful(since: Duration)
        /// The subscriber has no socket, but receives changes of `Value`.
        case withoutSocket
    }

    /// The way in which a value is sent.
    enum Route: Hashable {
        case nobody
        case sockets([Peer.ID])
        case property
        /// Some of the centrals to send to can be reached only together with other centrals.
        case impossible
    }

    /// The longest time between the end of a link and the closing of another central's socket because of it.
    static let doubtTime: Duration = .milliseconds(500)

    private var standings: [AttributeKey: [Peer.ID: Standing]] = [:]
    /// The subscriptions of bonded centrals that have disconnected.
    private var kept: [AttributeKey: Set<Peer.ID>] = [:]
    private var lastEnd: (peer: Peer.ID, time: Duration)?

    func standing(of peer: Peer.ID, for key: AttributeKey) -> Standing? { standings[key]?[peer] }

    /// Records that a central has a socket; returns whether the central was not subscribed before.
    mutating func acquired(_ key: AttributeKey, _ peer: Peer.ID) -> Bool {
        standings[key, default: [:]].updateValue(.open, forKey: peer) == nil
    }

    /// Handles the closing of a socket by bluetoothd; returns whether the subscription may have ended.
    mutating func hungUp(_ key: AttributeKey, _ peer: Peer.ID, at now: Duration) -> Bool {
        guard standings[key]?[peer] == .open else { return false }
        if let lastEnd, lastEnd.peer != peer, now - lastEnd.time < Self.doubtTime {
            standings[key]?[peer] = .withoutSocket
            return false
        }
        standings[key]?[peer] = .doubtful(since: now)
        return true
    }

    /// Handles the end of a central's link, which may be the reason that bluetoothd closed other sockets.
    mutating func disconnected(_ peer: Peer.ID, isBonded: Bool, at now: Duration) {
        lastEnd = (peer, now)
        for key in Array(standings.keys) {
            if let standing = standings[key]?.removeValue(forKey: peer), isBonded {
                // The socket closes with the link, and the subscription stays.
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

    /// Handles a new link to a central; returns the attributes to which the central is still subscribed.
    mutating func connected(_ peer: Peer.ID) -> [AttributeKey] {
        var keys: [AttributeKey] = []
        for key in kept.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            guard kept[key]?.remove(peer) != nil else { continue }
            standings[key, default: [:]][peer] = .withoutSocket
            keys.append(key)
        }
        return keys
    }

    /// Removes and returns the subscriptions that have ended: their sockets were closed at least `doubtTime`
    /// ago.
    ///
    /// A subscription stays if the link of another central ended at about the same time, because bluetoothd
    /// may then have closed the wrong socket.
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

    /// Whether any socket was closed for a reason that is not known yet.
    var hasDoubts: Bool {
        standings.values.contains { subscribers in
            subscribers.values.contains {
                if case .doubtful = $0 { true } else { false }
            }
        }
    }

    /// Returns how to send a value to these centrals, or to all subscribers if `centrals` is `nil`.
    ///
    /// `hasUnnamed` says whether there are subscribers without a socket, which cannot be identified.
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

    /// Removes the subscriptions to an attribute that is no longer published.
    mutating func remove(_ key: AttributeKey) {
        standings[key] = nil
        kept[key] = nil
    }

    private static func sorted(_ peers: some Sequence<Peer.ID>) -> [Peer.ID] {
        peers.sorted { $0.rawValue < $1.rawValue }
    }
}
