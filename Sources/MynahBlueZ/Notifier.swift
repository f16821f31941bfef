import MynahCore
import MynahDBus

/// A socket that sends notifications or indications of one attribute to one subscribed central, one in each
/// message.
protocol NotificationSocket {
    /// Whether a message can be written now.
    var hasRoom: Bool { get }
    /// Writes one message.
    func send(_ bytes: [UInt8])
    /// Reports the event `writable` when a message can be written, until `stopWaitingForRoom` is called.
    func waitForRoom()
    func stopWaitingForRoom()
    /// Returns the number of confirmations since the last call.
    func takeConfirmations() -> Int
}

/// Identifies a notification socket.
struct NotificationSocketKey: Hashable {
    let attribute: AttributeKey
    let peer: Peer.ID
}

/// Tracks subscriptions, and decides how each value is sent to the subscribers.
///
/// This state machine has no I/O, except that it uses sockets. bluetoothd's StartNotify and StopNotify do not
/// identify the central, but a socket of AcquireNotify belongs to one central. bluetoothd queues any number
/// of values, so the notifier limits their rate and the number of queued bytes.
struct Notifier<Socket: NotificationSocket> {
    enum Action: Hashable {
        case subscribed(AttributeKey, Peer.ID?, Delivery?)
        case unsubscribed(AttributeKey, Peer.ID?)
        case confirmed(AttributeKey, Peer.ID?)
        case readyToSend
        /// Call `resolveDoubts` after this time.
        ///
        /// Then it is known if the central of a closed socket has unsubscribed.
        case resolveDoubts(after: Duration)

        /// The event to report, or `nil` if there is none.
        var event: RadioEvent? {
            switch self {
            case .subscribed(let key, let peer, let delivery): .subscribed(key, peer, delivery)
            case .unsubscribed(let key, let peer): .unsubscribed(key, peer)
            case .confirmed(let key, let peer): .confirmed(key, peer)
            case .readyToSend: .readyToSend
            case .resolveDoubts: nil
            }
        }
    }

    /// The way in which a value is sent.
    enum Sending: Hashable {
        /// The value was written to the sockets of this number of centrals.
        case sent(Int)
        /// The radio has to send the value as a change of the property `Value`, which reaches every
        /// subscriber.
        case changeProperty
        /// The radio has to send the value in pieces of this length, each as a change of the property.
        case changePropertyInPieces(of: Int)
        /// The value was not sent, because the queue is full.
        case full
        /// The value was not sent; the queue is full until fewer than `below` bytes are queued for the bus.
        case fullUntilBusTakes(below: Int)
        /// The value was not sent; the queue is full for this time.
        case fullFor(Duration)

        /// The values to which the radio sets the property `Value` in order to send a value: its pieces, or
        /// itself.
        func parts(of value: [UInt8]) -> [[UInt8]] {
            if case .changePropertyInPieces(let length) = self { value.pieces(of: length) } else { [value] }
        }
    }

    /// The state of a subscription without a socket.
    private enum Subscription {
        /// bluetoothd has a subscriber, but no central is connected.
        case dormant
        /// The subscription was reported.
        case reported
    }

    private enum Room {
        case free
        /// A value was not sent because the queue is full; `readyToSend` is reported when there is room
        /// again.
        case full
        /// bluetoothd or the adapter was lost while the queue was full.
        case lostWhileFull
    }

    /// The largest number of bytes that may be queued for the bus.
    static var outgoingLimit: Int { 1 << 20 }
    static var outgoingRoom: Int { 1 << 18 }

    /// Whether bluetoothd can request a separate socket for each subscriber.
    var usesSockets = false
    private var unnamed: [AttributeKey: Subscription] = [:]
    private var named = SocketSubscriptions()
    private var sockets: [NotificationSocketKey: Socket] = [:]
    /// The pieces of a value that wait for room in a socket.
    private var waiting: [NotificationSocketKey: ArraySlice<[UInt8]>] = [:]
    private var pacer: NotificationPacer
    private var room = Room.free
    private var warned: Set<BluetoothUUID> = []
    /// The centrals for which the warning about a cut value was already given.
    private var cutLinks: Set<Peer.ID> = []

    /// Makes a notifier that sends at most `rate` values a second, or any number if `rate` is `nil`.
    init(rate: Int?) {
        pacer = NotificationPacer(rate: rate)
    }

    // MARK: Subscriptions without sockets

    /// Handles the first subscription to an attribute.
    ///
    /// bluetoothd calls StartNotify once for the attribute, and does not identify the central.
    mutating func startNotify(_ key: AttributeKey) -> [Action] {
        unnamed[key] = .reported
        return [.subscribed(key, nil, nil)]
    }

    /// Handles the end of the last central's subscription to an attribute.
    mutating func stopNotify(_ key: AttributeKey) -> [Action] {
        unnamed.removeValue(forKey: key) == .reported ? [.unsubscribed(key, nil)] : []
    }

