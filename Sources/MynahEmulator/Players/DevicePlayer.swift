import Mynah
import MynahCore
import MynahFaults
import MynahLifecycle
import MynahProfiles
import MynahSupport

/// Plays one device on a phone: answers requests, sends values on schedule, and reports events.
///
/// Belongs to the emulator, and runs on the phone's executor, on which requests are answered synchronously.
final class DevicePlayer {
    let link: PlayerLink
    let phone: Phone
    let memory: DeviceMemory
    let sender: DeviceSender
    let advertising: AdvertisingTicker
    let reactions: ReactionPlayer
    let pipeline: RequestPipeline
    let asks: RequestAsker
    let requests: RequestAnswerer
    /// The players of the app's central managers.
    let centrals: [CentralPlayer]

    /// Makes a player.
    ///
    /// If a fault changes a sent value, `faulted` receives the changed value.
    init(
        _ device: EmulatedDevice, on phone: Phone, clock: RunClock, events: EventReporter, link: PlayerLink,
        faulted: Lock<[DeliveredValue]>?
    ) {
        let memory = DeviceMemory(of: device, clock: clock, events: events)
        self.memory = memory
        self.phone = phone
        self.link = link
        sender = DeviceSender(of: memory, link, faulted: faulted)
        advertising = AdvertisingTicker(of: memory, link)
        reactions = ReactionPlayer(of: memory, with: sender, link)
        pipeline = RequestPipeline(of: memory, reactions, sender.behaviors)
        asks = RequestAsker(of: memory, pipeline, on: phone, link)
        requests = RequestAnswerer(of: memory, asks, pipeline)
        centrals = device.centrals.enumerated().map { number, central in
            CentralPlayer(central, CentralLink(link, number), of: memory)
        }
    }

    var events: EventReporter { memory.events }
    var manager: PeripheralManager? { memory.manager }

    // MARK: The run

    /// Starts the device's clock; must be called before a central can read.
    func begin() {
        memory.startTime()
        memory.device.advertised.values.begin()
        forgetWrites()
    }

    /// Starts the player of the phone's own services, which are published when the radio starts.
    func beginAsPhone() async {
        memory.manager = await PhoneControl.makeOwnManager(of: memory.device.services, sink: link, on: phone)
        memory.stage.published(.done)
        begin()
    }

    /// Publishes the services and starts advertising, unless this was done already.
    func publish() async throws(RadioError) {
        await asks.prepare()
        if memory.device.app == nil, manager == nil {
            memory.manager = await phone.makePeripheralManager(sink: link)
        }
        if memory.device.app != nil { await manager?.access.awaitRestoration() }
        guard memory.appSide.isAuthorized, let manager, let before = memory.stage.beginPublishing() else {
            return
        }
        do throws(RadioError) {
            if before == .foreign { await manager.removeAllServices() }
            if await manager.services.isEmpty {
                try await memory.device.add(to: manager, events) { manager === self.manager }
            }
            try await advertise(with: manager)
        } catch {
            // The app's process may have ended in the meantime, and a new one may publish.
            guard manager === self.manager else { return }
            memory.stage.published(before)
            throw error
        }
    }

    func advertise(with manager: PeripheralManager) async throws(RadioError) {
        if let advertisement = advertising.currentAdvertisement(), !memory.appSide.isStopped(.advertising) {
            let isNew = await !manager.isAdvertising
            try await manager.startAdvertising(advertisement)
            advertising.keepTicking()
            if isNew {
                memory.appSide.noteExtraneous(.advertise, in: memory.appSide.publishingWake, to: events)
            }
        } else {
            // The restored advertising may come from an older version of the profile.
            await manager.stopAdvertising()
            advertising.stop()
        }
    }

    /// Updates the advertising after a value in the advertisement has changed.
    func advertiseNextValue() async {
        guard let manager, memory.stage != .stopped else { return }
        // A radio may take longer to start than the first value lasts.
        guard memory.stage.isRunning else { return advertising.keepTicking() }
        do throws(RadioError) {
            try await advertise(with: manager)
        } catch {
            advertising.refused(error)
        }
    }

    /// Updates the advertising of a device that has started again, if values in its advertisement change.
    func advertiseNewValues() async {
        if !memory.device.advertised.values.isEmpty { await advertiseNextValue() }
    }

    /// Records that the run has started.
    func started() { memory.stage.started() }

    /// Stops sending and advertising.
    ///
    /// An app's manager and its preserved state remain until the phone has stopped.
    func stop() async {
        memory.stage = .stopped
        for central in centrals { central.stop() }
        sender.stop()
        advertising.stop()
        asks.endAll(.ended)
        if memory.device.app == nil, let manager, await manager.isAdvertising {
            await manager.stopAdvertising()
        }
    }

    /// Allows problems that were already reported to be reported again.
    func forgetReports() { sender.updates.forgetReports() }

