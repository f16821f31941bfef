import MynahCore
import MynahDBus

// Notification sockets, one for each subscriber: what names subscribers, from BlueZ 5.80 on.
extension BlueZRadio {
    /// A socket of a central for an attribute.
    struct SocketKey: Hashable {
        var attribute: AttributeKey
        var peer: Peer.ID
    }

    func acquireNotify(_ key: AttributeKey, _ call: MethodCall) {
        var reader = call.reader()
        guard offersSockets, let attribute = attributes[key], let options = try? RequestOptions(&reader),
            options.device != nil, let (ours, theirs) = NotifySocket.pair()
        else {
            // This name makes bluetoothd fall back to StartNotify; Failed would end it there.
            return call.fail(DBusError("org.bluez.Error.NotSupported", "sockets are not offered"))
        }
        let central = peer(of: options)
        let socket = SocketKey(attribute: key, peer: central.id)
        sockets[socket] = NotifySocket(ours) { [weak self] events in
            self?.assumeIsolated { $0.socketHas(events, socket) }
        }
        call.reply { body in
            body.append(theirs)
            body.append(UInt16(clamping: central.mtu ?? GATT.defaultMTU))
        }
        if socketSubscriptions.acquired(key, central.id) {
            tell(.subscribed(key, central.id, attribute.delivery))
        }
    }

    private func socketHas(_ events: GLibDescriptorWatch.Events, _ key: SocketKey) {
        guard let socket = sockets[key] else { return }
        if events.contains(.readable) {
            for _ in 0..<socket.takeConfirmations() { tell(.confirmed(key.attribute, key.peer)) }
        }
        if events.contains(.hangUp) {
            sockets[key] = nil
            if socketSubscriptions.hungUp(key.attribute, key.peer, at: now) {
                timers?.doubt.schedule(after: SocketSubscriptions.doubtTime)
            }
            // Nobody would say that there is room any more.
            hasRoom()
        } else if events.contains(.writable) {
            socket.stopWaitingForRoom()
            hasRoom()
        }
    }

    func endDoubts() {
        for (key, peer) in socketSubscriptions.doubtsOver(at: now) {
            tell(.unsubscribed(key, peer))
        }
        if socketSubscriptions.hasDoubts { timers?.doubt.schedule(after: SocketSubscriptions.doubtTime) }
    }

    func socketsEnd(of peer: Peer.ID, isBonded: Bool) {
        guard offersSockets else { return }
        for key in Array(sockets.keys) where key.peer == peer { sockets[key] = nil }
        socketSubscriptions.disconnected(peer, isBonded: isBonded, at: now)
    }

    func socketsReturn(of peer: Peer.ID) {
        guard offersSockets else { return }
        for key in socketSubscriptions.connected(peer) { tell(.subscribed(key, peer, nil)) }
    }

    func forgetSockets() {
        sockets = [:]
        socketSubscriptions = SocketSubscriptions()
    }

    /// Writes to the sockets of these centrals: to all of them or, where one has no room, to none.
    func send(_ value: [UInt8], of key: AttributeKey, through peers: [Peer.ID]) -> SendResult {
        let targets = peers.compactMap { sockets[SocketKey(attribute: key, peer: $0)] }
        if let full = targets.first(where: { !$0.hasRoom }) {
            isFull = true
            full.waitForRoom()
            return .full
        }
        for socket in targets { socket.send(value) }
        return .sent(targets.count)
    }
}
