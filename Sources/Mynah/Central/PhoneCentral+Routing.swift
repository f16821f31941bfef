import MynahCore
import MynahLifecycle

// Events of the radio.
extension PhoneCentral {
    /// Routes an event to the managers that it is for.
    func route(_ event: CentralEvent, on phone: isolated Phone) -> RadioAnswer {
        // A radio that is stopped gives up its links, which no app has lost.
        guard phone.isRunning || phone.memory.apps.isEmpty else { return .none }
        switch event {
        case .stateChanged(let new): stateChanged(to: new, on: phone)
        case .lost(let error):
            memory.loss = error
            programs.deliver(.lost(error))
        case .recovered: programs.deliver(.recovered)
        case .warning(let warning): programs.warn(warning)
        case .capabilitiesChanged(let new): scanner.changeCapabilities(to: new)
        case .heard(let report): heard(report, on: phone)
        case .readyToWrite(let id):
            for manager in memory.links.takeWaitingToWrite(on: id).compactMap(memory.manager) {
                route(event, of: id, to: manager, on: phone)
            }
        case .connected(let peer):
            connections.began(peer, on: phone)
            linksChanged(on: phone)
        case .disconnected(let id, _), .mtuChanged(let id, _), .paired(let id), .pairing(let id, _),
            .notified(let id, _, _, _), .servicesChanged(let id, _), .parameters(let id, _):
            return route(event, of: id, on: phone)
        case .peerChanged(let peer): return route(event, of: peer.id, on: phone)
        }
        return .none
    }

    /// Gives an event to a manager: at once, or as the life of its app has it.
    @discardableResult
    func deliver(
        _ event: CentralManagerEvent, to manager: CentralManagerState, on phone: isolated Phone
    ) -> RadioAnswer {
        guard let app = manager.app else { return manager.deliver(event) }
        return app.pass(event, to: manager, on: phone)
    }

    private func heard(_ report: ScanReport, on phone: isolated Phone) {
        perform(connector.heard(report), on: phone)
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
                deliver(.discovered(discovery), to: manager, on: phone)
            }
        }
    }

    // MARK: Links

    /// An event of a link.
    private func route(
        _ event: CentralEvent, of id: Peer.ID, on phone: isolated Phone
    ) -> RadioAnswer {
        memory.links.note(event)
        switch event {
        case .disconnected(_, let error):
            connections.ended(id, devices.lostBonds.takeEnd(of: id) ?? error, on: phone)
            linksChanged(on: phone)
            return .none
        case .peerChanged(let peer):
            if let address = peer.address { connections.moved(id, to: address, on: phone) }
        case .servicesChanged(_, let range):
            if let address = memory.ledger.address(of: id) { devices.tables.forget(address) }
            subscriptions.servicesChanged(range, on: id)
        case .pairing(_, let step): return pair(id, step, on: phone)
        default: break
        }
        if case .notified(_, let handle, _, _) = event { alerts.notified(handle, of: id) }
        for manager in memory.holders(of: id) { route(event, of: id, to: manager, on: phone) }
        return .none
    }

    private func route(
        _ event: CentralEvent, of id: Peer.ID, to manager: CentralManagerState, on phone: isolated Phone
    ) {
        guard let address = memory.ledger.address(of: id), let peripheral = manager.asked[address] else {
            return
        }
        switch event {
        case .peerChanged(let peer): peripheral.note(.changed(peer))
        case .mtuChanged(_, let mtu):
            peripheral.note(.mtu(mtu))
            deliver(.mtuChanged(peripheral, mtu), to: manager, on: phone)
        case .readyToWrite: deliver(.readyToWrite(peripheral), to: manager, on: phone)
        case .paired:
            peripheral.note(.paired)
            deliver(.paired(peripheral), to: manager, on: phone)
        case .notified(_, let handle, let value, let delivery):
            guard hears(manager, handle, of: id) else { return }
            let characteristic = peripheral.note(.value(value, handle: handle))
            let update = ValueUpdate(
                peripheral: peripheral, characteristic: characteristic, handle: handle, value: value,
                delivery: delivery)
            deliver(.valueUpdated(update), to: manager, on: phone)
        case .servicesChanged(_, let range):
            let gone = peripheral.invalidateServices(in: range)
            preservation.save(manager)
            deliver(.servicesChanged(peripheral, range, invalidated: gone), to: manager, on: phone)
        default: break
        }
    }

    /// Whether a value is for a manager: an app hears what it subscribed to, any other program everything.
    private func hears(_ manager: CentralManagerState, _ handle: AttributeHandle, of link: Peer.ID) -> Bool {
        manager.app == nil
            || subscriptions.hears(manager.key, .init(link: link, handle: handle))
    }

    /// A step of a pairing is for a program; of an app the system asks the phone's user.
    private func pair(_ id: Peer.ID, _ step: PairingStep, on phone: isolated Phone) -> RadioAnswer {
        guard let address = memory.ledger.address(of: id) else { return .none }
        for manager in memory.holders(of: id) where manager.app == nil {
            guard let peripheral = manager.asked[address] else { continue }
            return manager.deliver(.pairing(peripheral, step))
        }
        return memory.links[id].map { phone.reports.ask(.peripheralPairing($0.peer, step)) } ?? .none
    }
}
