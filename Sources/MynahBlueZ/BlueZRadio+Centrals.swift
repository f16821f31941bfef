public import MynahCore
import MynahDBus

// Centrals coming and going.
extension BlueZRadio {
    /// A device's state is not what it was; `before` nil: it was not known.
    func deviceChanged(_ path: String, from before: BusObjects.Device?) {
        guard let adapter, path.hasPrefix(adapter.path.string + "/") else { return }
        guard life.state == .running else { return }
        guard let now = objects.devices[path] else {
            if before != nil { disconnected(path) }
            return
        }
        var entry = peers.entry(path)
        entry.isAuthorized = now.isPaired || now.isTrusted
        peers[path] = entry
        switch (entry.isConnected, now.isConnected) {
        case (false, true): connected(path, now)
        case (true, false): disconnected(path)
        case (true, true):
            if before?.name != now.name || before?.isPaired != now.isPaired || before?.address != now.address
            {
                tell(.peerChanged(Self.peer(entry.id, now)))
            }
        case (false, false): break
        }
        if let before, !before.isPaired, now.isPaired { tell(.paired(entry.id)) }
    }

    /// Devices that were connected before we listened.
    func lookAtDevices() {
        for path in objects.devices.keys.sorted() { deviceChanged(path, from: nil) }
    }

    private func connected(_ path: String, _ device: BusObjects.Device) {
        var entry = peers.entry(path)
        entry.isConnected = true
        entry.mtu = nil
        peers[path] = entry
        tell(.connected(Self.peer(entry.id, device)))
        socketsReturn(of: entry.id)
        // A bonded central's subscriptions resume without a word.
        for key in attributes.keys.sorted(by: { $0.rawValue < $1.rawValue }) { tellSubscription(key) }
        rearm()
    }

    private func disconnected(_ path: String) {
        guard var entry = peers[path], entry.isConnected else { return }
        entry.isConnected = false
        entry.mtu = nil
        peers[path] = objects.devices[path] == nil ? nil : entry
        socketsEnd(of: entry.id, isBonded: objects.devices[path]?.isPaired == true)
        tell(.disconnected(entry.id))
        // One that was refused while a link stood, as some controllers do.
        advertising.tryAgain()
        settleAdvertisementSoon()
        guard peers.connected.isEmpty else { return }
        for key in attributes.keys.sorted(by: { $0.rawValue < $1.rawValue }) { tellSubscription(key) }
    }

    /// A request names a central before its Device1 has been told, or with an MTU that is new.
    func peer(of options: RequestOptions) -> PeerTable.Entry {
        guard let path = options.device else { return PeerTable.Entry(id: Peer.ID(0)) }
        var entry = peers[path] ?? peers.entry(path)
        if !entry.isConnected {
            let device = objects.devices[path] ?? Self.device(from: path)
            connected(path, device)
            entry = peers[path] ?? entry
        }
        if let mtu = options.mtu, entry.mtu != mtu {
            entry.mtu = mtu
            peers[path] = entry
            tell(.mtuChanged(entry.id, mtu))
        }
        return entry
    }

    /// `…/dev_AA_BB_CC_DD_EE_FF`.
    static func device(from path: String) -> BusObjects.Device {
        var device = BusObjects.Device()
        if let range = path.lastRange(of: "/dev_") {
            device.address = String(path[range.upperBound...].prefix(17).map { $0 == "_" ? ":" : $0 })
        }
        device.isConnected = true
        return device
    }

    private static func peer(_ id: Peer.ID, _ device: BusObjects.Device) -> Peer {
        Peer(
            id: id, address: DeviceAddress(device.address, kind: device.isRandom ? .random : .public),
            name: device.name, isPaired: device.isPaired)
    }

    /// Ends a central's link; bluetoothd takes two seconds for it.
    public func disconnect(_ central: Peer.ID) async {
        guard let path = peers.path(of: central).flatMap({ try? ObjectPath($0) }) else { return }
        await attempt { () throws(RadioError) in
            _ = try await call(path, BlueZ.device, "Disconnect", "disconnecting a central")
        }
    }
}

extension String {
    fileprivate func lastRange(of text: String) -> Range<String.Index>? {
        var end = endIndex
        while let start = self[..<end].lastIndex(of: "/") {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            end = start
        }
        return nil
    }
}
