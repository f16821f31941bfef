import MynahCore
import MynahLifecycle

// What the phone tells.
extension PeripheralManager {
    func take(_ event: PeripheralEvent) -> RadioAnswer {
        note(event)
        if let app { return app.assumeIsolated { $0.receive(event, for: self) } }
        return deliver(event)
    }

    /// What the system itself remembers, whether or not the app hears of it now.
    func note(_ event: PeripheralEvent) {
        switch event {
        case .stateChanged(let new):
            state = new
            guard new != .poweredOn else { return }
            subscriptions.removeAll()
            advertising = .silent
            keep()
        case .subscribed(let attribute, let central, _):
            subscriptions.subscribe(central?.id, to: attribute)
            remembered.removeAll {
                $0.attribute == attribute && ($0.address == nil || $0.address == central?.address)
            }
            keep()
        case .unsubscribed(let attribute, let central):
            subscriptions.unsubscribe(central?.id, from: attribute)
            keep()
        case .disconnected(let central):
            subscriptions.forget(central.id)
            keep()
        case .advertisingChanged(let report):
            advertising = report
        default:
            break
        }
    }

    /// Gives an event to whoever listens.
    func deliver(_ event: PeripheralEvent) -> RadioAnswer {
        guard !isEnded else { return .unheard(event) }
        if let sink { return sink.handle(event) }
        if let streams { return streams.handle(event) }
        return .unheard(event)
    }

    func radioStopped() {
        end()
        batches = []
        subscriptions.removeAll()
        advertising = .silent
        state = .unknown
    }

    /// Whoever listened is gone.
    func end() {
        isEnded = true
        // Only services, subscribers and adverts are restored (Peripheral Manager State Restoration Options).
        onPhone { $0.unpublishL2CAPChannels(of: self) }
        streams?.finish()
        streams = nil
    }
}

// What the system keeps.
extension PeripheralManager {
    /// Writes down what would be restored, where it is not: of a manager that did nothing there is nothing to restore.
    func keep() {
        guard let restoreIdentifier, let state = preserved,
            state != written ?? PreservedState(restoreIdentifier: restoreIdentifier),
            onPhone({ $0.save(state) })
        else { return }
        written = state
    }

    private var preserved: PreservedState? {
        guard let restoreIdentifier else { return nil }
        var state = PreservedState(restoreIdentifier: restoreIdentifier, batches: batches.map(\.services))
        state.advertisement = wanted
        for attribute in subscriptions.attributes {
            for central in subscribers(of: attribute) {
                state.subscribers.append(.init(attribute: attribute, address: central.address))
            }
            if subscriptions.hasUnnamed(attribute) {
                state.subscribers.append(.init(attribute: attribute, address: nil))
            }
        }
        state.subscribers += remembered.filter { !state.subscribers.contains($0) }
        return state
    }

    /// Becomes what another process left behind.
    func take(_ state: PreservedState) {
        batches = state.batches.map { Batch(id: nil, services: $0) }
        wanted = state.advertisement
        settledUUIDs = wanted?.serviceUUIDs
        remembered = state.subscribers
        written = state
        isEnded = true
    }

    /// What one manager hands over to another.
    struct Estate {
        var batches: [Batch]
        var subscriptions: SubscriptionTable
        var remembered: [PreservedState.Subscriber]
        var written: PreservedState?
        var wanted: Advertisement?
        var settledUUIDs: [BluetoothUUID]?
        var wasStopped: Bool
        var advertising: AdvertisingReport
    }

    /// Gives up what is kept of it.
    func handOver(to successor: PeripheralManager) -> Estate {
        defer {
            self.successor = successor
            batches = []
            wanted = nil
        }
        return Estate(
            batches: batches, subscriptions: subscriptions, remembered: remembered,
            written: written, wanted: wanted,
            settledUUIDs: settledUUIDs, wasStopped: wasStopped, advertising: advertising)
    }

    /// Takes over what was kept, and says what it is.
    func adopt(_ estate: Estate) -> RestoredState {
        batches = estate.batches
        subscriptions = estate.subscriptions
        remembered = estate.remembered
        written = estate.written
        wanted = estate.wanted
        settledUUIDs = estate.settledUUIDs
        wasStopped = estate.wasStopped
        advertising = estate.advertising
        var subscribers = remembered.map {
            RestoredState.Subscriber(attribute: $0.attribute, address: $0.address, isLive: false)
        }
        for attribute in subscriptions.attributes {
            for central in self.subscribers(of: attribute) {
                subscribers.append(.init(attribute: attribute, address: central.address, isLive: true))
            }
            if subscriptions.hasUnnamed(attribute) {
                subscribers.append(.init(attribute: attribute, address: nil, isLive: true))
            }
        }
        return RestoredState(services: services, advertisement: wanted, subscribers: subscribers)
    }

