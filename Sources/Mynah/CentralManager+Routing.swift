import MynahCore

/// The way from a radio to its central manager, which it does not keep alive.
final class CentralLink: CentralSink {
    private weak let target: CentralManager?

    init(_ manager: CentralManager) {
        target = manager
    }

    /// Routes an event on the radio's executor.
    func handle(_ event: CentralEvent) -> RadioAnswer {
        guard let target else { return .none }
        return target.onOwnExecutor { $0.route(event) }
    }
}

// What the radio reports.
extension CentralManager {
    /// Keeps what is known of each peripheral, and passes the event on.
    func route(_ event: CentralEvent) -> RadioAnswer {
        switch event {
        case .stateChanged(let new):
            state = new
            tell(.stateChanged(new))
        case .lost(let error): tell(.lost(error))
        case .recovered: tell(.recovered)
        case .heard(let report): heard(report)
        case .readyToWrite: tell(.readyToWrite)
        case .warning(let warning): tell(.warning(warning))
        case .connected(let peer): connectionMade(peer, event)
        case .disconnected(let id, _), .mtuChanged(let id, _), .paired(let id), .pairing(let id, _),
            .notified(let id, _, _, _), .servicesChanged(let id, _):
            return route(event, of: id)
        case .peerChanged(let peer): return route(event, of: peer.id)
        }
        return .none
    }

    /// An event of a link.
    private func route(_ event: CentralEvent, of id: Peer.ID) -> RadioAnswer {
        if pending.isParked(id) {
            guard case .pairing = event else {
                pending.add(event, of: id)
                return .none
            }
            // Pairing wants its answer now.
            settle(id)
        }
        guard let peripheral = connected[id] else { return .none }
        let characteristic = update(peripheral, event)
        switch event {
        case .peerChanged(let peer):
            // A peripheral that has paired may be known by its identity from now on.
            if let address = peer.address, peripherals[address] == nil { peripherals[address] = peripheral }
        case .disconnected(_, let error):
            connected[id] = nil
            tell(.disconnected(peripheral, error))
        case .mtuChanged(_, let mtu): tell(.mtuChanged(peripheral, mtu))
        case .paired: tell(.paired(peripheral))
        case .pairing(_, let step): return tell(.pairing(peripheral, step))
        case .notified(_, let handle, let value, let delivery):
            let update = ValueUpdate(
                peripheral: peripheral, characteristic: characteristic, handle: handle, value: value,
                delivery: delivery)
            tell(.valueUpdated(update))
        case .servicesChanged(_, let range): tell(.servicesChanged(peripheral, range))
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

    private func connectionMade(_ peer: Peer, _ event: CentralEvent) {
        switch pending.match(peer) {
        case .asked(let peripheral): begin(peer, peripheral)
        case .address(let address): begin(peer, peripheral(at: address))
        case .unknown: pending.park(event, of: peer.id)
        }
    }

    private func begin(_ peer: Peer, _ peripheral: Peripheral) {
        connected[peer.id] = peripheral
        update(peripheral, .connected(peer))
        tell(.connected(peripheral))
    }

    /// A request has returned with this link, which is to its peripheral.
    func settle(_ peer: Peer, _ peripheral: Peripheral) {
        if let events = pending.take(peer.id) {
            begin(peer, peripheral)
            for event in events.dropFirst() { _ = route(event) }
        } else if let other = connected[peer.id], other !== peripheral {
            connected[peer.id] = peripheral
            update(peripheral, .connected(peer))
        }
    }

    /// No request claims this link: it is to the peripheral at its own address.
    func settle(_ id: Peer.ID) {
        guard let peer = pending.peer(id), let address = peer.address else { return }
        settle(peer, peripheral(at: address))
    }
}