    /// Changes all subscriptions without a socket to this state, and reports them as active or ended.
    ///
    /// They are active only while a central is connected.
    private mutating func report(_ subscription: Subscription) -> [Action] {
        var actions: [Action] = []
        for key in Self.sorted(unnamed.keys) where unnamed[key] != subscription {
            unnamed[key] = subscription
            actions.append(subscription == .reported ? .subscribed(key, nil, nil) : .unsubscribed(key, nil))
        }
        return actions
    }

    // MARK: Links

    /// Handles a new link to a central.
    ///
    /// A bonded central keeps its subscriptions without requesting them again.
    mutating func connected(_ peer: Peer.ID) -> [Action] {
        let returned = usesSockets ? named.connected(peer) : []
        return returned.map { .subscribed($0, peer, nil) } + report(.reported)
    }

    /// Handles the end of a central's link; `isLast` is `true` if no other central is connected.
    mutating func disconnected(
        _ peer: Peer.ID, isBonded: Bool, isLast: Bool, at now: Duration
    ) -> [Action] {
        cutLinks.remove(peer)
        guard usesSockets else { return isLast ? report(.dormant) : [] }
        let room = close { $0.peer == peer }
        named.disconnected(peer, isBonded: isBonded, at: now)
        return (isLast ? report(.dormant) : []) + room
    }

    // MARK: Sockets

    /// Handles events of a socket.
    mutating func handle(
        _ events: GLibFileDescriptorWatch.Events, of key: NotificationSocketKey, at now: Duration
    ) -> [Action] {
        let confirmations = events.contains(.readable) ? readable(key) : []
        if events.contains(.hangUp) { return confirmations + hungUp(key, at: now) }
        return confirmations + (events.contains(.writable) ? writable(key) : [])
    }

    /// Adds the socket of a central that has subscribed.
    mutating func acquired(
        _ key: NotificationSocketKey, _ socket: Socket, delivery: Delivery?
    ) -> [Action] {
        let room = close { $0 == key }
        sockets[key] = socket
        let isNew = named.acquired(key.attribute, key.peer)
        return (isNew ? [.subscribed(key.attribute, key.peer, delivery)] : []) + room
    }

    /// Closes the sockets whose keys match, and reports that values can be sent again.
    private mutating func close(where isMeant: (NotificationSocketKey) -> Bool) -> [Action] {
        let closed = sockets.keys.filter(isMeant)
        for key in closed { (sockets[key], waiting[key]) = (nil, nil) }
        return closed.isEmpty ? [] : hasRoom()
    }

    /// Reads confirmations from a socket.
    private func readable(_ key: NotificationSocketKey) -> [Action] {
        guard let socket = sockets[key] else { return [] }
        return Array(repeating: .confirmed(key.attribute, key.peer), count: socket.takeConfirmations())
    }

    /// Handles new buffer space of a socket.
    private mutating func writable(_ key: NotificationSocketKey) -> [Action] {
        guard let socket = sockets[key] else { return [] }
        socket.stopWaitingForRoom()
        write(waiting[key] ?? [], to: key)
        return waiting[key] == nil ? hasRoom() : []
    }

    /// Handles the closing of a socket by bluetoothd.
    private mutating func hungUp(_ key: NotificationSocketKey, at now: Duration) -> [Action] {
        guard sockets[key] != nil else { return [] }
        let room = close { $0 == key }
        let isDoubtful = named.hungUp(key.attribute, key.peer, at: now)
        return (isDoubtful ? [.resolveDoubts(after: SocketSubscriptions.doubtTime)] : []) + room
    }

    /// Ends the subscriptions whose sockets were closed at least `doubtTime` ago.
    ///
    /// A subscription does not end if the link of another central ended at about the same time, because
    /// bluetoothd may then have closed the wrong socket.
    mutating func resolveDoubts(at now: Duration) -> [Action] {
        let ended = named.doubtsOver(at: now).map { Action.unsubscribed($0.key, $0.peer) }
        return ended + (named.hasDoubts ? [.resolveDoubts(after: SocketSubscriptions.doubtTime)] : [])
    }

    // MARK: The end of attributes and of the radio

    /// Removes the subscriptions to an attribute that is no longer published.
    mutating func remove(_ key: AttributeKey) -> [Action] {
        unnamed[key] = nil
        named.remove(key)
        return close { $0.attribute == key }
    }

    /// Handles the loss of bluetoothd or the adapter.
    ///
    /// If the adapter was only turned off, `keepsSubscriptions` is `true`, and subscriptions without a socket
    /// stay.
    mutating func lost(keepsSubscriptions: Bool) -> [Action] {
        (sockets, waiting, cutLinks) = ([:], [:], [])
        named = SocketSubscriptions()
        let actions = report(.dormant)
        if !keepsSubscriptions { unnamed = [:] }
        if room == .full { room = .lostWhileFull }
        return actions
    }

