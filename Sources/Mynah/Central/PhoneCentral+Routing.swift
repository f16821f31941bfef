import MynahCore
import MynahLifecycle

// What the radio reports.
extension PhoneCentral {
    /// Routes an event to the managers that it is for.
    func route(_ event: CentralEvent, on phone: isolated Phone) -> RadioAnswer {
        switch event {
        case .stateChanged(let new): stateChanged(to: new, on: phone)
        case .lost(let error):
            loss = error
            deliverToPrograms(.lost(error), on: phone)
        case .recovered: deliverToPrograms(.recovered, on: phone)
        case .warning(let warning):
            if !deliverToPrograms(.warning(warning), on: phone) { phone.report(.warning(warning)) }
        case .heard(let report): heard(report, on: phone)
        case .readyToWrite:
            for manager in managers { deliver(.readyToWrite, to: manager, on: phone) }
        case .connected(let peer): began(peer, on: phone)
        case .disconnected(let id, _), .mtuChanged(let id, _), .paired(let id), .pairing(let id, _),
            .notified(let id, _, _, _), .servicesChanged(let id, _):
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
        return app.receive(event, for: manager, on: phone)
    }

    /// Gives an event that concerns the whole radio to the managers that no app made; returns whether there are any.
    @discardableResult
    private func deliverToPrograms(_ event: CentralManagerEvent, on phone: isolated Phone) -> Bool {
        let programs = managers.filter { $0.app == nil }
        for manager in programs { _ = manager.deliver(event) }
        return !programs.isEmpty
    }

    private func heard(_ report: ScanReport, on phone: isolated Phone) {
        for manager in managers {
            for found in manager.heard(report) {
                guard let peripheral = peripheral(at: found.address, for: manager, on: phone) else {
                    continue
                }
                if let name = found.advertisement.localName {
                    self.name(found.address, name, on: phone)
                    peripheral.take(.heard(found.advertisement))
                }
                let discovery = Discovery(found, peripheral, report)
                deliver(.discovered(discovery), to: manager, on: phone)
            }
        }
    }

    // MARK: Links

    private func began(_ peer: Peer, on phone: isolated Phone) {
        links.take(.connected(peer))
        switch links.parked.device(of: peer, asked: connector.addresses) {
        case .known(let address): began(peer, to: address, on: phone)
        case .unknown: links.parked.park(peer)
        case .nobody:
            links[peer.id] = nil
            PhoneLink(phone).enqueue { await $0.central.radio?.disconnect(peer.id) }
        }
    }

    private func began(_ peer: Peer, to address: DeviceAddress, on phone: isolated Phone) {
        connector.arrived(address)
        let waiting = candidates(ledger.claimants(of: address), for: address)
        change(on: phone) { $0.linkUp(peer.id, to: address, into: &$1) }
        if ledger.link(to: address) == peer.id {
            happened(.connection, to: address, for: waiting, on: phone)
            linkBegan(peer.id, on: phone)
        }
        if let own = peer.address { moved(peer.id, to: own, on: phone) }
    }

    /// The radio returned from a request for a connection.
    func connectionEnded(
        to address: DeviceAddress, _ result: Result<Peer, RadioError>, on phone: isolated Phone
    ) {
        switch result {
        case .success(let peer): settle(peer.id, address, on: phone)
        case .failure(let error):
            change(on: phone) { $0.failed(address, error, into: &$1) }
        }
        // These are to devices that nobody asked for by another address.
        for link in links.parked.unclaimed(asked: connector.addresses) { settle(link, nil, on: phone) }
    }

    /// The device of a link that waited is known now, or is the one at the link's own address.
    private func settle(_ link: Peer.ID, _ address: DeviceAddress?, on phone: isolated Phone) {
        let waited = links.parked.take(link)
        guard case .connected(let peer)? = waited.first else { return }
        guard let address = address ?? peer.address else {
            links[link] = nil
            return PhoneLink(phone).enqueue { await $0.central.radio?.disconnect(link) }
        }
        began(peer, to: address, on: phone)
        for event in waited.dropFirst() { _ = route(event, on: phone) }
    }

    /// An event of a link.
    private func route(
        _ event: CentralEvent, of id: Peer.ID, on phone: isolated Phone
    ) -> RadioAnswer {
        if links.parked.keep(event, of: id) { return .none }
        links.take(event)
        switch event {
        case .disconnected(_, let error):
            let address = ledger.address(of: id)
            let holding = address.map { candidates(ledger.holders(of: id), for: $0) } ?? []
            // With the radio gone nobody is told of each device.
            if error?.code == .lost { for manager in managers { manager.toldLinks.remove(id) } }
            change(on: phone) { $0.linkDown(id, error, keepingFor: keeps, into: &$1) }
            if let address, error?.code != .lost {
                happened(.disconnection, to: address, for: holding, on: phone)
            }
            return .none
        case .peerChanged(let peer):
            if let address = peer.address { moved(id, to: address, on: phone) }
        case .servicesChanged(_, let range):
            subscriptions.servicesChanged(range, on: id, on: phone)
        case .pairing(_, let step): return pair(id, step, on: phone)
        default: break
        }
        if case .notified(_, let handle, _, _) = event { alert(handle, of: id, on: phone) }
        for manager in holders(of: id) { route(event, of: id, to: manager, on: phone) }
        return .none
    }

    private func holders(of link: Peer.ID) -> [CentralManagerState] {
        let keys = ledger.holders(of: link)
        return keys.compactMap { key in managers.first { $0.key == key } }
    }

    private func route(
        _ event: CentralEvent, of id: Peer.ID, to manager: CentralManagerState, on phone: isolated Phone
    ) {
        guard let address = ledger.address(of: id), let peripheral = manager.asked[address] else { return }
        switch event {
        case .peerChanged(let peer): peripheral.take(.changed(peer))
        case .mtuChanged(_, let mtu):
            peripheral.take(.mtu(mtu))
            deliver(.mtuChanged(peripheral, mtu), to: manager, on: phone)
        case .paired:
            peripheral.take(.paired)
            deliver(.paired(peripheral), to: manager, on: phone)
        case .notified(_, let handle, let value, let delivery):
            guard hears(manager, handle, of: id) else { return }
            let characteristic = peripheral.take(.value(value, handle: handle))
            let update = ValueUpdate(
                peripheral: peripheral, characteristic: characteristic, handle: handle, value: value,
                delivery: delivery)
            deliver(.valueUpdated(update), to: manager, on: phone)
        case .servicesChanged(_, let range):
            peripheral.take(.servicesChanged(range))
            preserve(manager, on: phone)
            deliver(.servicesChanged(peripheral, range), to: manager, on: phone)
        default: break
        }
    }

    /// Whether a value is for a manager: an app hears what it subscribed to, any other program everything.
    private func hears(_ manager: CentralManagerState, _ handle: AttributeHandle, of link: Peer.ID) -> Bool {
        manager.app == nil
            || subscriptions.isSubscribed(manager.key, to: .init(link: link, handle: handle))
    }

    private func alert(_ handle: AttributeHandle, of link: Peer.ID, on phone: isolated Phone) {
        guard let address = ledger.address(of: link) else { return }
        let hearing = ledger.holders(of: link).filter {
            subscriptions.isSubscribed($0, to: .init(link: link, handle: handle))
        }
        happened(.notification, to: address, for: candidates(hearing, for: address), on: phone)
    }

    /// A step of a pairing is for a program; an app is not asked, as the system asks the user.
    private func pair(_ id: Peer.ID, _ step: PairingStep, on phone: isolated Phone) -> RadioAnswer {
        guard let address = ledger.address(of: id) else { return .none }
        for manager in holders(of: id) where manager.app == nil {
            guard let peripheral = manager.asked[address] else { continue }
            return manager.deliver(.pairing(peripheral, step))
        }
        return .none
    }
}
