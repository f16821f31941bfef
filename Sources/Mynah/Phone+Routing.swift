public import MynahCore

// What the radio tells.
extension Phone: RadioSink {
    /// Routes an event to the manager whose attribute it names, or to all.
    public nonisolated func handle(_ event: RadioEvent) -> RadioAnswer {
        assumeIsolated { $0.route(event) }
    }

    private func route(_ event: RadioEvent) -> RadioAnswer {
        switch event {
        case .read(let request):
            guard let owner = owners[request.attribute] else { return .answer(.failure(.unlikelyError)) }
            return tell(owner, .read(request, central(request.central)))
        case .answeredRead(let request, let value):
            guard let owner = owners[request.attribute] else { return .none }
            return tell(owner, .answeredRead(request, central(request.central), value))
        case .write(let request):
            // The parts of one write belong to one manager: an executed write that spans two is refused.
            guard let first = request.parts.first, let owner = owners[first.attribute],
                request.parts.allSatisfy({ owners[$0.attribute] === owner })
            else { return .answer(.failure(.unlikelyError)) }
            return tell(owner, .write(request, central(request.central)))
        case .subscribed(let attribute, let id, let delivery):
            guard let owner = owners[attribute] else { return .none }
            return tell(owner, .subscribed(attribute, id.map(central), delivery))
        case .unsubscribed(let attribute, let id):
            guard let owner = owners[attribute] else { return .none }
            return tell(owner, .unsubscribed(attribute, id.map(central)))
        case .confirmed(let attribute, let id):
            guard let owner = owners[attribute] else { return .none }
            return tell(owner, .confirmed(attribute, id.map(central)))
        case .channelOpened(let channel):
            // Nobody holds what is not told, and so it is closed.
            guard let owner = channelOwners[channel.psm] else { return .none }
            let told = owner.app.map { AppChannel(channel, of: $0) } ?? channel
            return tell(owner, .channelOpened(told, central(channel.peer)))
        case .readyToSend:
            tellAll(.readyToUpdateSubscribers)
        case .stateChanged(let new):
            radioState = new
            tell(.stateChanged(new))
            for manager in managers {
                // An app hears of it once, and passes it on to its managers.
                if manager.app == nil {
                    _ = tell(manager, .stateChanged(new))
                } else {
                    manager.assumeIsolated { $0.note(.stateChanged(new)) }
                }
            }
            for app in apps { app.assumeIsolated { $0.radioStateChanged(to: new) } }
        case .capabilitiesChanged(let new):
            if case .running = state { state = .running(new) }
            tell(.capabilitiesChanged(new))
        case .lost(let error):
            tell(.lost(error))
        case .recovered:
            tell(.recovered)
        case .advertisingChanged(let report):
            if let advertiser { _ = tell(advertiser, .advertisingChanged(report)) }
            tellAir(report)
        case .warning(let warning):
            tell(.warning(warning))
        case .connected(let peer):
            let central = Central(peer, mtu: centrals[peer.id]?.mtu)
            centrals[peer.id] = central
            tell(.connected(central))
            tellAll(.connected(central))
        case .disconnected(let id):
            guard let central = centrals.removeValue(forKey: id) else { return .none }
            tell(.disconnected(central))
            tellAll(.disconnected(central))
        case .peerChanged(let peer):
            guard let known = centrals[peer.id] else { return .none }
            let central = Central(peer, mtu: known.mtu)
            centrals[peer.id] = central
            tell(.centralChanged(central))
        case .mtuChanged(let id, let mtu):
            var central = central(id)
            central.mtu = mtu
            centrals[id] = central
            tell(.mtuChanged(central))
            tellAll(.mtuChanged(central))
        case .paired(let id):
            var central = central(id)
            central.isPaired = true
            if centrals[id] != nil { centrals[id] = central }
            tell(.paired(central))
        case .pairing(let id, let step):
            return sink?.handle(.pairing(central(id), step)) ?? .none
        }
        return .none
    }

    func tell(_ event: PhoneEvent) {
        _ = sink?.handle(event)
    }

    func tell(_ manager: PeripheralManager, _ event: PeripheralEvent) -> RadioAnswer {
        manager.assumeIsolated { $0.take(event) }
    }

    private func tellAll(_ event: PeripheralEvent) {
        for manager in managers { _ = tell(manager, event) }
    }
}

extension ServiceDefinition {
    var attributeKeys: [AttributeKey] {
        [key] + characteristics.flatMap { [$0.key] + $0.descriptors.map(\.key) }
    }
}