    /// Handles the recovery of the radio: values can be sent again.
    mutating func recovered() -> [Action] {
        guard room == .lostWhileFull else { return [] }
        room = .free
        return [.readyToSend]
    }

    // MARK: Sending

    /// Reports that values can be sent again, if the queue was full.
    mutating func hasRoom() -> [Action] {
        guard room == .full else { return [] }
        room = .free
        return [.readyToSend]
    }

    /// Decides how a value is sent, and writes it if it is sent through sockets.
    ///
    /// `centrals` are the addressed centrals, or `nil` for all subscribers; `outgoing` is the number of bytes
    /// that are queued for the bus. Adds a warning if the value may be cut. Throws `unsupported` if these
    /// centrals cannot be addressed, or `valueTooLong` if the value is too long.
    mutating func send(
        _ value: [UInt8], of attribute: (key: AttributeKey, uuid: BluetoothUUID), inPieces: Bool = false,
        to centrals: [Peer.ID]?, connected: some Collection<CentralTable.Central>, outgoing: Int,
        at now: Duration, warnings: inout [RadioWarning]
    ) throws(RadioError) -> Sending {
        let route = try route(value, of: attribute, to: centrals)
        var links = LinkLengths(value.count)
        switch route {
        case .nobody: return .sent(0)
        case .sockets(let targets): links.add(connected.lazy.filter { targets.contains($0.id) })
        case .property, .impossible: links.add(connected)
        }
        if !inPieces { warn(links, attribute.uuid, &warnings) }
        guard room == .free else { return .full }
        guard outgoing < Self.outgoingLimit else {
            room = .full
            return .fullUntilBusTakes(below: Self.outgoingRoom)
        }
        guard pacer.spend(at: now) else {
            room = .full
            return .fullFor(pacer.pause)
        }
        guard case .sockets(let targets) = route else {
            guard inPieces, let length = links.shortest else { return .changeProperty }
            return .changePropertyInPieces(of: length)
        }
        return send(value, of: attribute.key, inPieces: inPieces, through: targets, links)
    }

    /// Adds a warning for each link that cuts a value for the first time.
    ///
    /// If the ATT_MTU of a link is not known, adds one warning for the attribute.
    private mutating func warn(
        _ links: LinkLengths, _ uuid: BluetoothUUID, _ warnings: inout [RadioWarning]
    ) {
        for id in links.tooShort where cutLinks.insert(id).inserted {
            warnings.append(links.cutWarning(uuid, for: id))
        }
        if links.hasUnknown, warned.insert(uuid).inserted { warnings.append(links.unknownWarning(uuid)) }
    }

    private func route(
        _ value: [UInt8], of attribute: (key: AttributeKey, uuid: BluetoothUUID), to centrals: [Peer.ID]?
    ) throws(RadioError) -> SocketSubscriptions.Route {
        guard usesSockets else {
            guard centrals == nil else {
                throw RadioError(
                    .unsupported,
                    "bluetoothd sends a value to every subscriber, not to one of them")
            }
            return .property
        }
        var route = named.route(attribute.key, to: centrals, hasUnnamed: unnamed[attribute.key] != nil)
        if case .sockets = route, value.isEmpty {
            // An empty message would look like the end of the socket.
            route = centrals == nil ? .property : .impossible
        }
        guard route != .impossible else {
            throw RadioError(
                .unsupported,
                """
                no central has its own notification socket, so \(attribute.uuid) can be sent only to all \
                subscribers
                """
            )
        }
        return route
    }

    /// Writes a value to the sockets of all these centrals, or to no socket if one has no buffer space.
    private mutating func send(
        _ value: [UInt8], of key: AttributeKey, inPieces: Bool, through peers: [Peer.ID], _ links: LinkLengths
    ) -> Sending {
        let targets = peers.map { NotificationSocketKey(attribute: key, peer: $0) }
            .filter { sockets[$0] != nil }
        if let full = targets.first(where: { waiting[$0] != nil || sockets[$0]?.hasRoom == false }) {
            room = .full
            sockets[full]?.waitForRoom()
            return .full
        }
        for target in targets {
            write(links.parts(of: value, for: target.peer, inPieces: inPieces)[...], to: target)
        }
        return .sent(targets.count)
    }

    /// Writes the parts of a value to a socket; the parts for which it has no room stay in `waiting`.
    private mutating func write(_ parts: ArraySlice<[UInt8]>, to key: NotificationSocketKey) {
        guard let socket = sockets[key], !parts.isEmpty else { return }
        var parts = parts
        while socket.hasRoom, let part = parts.popFirst() { socket.send(part) }
        waiting[key] = parts.isEmpty ? nil : parts
        if !parts.isEmpty { socket.waitForRoom() }
    }

    private static func sorted(_ keys: some Sequence<AttributeKey>) -> [AttributeKey] {
        keys.sorted { $0.rawValue < $1.rawValue }
    }
}
