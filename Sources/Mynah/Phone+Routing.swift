import MynahCore

// What the radio reports.
extension Phone {
    /// Routes an event to the manager whose attribute it names, or to all.
    func route(_ event: RadioEvent) -> RadioAnswer {
        switch event {
        case .read(let request):
            guard let owner = services.owner(of: request.attribute) else {
                return .answer(.failure(.unlikelyError))
            }
            return tell(owner, .read(request, central(request.central)))
        case .write(let request):
            // An executed write that spans two managers is refused.
            guard let owner = services.owner(of: request) else { return .answer(.failure(.unlikelyError)) }
            return tell(owner, .write(request, central(request.central)))
        case .answeredRead(let request, let value):
            tell(request.attribute, .answeredRead(request, central(request.central), value))
        case .subscribed(let attribute, let id, let delivery):
            tell(attribute, .subscribed(attribute, id.map(central), delivery))
        case .unsubscribed(let attribute, let id):
            tell(attribute, .unsubscribed(attribute, id.map(central)))
        case .confirmed(let attribute, let id):
            tell(attribute, .confirmed(attribute, id.map(central)))
        case .channelOpened(let channel): opened(channel)
        case .readyToSend: tellAll(.readyToUpdateSubscribers)
        case .stateChanged(let new): stateChanged(to: new)
        case .capabilitiesChanged(let new):
            changeCapabilities(new)
            tell(.capabilitiesChanged(new))
        case .lost(let error): tell(.lost(error))
        case .recovered: tell(.recovered)
        case .advertisingChanged(let report): advertiser.radioChanged(to: report, on: self)
        case .warning(let warning): tell(.warning(warning))
        case .connected, .disconnected, .peerChanged, .mtuChanged, .paired:
            guard let reports = centrals.take(event) else { break }
            tell(reports.phone)
            if let event = reports.managers { tellAll(event) }
        case .pairing(let id, let step): return ask(.pairing(central(id), step))
        }
        return .none
    }

    /// Gives an event to a manager: at once, or as the life of its app has it.
    func tell(_ manager: ManagerState, _ event: PeripheralEvent) -> RadioAnswer {
        manager.note(event, on: self)
        guard let app = manager.app else { return manager.deliver(event) }
        return app.receive(event, for: manager, on: self)
    }

    private func tell(_ attribute: AttributeKey, _ event: PeripheralEvent) {
        if let owner = services.owner(of: attribute) { _ = tell(owner, event) }
    }

    private func tellAll(_ event: PeripheralEvent) {
        for manager in managers { _ = tell(manager, event) }
    }

    /// A channel without an owner is held by nobody, and is closed by that.
    private func opened(_ channel: any L2CAPChannel) {
        guard let owner = services.owner(ofChannel: channel.psm) else { return }
        let told = owner.app.map { AppChannel(channel, of: App($0, on: self)) } ?? channel
        _ = tell(owner, .channelOpened(told, central(channel.peer)))
    }

    private func stateChanged(to new: RadioState) {
        radioState = new
        tell(.stateChanged(new))
        if new != .poweredOn { advertiser.radioEnded(on: self) }
        for manager in managers {
            // An app hears of it once, and passes it on to its managers.
            if manager.app == nil {
                _ = tell(manager, .stateChanged(new))
            } else {
                manager.note(.stateChanged(new), on: self)
            }
        }
        for app in apps { app.radioStateChanged(to: new, on: self) }
    }
}