    /// Puts kept services that no radio has onto this one; once, whoever asks meanwhile.
    func publishKept() async {
        var tried: Set<[AttributeKey]> = []
        while let index = batches.firstIndex(where: {
            $0.id == nil && !$0.isOnItsWay && !tried.contains($0.services.map(\.key))
        }) {
            let services = batches[index].services
            tried.insert(services.map(\.key))
            batches[index].isOnItsWay = true
            do throws(RadioError) {
                _ = try await phone.publish(services, for: self) { published in
                    self.assumeIsolated { $0.takeKept(published, services) }
                }
            } catch {
                guard giveUp(services) else { continue }
                await phone.warn("restoredServicesRefused", "restored services were refused: \(error)")
            }
        }
    }

    /// False: nobody waits for them any more.
    private func takeKept(_ published: PublishedServices?, _ services: [ServiceDefinition]) -> Bool {
        if let successor { return successor.assumeIsolated { $0.takeKept(published, services) } }
        guard let index = onItsWay(services) else { return false }
        if let published {
            batches[index].id = published.id
            batches[index].isOnItsWay = false
            phone.assumeIsolated { $0.own(services, self) }
        }
        return true
    }

    /// False: they are not waited for any more, or have come another way.
    private func giveUp(_ services: [ServiceDefinition]) -> Bool {
        if let successor { return successor.assumeIsolated { $0.giveUp(services) } }
        guard let index = onItsWay(services) else { return false }
        batches[index].isOnItsWay = false
        return true
    }

    private func onItsWay(_ services: [ServiceDefinition]) -> Int? {
        batches.firstIndex { $0.isOnItsWay && $0.services == services }
    }

    /// Everything is withdrawn, and the app has to add it again; that channels' numbers go with the services is an assumption.
    func clearDatabase() {
        withdrawKept()
        onPhone { $0.unpublishL2CAPChannels(of: self) }
        batches = []
        remembered = []
        keep()
    }

    /// The radio forgets the services, and they stay kept.
    func withdrawKept() {
        generation += 1
        let phone = phone
        for index in batches.indices {
            batches[index].isOnItsWay = false
            guard let id = batches[index].id else { continue }
            let services = batches[index].services
            batches[index].id = nil
            subscriptions.remove(services)
            phone.assumeIsolated { $0.beginWithdrawal(services) }
            Task { await phone.endWithdrawal(id, services) }
        }
    }

    /// What was advertised is forgotten.
    func forgetAdvertising() {
        guard wanted != nil else { return }
        wanted = nil
        settledUUIDs = nil
        keep()
        onPhone { $0.airChanged() }
    }
}

// What goes on the air of it.
extension PeripheralManager {
    /// Its part of what the phone advertises; nil: it wants nothing.
    func contribution(deferringChanges: Bool) -> AppAdvertisement? {
        guard let app, let wanted else { return nil }
        let mode = app.assumeIsolated { $0.advertisingMode }
        var uuids = wanted.serviceUUIDs
        switch mode {
        case .off: break
        case .foreground: settleUUIDs()
        case .background:
            if deferringChanges, let settledUUIDs {
                uuids = wasStopped ? uuids.filter(settledUUIDs.contains) : settledUUIDs
            } else {
                settleUUIDs()
            }
        }
        return AppAdvertisement(localName: wanted.localName, serviceUUIDs: uuids, mode: mode)
    }

    /// The UUIDs were said on the screen, or nothing waits for it: they are the ones that go out.
    func settleUUIDs() {
        settledUUIDs = wanted?.serviceUUIDs
        wasStopped = false
    }

    /// Its app asks for it, which counts even where what it asks for waits until Bluetooth is on.
    func want(_ advertisement: Advertisement) {
        wanted = advertisement
        if app?.assumeIsolated({ $0.isInForeground }) == true { settleUUIDs() }
        keep()
    }

    /// What of its wishes waits for the foreground.
    func deferred(_ part: AppAdvertisement) -> [AdvertisingReport.Omission] {
        guard part.mode == .background, let wanted else { return [] }
        return wanted.serviceUUIDs.enumerated().filter { !part.serviceUUIDs.contains($0.element) }.map {
            .init(
                item: "serviceUUIDs[\($0.offset)]",
                reason: "it was changed in the background, which from iOS 14 on waits for the foreground")
        }
    }
}

extension RadioAnswer {
    /// What a request gets that nobody listens for.
    static func unheard(_ event: PeripheralEvent) -> RadioAnswer {
        switch event {
        case .read: .answer(.failure(.unlikelyError))
        case .write: .answer(.failure(.unlikelyError))
        default: .none
        }
    }
}
