import MynahCore
import MynahLifecycle

// Events of the radio.
extension PhoneCentral {
    /// Routes an event to the managers that it is for.
    func route(_ event: CentralEvent) -> RadioAnswer {
        // When the radio is stopped, its links end, but that is not reported to apps.
        guard phone.isRunning || phone.apps.isEmpty else { return .none }
        switch event {
        case .stateChanged(let new): stateChanged(to: new)
        case .lost(let error):
            memory.loss = error
            programs.deliver(.lost(error))
        case .recovered: programs.deliver(.recovered)
        case .warning(let warning): programs.warn(warning)
        case .capabilitiesChanged(let new): scanner.changeCapabilities(to: new)
        case .heard(let report): heard(report)
        case .readyToWrite(let id):
            for manager in memory.links.takeWaitingToWrite(on: id).compactMap(memory.manager) {
                route(event, of: id, to: manager)
            }
        case .connected(let peer):
            connections.began(peer)
            linksChanged()
        case .disconnected(let id, _), .mtuChanged(let id, _), .paired(let id), .pairing(let id, _),
            .notified(let id, _, _, _), .servicesChanged(let id, _), .parameters(let id, _):
            return route(event, of: id)
        case .peerChanged(let peer): return route(event, of: peer.id)
        }
        return .none
    }

    private func heard(_ report: ScanReport) {
        if !report.isPeriodic { perform(connector.heard(report)) }
        for manager in memory.managers {
            for found in manager.heard(report, readsOverflowArea: scanner.isScreenOn) {
                guard let peripheral = devices.peripheral(at: found.address, for: manager) else {
                    continue
                }
                if let name = found.advertisement.localName {
                    devices.name(found.address, name)
                    peripheral.note(.heard(found.advertisement))
                }
                let discovery = Discovery(found, peripheral, report)
                phone.pass(.discovered(discovery), to: manager)
            }
        }
    }

    // MARK: Links

    /// Routes an event of a link to the managers that it is for.
    private func route(
        _ event: CentralEvent, of id: Peer.ID
    ) -> RadioAnswer {
        memory.links.note(event)
        switch event {
        case .disconnected(_, let error):
            connections.ended(id, devices.lostBonds.takeEnd(of: id) ?? error)
            linksChanged()
            return .none
        case .peerChanged(let peer):
            if let address = peer.address { connections.moved(id, to: address) }
        case .servicesChanged(_, let range):
            if let address = memory.ledger.address(of: id) { devices.tables.forget(address) }
            subscriptions.servicesChanged(range, on: id)
        case .pairing(_, let step): return consent.answer(to: step, on: id)
        default: break
        }
        if case .notified(_, let handle, _, _) = event { alerts.notified(handle, of: id) }
        for manager in memory.holders(of: id) { route(event, of: id, to: manager) }
        return .none
    }

    private func route(
        _ event: CentralEvent, of id: Peer.ID, to manager: CentralManagerState
    ) {
        guard let address = memory.ledger.address(of: id), let peripheral = manager.asked[address] else {
            return
        }
        switch event {
        case .peerChanged(let peer): peripheral.note(.changed(peer))
        case .mtuChanged(_, let mtu):
            peripheral.note(.mtu(mtu))
            phone.pass(.mtuChanged(peripheral, mtu), to: manager)
        case .readyToWrite: phone.pass(.readyToWrite(peripheral), to: manager)
        case .paired:
            peripheral.note(.paired)
            phone.pass(.paired(peripheral), to: manager)
        case .notified(_, let handle, let value, let delivery):
            guard hears(manager, handle, of: id) else { return }
            let characteristic = peripheral.note(.value(value, handle: handle))
            let update = ValueUpdate(
                peripheral: peripheral, characteristic: characteristic, handle: handle, value: value,
                delivery: delivery)
            phone.pass(.valueUpdated(update), to: manager)
        case .servicesChanged(_, let range):
            let gone = peripheral.invalidateServices(in: range)
            preservation.save(manager)
            phone.pass(.servicesChanged(peripheral, range, invalidated: gone), to: manager)
        default: break
        }
    }

    /// Whether a manager receives a value of a link.
    ///
    /// An app's manager receives only values that it subscribed to, and any other manager receives all.
    private func hears(_ manager: CentralManagerState, _ handle: AttributeHandle, of link: Peer.ID) -> Bool {
        manager.app == nil
            || subscriptions.hears(manager.key, .init(link: link, handle: handle))
    }
}
