import MynahCore

// Events of the radio.
extension Phone {
    /// Routes an event to the manager whose attribute it names, or to all.
    func route(_ event: RadioEvent) -> RadioAnswer {
        switch event {
        case .read(let request):
            guard let owner = services.owner(of: request.attribute) else {
                return .answer(.failure(.unlikelyError))
            }
            return deliver(.read(request, central(request.central)), to: owner)
        case .write(let request):
            // An executed write that spans two managers is refused.
            guard let owner = services.owner(of: request) else { return .answer(.failure(.unlikelyError)) }
            return deliver(.write(request, central(request.central)), to: owner)
        case .answeredRead(let request, let value):
            deliver(.answeredRead(request, central(request.central), value), toOwnerOf: request.attribute)
        case .subscribed(let attribute, let id, let delivery):
            deliver(.subscribed(attribute, id.map(central), delivery), toOwnerOf: attribute)
        case .unsubscribed(let attribute, let id):
            deliver(.unsubscribed(attribute, id.map(central)), toOwnerOf: attribute)
        case .confirmed(let attribute, let id):
            deliver(.confirmed(attribute, id.map(central)), toOwnerOf: attribute)
        case .channelOpened(let channel): opened(channel)
        case .readyToSend: deliverToAll(.readyToUpdateSubscribers)
        case .stateChanged(let new): stateChanged(to: new)
        case .capabilitiesChanged(let new):
            changeCapabilities(new)
            report(.capabilitiesChanged(new))
        case .lost(let error): report(.lost(error))
        case .recovered: report(.recovered)
        case .advertisingChanged(let report): advertiser.radioChanged(to: report, on: self)
        case .warning(let warning): report(.warning(warning))
        case .connected, .disconnected, .peerChanged, .mtuChanged, .parameters, .paired, .refused:
            guard let reports = centrals.note(services.explained(event)) else { break }
            report(reports.phone)
            if let event = reports.managers { deliverToAll(event) }
            central.linksChanged(on: self)
        case .pairing(let id, let step): return ask(.pairing(central(id), step))
        }
        return .none
    }

    /// Gives an event to a manager: at once, or as the life of its app has it.
    func deliver(_ event: PeripheralEvent, to manager: ManagerState) -> RadioAnswer {
        manager.note(event, on: self)
        guard let app = manager.app else { return manager.deliver(event) }
        return app.pass(event, to: manager, on: self)
    }

    private func deliver(_ event: PeripheralEvent, toOwnerOf attribute: AttributeKey) {
        if let owner = services.owner(of: attribute) { _ = deliver(event, to: owner) }
    }

    private func deliverToAll(_ event: PeripheralEvent) {
        for manager in managers { _ = deliver(event, to: manager) }
    }

    /// A channel without an owner has no reference left, which closes it.
    private func opened(_ channel: any L2CAPChannel) {
        guard let owner = services.owner(ofChannel: channel.psm) else { return }
        let delivered = owner.app.map { AppChannel(channel, of: App($0, on: self)) } ?? channel
        _ = deliver(.channelOpened(delivered, central(channel.peer)), to: owner)
    }

    private func stateChanged(to new: RadioState) {
        radioState = new
        report(.stateChanged(new))
        if new != .poweredOn { advertiser.radioEnded(on: self) }
        for manager in managers {
            // An app hears of it once, and passes it on to its managers.
            if let app = manager.app {
                manager.note(.stateChanged(app.bluetoothState(new)), on: self)
            } else {
                _ = deliver(.stateChanged(new), to: manager)
            }
        }
        for app in apps { app.radioStateChanged(to: new, on: self) }
    }
}
