import MynahCore

// What the radio reports.
extension CentralManager {
    /// Keeps what is known of each peripheral, and passes the event on.
    func route(_ event: CentralEvent) -> RadioAnswer {
        switch event {
        case .stateChanged(let new):
            state = new
            report(.stateChanged(new))
        case .lost(let error): report(.lost(error))
        case .recovered: report(.recovered)
        case .heard(let report): heard(report)
        case .readyToWrite: report(.readyToWrite)
        case .warning(let warning): report(.warning(warning))
        case .connected(let peer): began(peer)
        case .disconnected(let id, _), .mtuChanged(let id, _), .paired(let id), .pairing(let id, _),
            .notified(let id, _, _, _), .servicesChanged(let id, _):
            return route(event, of: id)
        case .peerChanged(let peer): return route(event, of: peer.id)
        }
        return .none
    }

    /// An event of a link.
    private func route(_ event: CentralEvent, of id: Peer.ID) -> RadioAnswer {
        if case .pairing = event {
            // The answer cannot wait until a request names the peripheral.
            settle(id)
        } else if peripherals.keep(event, of: id) {
            return .none
        }
        guard let peripheral = peripherals[id] else { return .none }
        let characteristic = update(peripheral, event)
        switch event {
        case .peerChanged(let peer): peripherals.add(peripheral, alsoAt: peer.address)
        case .disconnected(_, let error):
            peripherals.end(id)
            report(.disconnected(peripheral, error))
        case .mtuChanged(_, let mtu): report(.mtuChanged(peripheral, mtu))
        case .paired: report(.paired(peripheral))
        case .pairing(_, let step): return report(.pairing(peripheral, step))
        case .notified(_, let handle, let value, let delivery):
            let update = ValueUpdate(
                peripheral: peripheral, characteristic: characteristic, handle: handle, value: value,
                delivery: delivery)
            report(.valueUpdated(update))
        case .servicesChanged(_, let range): report(.servicesChanged(peripheral, range))
        default: break
        }
        return .none
    }

    /// Gives an event to its peripheral; returns the characteristic that it is about, or `nil` if none.
    @discardableResult
    func update(_ peripheral: Peripheral, _ event: CentralEvent) -> DiscoveredCharacteristic? {
        peripheral.onOwnExecutor { $0.take(event) }
    }

    // MARK: Links

    private func began(_ peer: Peer) {
        if let peripheral = peripherals.begin(peer) { connected(peripheral, peer) }
    }

    private func connected(_ peripheral: Peripheral, _ peer: Peer) {
        update(peripheral, .connected(peer))
        report(.connected(peripheral))
    }

    /// A request has returned with this link, which is to its peripheral.
    func settle(_ peer: Peer, _ peripheral: Peripheral) {
        switch peripherals.claim(peer.id, for: peripheral) {
        case .begins(let waiting):
            connected(peripheral, peer)
            for event in waiting { _ = route(event) }
        case .moves: update(peripheral, .connected(peer))
        case .isKnown: break
        }
    }

    /// No request claims this link: it is to the peripheral at its own address.
    func settle(_ id: Peer.ID) {
        if let (peer, peripheral) = peripherals.unclaimed(id) { settle(peer, peripheral) }
    }
}
