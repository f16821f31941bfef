import MynahCore

// Events of the radio.
extension Phone {
    /// Routes an event of the radio to the manager of its attribute or PSM, to all managers, or to the
    /// `PhoneSink`.
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
            reports.report(.capabilitiesChanged(new))
        case .lost(let error): reports.report(.lost(error))
        case .recovered: reports.report(.recovered)
        case .advertisingChanged(let report): advertiser.radioChanged(to: report)
        case .warning(let warning): reports.report(.warning(warning))
        case .connected, .linkLost, .disconnected, .peerChanged, .mtuChanged, .parameters, .paired, .refused:
            let events = memory.centrals.note(services.explained(event))
            meter.update()
            guard let events else { break }
            reports.report(events.phone)
            if let event = events.managers { deliverToAll(event) }
            central.linksChanged()
        case .pairing(let id, let step): return reports.ask(.pairing(central(id), step))
        }
        return .none
    }

    /// Gives an event to a manager, or to its app's queue if the app does not run.
    func deliver(_ event: PeripheralEvent, to manager: ManagerState) -> RadioAnswer {
        manager.note(event)
        guard manager.app != nil else { return manager.deliver(event) }
        return memory.app(of: manager)?.pass(event, to: manager) ?? .unheard(event)
    }

    private func deliver(_ event: PeripheralEvent, toOwnerOf attribute: AttributeKey) {
        if let owner = services.owner(of: attribute) { _ = deliver(event, to: owner) }
    }

    /// Updates the table of centrals after an event of a link to a peripheral, which may also use the phone's
    /// services.
    ///
    /// If the link ended, the manager of the phone's own services gets the event, because subscriptions end
    /// with the link.
    func noteClient(_ event: CentralEvent) {
        let gone = memory.centrals.note(event)
        meter.update()
        guard let gone, isRunning, !memory.apps.isEmpty else { return }
        for manager in memory.managers where manager.app == nil {
            _ = deliver(.disconnected(gone), to: manager)
        }
    }

    /// Asks the phone's user whether to pair with the device of a link.
    func consents(toPairOn link: Peer.ID) async -> Bool { await central.consent.ask(for: link) }

    private func deliverToAll(_ event: PeripheralEvent) {
        for manager in memory.managers { _ = deliver(event, to: manager) }
    }

    /// Passes a new channel to the manager of its PSM; a channel without a manager is dropped, which closes
    /// it.
    private func opened(_ channel: any L2CAPChannel) {
        guard let owner = services.owner(ofChannel: channel.psm) else { return }
        let delivered = memory.app(of: owner).map { AppChannel(channel, of: $0.makeHandle()) } ?? channel
        _ = deliver(.channelOpened(delivered, central(channel.peer)), to: owner)
    }

    private func stateChanged(to new: RadioState) {
        memory.radioState = new
        reports.report(.stateChanged(new))
        if new != .poweredOn { advertiser.radioEnded() }
        for manager in memory.managers {
            // An app receives the event once, and passes it on to its managers.
            if let app = manager.app {
                manager.note(.stateChanged(app.bluetoothState(new)))
            } else {
                _ = deliver(.stateChanged(new), to: manager)
            }
        }
        for app in memory.apps { app.radioStateChanged(to: new) }
    }
}
