public import MynahCore
import MynahDBus

// Subscriptions and what is sent to them.
extension BlueZRadio {
    /// What may wait for the bus, in bytes, before we say that the queue is full; and when there is room again.
    private static let outgoingLimit = 1 << 20
    private static let outgoingRoom = 1 << 18

    func startNotify(_ key: AttributeKey, _ call: MethodCall) {
        call.reply()
        guard attributes[key] != nil else { return }
        attributes[key]?.isSubscribed = true
        // One call for each central that subscribes, and none of them named.
        attributes[key]?.isToldSubscribed = true
        tell(.subscribed(key, nil, nil))
    }

    func stopNotify(_ key: AttributeKey, _ call: MethodCall) {
        call.reply()
        attributes[key]?.isSubscribed = false
        tellSubscription(key)
    }

    func confirm(_ key: AttributeKey, _ call: MethodCall) {
        call.reply()
        tell(.confirmed(key, nil))
    }

    /// Someone is subscribed as long as bluetoothd says so and a central is there to hear it.
    func tellSubscription(_ key: AttributeKey) {
        guard let attribute = attributes[key] else { return }
        let isHeard = attribute.isSubscribed && !peers.connected.isEmpty
        guard isHeard != attribute.isToldSubscribed else { return }
        attributes[key]?.isToldSubscribed = isHeard
        tell(isHeard ? .subscribed(key, nil, nil) : .unsubscribed(key, nil))
    }

    /// Hands a value to bluetoothd, which sends it to every subscriber as that one subscribed.
    public func send(
        _ value: [UInt8], of attribute: AttributeKey, as delivery: Delivery, to centrals: [Peer.ID]?
    ) throws(RadioError) -> SendResult {
        guard life.state == .running, let connection else {
            throw RadioError(.lost, "nothing can be sent while the radio is not there")
        }
        guard let target = attributes[attribute], target.sends else {
            throw RadioError(
                .unknownAttribute, "the attribute is not published, or neither notifies nor indicates")
        }
        let route = try route(value, of: attribute, to: centrals)
        if route == .nobody { return .sent(0) }
        guard !isFull else { return .full }
        guard connection.outgoingSize < Self.outgoingLimit else {
            isFull = true
            connection.whenOutgoing(isBelow: Self.outgoingRoom) { [weak self] in
                self?.assumeIsolated { $0.hasRoom() }
            }
            return .full
        }
        guard pacer.take(at: now) else {
            isFull = true
            timers?.pace.schedule(after: pacer.pause)
            return .full
        }
        if case .sockets(let peers) = route { return send(value, of: attribute, through: peers) }
        do throws(DBusError) {
            try connection.emitPropertyChanged(target.path, BlueZ.gattCharacteristic, "Value", bytes: value)
        } catch {
            throw BlueZErrors.radioError(error, doing: "sending a value")
        }
        return .sent(nil)
    }

    /// How the value goes, after its length was found to be right for those whom it goes to.
    private func route(
        _ value: [UInt8], of key: AttributeKey, to centrals: [Peer.ID]?
    ) throws(RadioError) -> SocketSubscriptions.Route {
        let uuid = attributes[key].map { "\($0.uuid)" } ?? ""
        guard offersSockets else {
            guard centrals == nil else {
                throw RadioError(.unsupported, "bluetoothd sends to every subscriber, not to one of them")
            }
            try checkLength(of: value, uuid, for: peers.connected)
            return .property
        }
        var route = socketSubscriptions.route(
            key, to: centrals, hasUnnamed: attributes[key]?.isSubscribed == true)
        if case .sockets = route, value.isEmpty {
            // An empty message would look like the socket's end.
            route = centrals == nil ? .property : .impossible
        }
        switch route {
        case .nobody: break
        case .sockets(let targets):
            try checkLength(of: value, uuid, for: peers.connected.filter { targets.contains($0.id) })
        case .property: try checkLength(of: value, uuid, for: peers.connected)
        case .impossible:
            throw RadioError(
                .unsupported,
                "a central has no notification socket of its own, so \(uuid) can only be sent to all at once")
        }
        return route
    }

    func hasRoom() {
        guard isFull else { return }
        isFull = false
        tell(.readyToSend)
    }

    /// bluetoothd cuts a value to ATT_MTU − 3 without a word, so it must not come to that.
    private func checkLength(
        of value: [UInt8], _ uuid: String, for connected: [PeerTable.Entry]
    ) throws(RadioError) {
        guard value.count > GATT.defaultMTU - GATT.notificationHeaderLength else { return }
        let limit = connected.compactMap(\.mtu).min().map { $0 - GATT.notificationHeaderLength }
        if let limit, value.count > limit {
            throw RadioError(
                .valueTooLong,
                "the value of \(uuid) has \(value.count) bytes and the link carries \(limit) (ATT_MTU − 3)",
                remedy: "send less, or let the central exchange a larger MTU")
        }
        guard connected.contains(where: { $0.mtu == nil }) else { return }
        warnOnce(
            "mtuUnknown", about: uuid,
            "the value of \(uuid) has \(value.count) bytes; a central's MTU is not known until it reads or writes, and bluetoothd cuts what is longer than MTU − 3"
        )
    }
}