    // MARK: Requests

    func handle(_ event: PeripheralEvent) -> RadioAnswer {
        switch event {
        case .read(let request, let central): return requests.read(request, central)
        case .answeredRead(let request, let central, let value):
            memory.reportRead(request, central, value, .success(value))
        case .write(let request, let central): return requests.write(request, central)
        case .subscribed(let attribute, let central, let delivery):
            memory.noteWake(attribute)
            sender.ticks.subscribe(attribute)
            memory.report(.subscribed, on: attribute, central) { $0.delivery = delivery }
            reactions.subscribed(to: attribute, by: central)
            sender.behaviors?.subscribed(central, to: attribute)
            if let central, let latency = memory.device.app?.connectionLatency,
                memory.appSide.asksForLatency(central.id)
            {
                link.requestLatency(latency, of: central.id)
            }
        case .unsubscribed(let attribute, let central):
            memory.noteWake(attribute)
            memory.report(.unsubscribed, on: attribute, central)
            sender.unsubscribe(central, from: attribute)
        case .confirmed(let attribute, let central): sender.confirmed(central, attribute)
        case .readyToUpdateSubscribers: sender.roomAppeared()
        case .connected(let central): sender.linkBegan(of: central, then: reactions)
        case .disconnected(let central):
            sender.forgetLink(of: central)
            memory.appSide.forget(central.id)
            reactions.linkChanged(\.disconnect, of: central)
        case .stateChanged(let state): stateChanged(to: state)
        case .willRestoreState(let state): restore(state)
        case .missed(let count):
            events.warn(
                "eventsMissed",
                count.counting("event was", "events were")
                    + " dropped because too many waited until the app ran")
        case .channelOpened(let channel, let central): link.opened(channel, by: central)
        case .mtuChanged, .advertisingChanged: break
        }
        return .none
    }

    private func stateChanged(to state: RadioState) {
        memory.introduce(state)
        if state != .poweredOn { sender.stop() }
        guard memory.device.app != nil else { return }
        switch state {
        case .poweredOn:
            publishAgain()
            link.publishChannel()
        case .poweredOff: break
        case .unknown, .resetting, .unsupported, .unauthorized:
            memory.stage.published(.missing)
            memory.appSide.channel = ChannelPublication(isAwaited: memory.device.app?.channel != nil)
        }
    }

    /// Publishes and advertises again after iOS has withdrawn the app's services and advertising.
    private func publishAgain() {
        guard memory.stage.isRunning, memory.stage.needsPublishing else { return }
        link.emulator.enqueue { [index = link.index] in
            if let player = $0.player(index) { await $0.control.apps.publishAgain(player) }
        }
    }

    // MARK: The app

    /// Resets the state for a new process of the app; written values are replaced by those of the profile.
    func launched(_ manager: PeripheralManager?) {
        forgetWrites()
        memory.stage.published(.missing)
        memory.manager = manager
    }

    /// Handles the restored state.
    ///
    /// Services and advertising that do not match the profile are replaced once the Bluetooth state is
    /// known.
    private func restore(_ state: RestoredState) {
        events.report(
            .appRestored,
            .restoration(
                .init(state, restoreIdentifier: memory.device.app?.description.restoreIdentifiers.first ?? "")
            ))
        guard !state.services.isEmpty else { return }
        guard let mapping = memory.device.allowedServices.keys(in: state.services) else {
            events.warn(
                "restoredServicesDiffer",
                "the restored services are not the profile's, and are published anew")
            memory.stage.published(.foreign)
            return
        }
        rekey(mapping)
        memory.stage.published(state.advertisement == memory.device.requestedAdvertisement ? .done : .missing)
    }

    /// Replaces the keys of the attributes.
    func rekey(_ mapping: [AttributeKey: AttributeKey]) {
        memory.device = memory.device.rekeyed(mapping)
        link.emulator.enqueue { await $0.control.faults.rekey(mapping) }
        forgetWrites()
    }

    /// Resets the values to those at the start, except for static values that tests have set.
    func forgetWrites() {
        memory.table = memory.device.memory
        reactions.begin()
        sender.behaviors?.begin()
    }

    /// Resets the state after the app's process has ended.
    func ended(byUser isQuit: Bool) {
        for central in centrals { central.ended(byUser: isQuit) }
        sender.stop()
        asks.endAll(.ended)
        sender.answers.clear()
        memory.appSide.channel = ChannelPublication()
        memory.manager = nil
        memory.stage.published(.missing)
    }

    // MARK: Reports

    func report(_ refused: RefusedRequest, _ central: Central) {
        // When the app ends, a request that was passed to a test is reported by another event.
        if refused.reason == .ended, asks.hasRequest(of: central) { return }
        memory.report(.requestRefused, on: refused.attribute, central) { $0.set(refused) }
    }
}
