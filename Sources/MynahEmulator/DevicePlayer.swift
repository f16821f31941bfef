import Mynah
import MynahCore
import MynahLifecycle
import MynahProfiles
import MynahSupport

/// Plays one device on a phone: answers requests, sends what is due, and reports what happens.
///
/// It belongs to its emulator, and runs on the phone's executor, on which it answers requests at once.
final class DevicePlayer {
    let link: PlayerLink
    let phone: Phone
    let clock: RunClock
    let events: EventReporter
    /// The published device; after a restoration, with the keys of the restored services.
    var device: EmulatedDevice
    var table: AttributeTable
    private(set) lazy var ticks = TickSender(self)
    private(set) lazy var asks = RequestAsker(self)
    private(set) lazy var answers = AnswerSender(self)
    private(set) lazy var requests = RequestAnswerer(self)
    private(set) lazy var reactions = ReactionPlayer(self)
    private(set) var manager: PeripheralManager?
    /// The central managers of its app.
    private(set) lazy var centrals = device.centrals.enumerated().map { number, central in
        CentralPlayer(central, CentralLink(link, number), of: self)
    }
    var appSide = AppSide()
    /// When the device's time began.
    private(set) var since: RunClock.Instant?
    private var stage = DeviceStage.starting(.missing)

    init(_ device: EmulatedDevice, on phone: Phone, clock: RunClock, events: EventReporter, link: PlayerLink)
    {
        self.device = device
        self.phone = phone
        self.clock = clock
        self.events = events
        self.link = link
        table = device.table
    }

    /// How long the device has run.
    var elapsed: Duration { since.map { $0.duration(to: clock.now) } ?? .zero }

    // MARK: Its run

    /// The device's time begins, before a central can read.
    func begin() {
        since = clock.now
        forgetWrites()
    }

    /// Begins as the phone itself, whose services are published when the radio starts.
    func beginAsPhone() async {
        manager = await PhoneControl.makeOwnManager(of: device.services, sink: link, on: phone)
        stage.take(.done)
        begin()
    }

    /// Publishes and advertises what is not yet.
    func publish() async throws(RadioError) {
        await asks.prepare()
        if device.app == nil, manager == nil { manager = await phone.makePeripheralManager(sink: link) }
        if device.app != nil { await manager?.access.awaitRestoration() }
        guard appSide.isAuthorized, let manager, let before = stage.beginPublishing() else { return }
        do throws(RadioError) {
            if before == .foreign { await manager.removeAllServices() }
            if await manager.services.isEmpty {
                try await device.add(to: manager, events) { manager === self.manager }
            }
            try await advertise(with: manager)
        } catch {
            // Its process may have ended meanwhile, and another may publish.
            guard manager === self.manager else { return }
            stage.take(before)
            throw error
        }
    }

    func advertise(with manager: PeripheralManager) async throws(RadioError) {
        if let advertisement = device.requestedAdvertisement, !appSide.isStopped(.advertising) {
            let isNew = await !manager.isAdvertising
            try await manager.startAdvertising(advertisement)
            if isNew { appSide.noteExtraneous(.advertise, in: appSide.publishingWake, to: events) }
        } else {
            // The restored advertising may be of an older profile.
            await manager.stopAdvertising()
        }
    }

    /// The run is under way.
    func started() { stage.started() }

    /// Stops sending and advertising; its manager stays until the phone has stopped, and with it what is
    /// preserved.
    func stop() async {
        stage = .stopped
        for central in centrals { central.stop() }
        ticks.stop()
        asks.endAll(.ended)
        if device.app == nil, let manager, await manager.isAdvertising { await manager.stopAdvertising() }
    }

    /// The radio's trouble is over or has begun: what was reported once may be reported again.
    func forgetReports() { ticks.forgetReports() }

    // MARK: Requests

    func take(_ event: PeripheralEvent) -> RadioAnswer {
        switch event {
        case .read(let request, let central): return requests.read(request, central)
        case .answeredRead(let request, let central, let value):
            reportRead(request, central, value, .success(value))
        case .write(let request, let central): return requests.write(request, central)
        case .subscribed(let attribute, let central, let delivery):
            noteWake(attribute)
            ticks.subscribe(attribute)
            report(.subscribed, on: attribute, central) { $0.delivery = delivery }
            reactions.subscribed(to: attribute, by: central)
            if let central { requests.behaviors?.subscribed(central, to: attribute) }
            if let central, let latency = device.app?.connectionLatency,
                appSide.asksForLatency(central.id)
            {
                link.requestLatency(latency, of: central.id)
            }
        case .unsubscribed(let attribute, let central):
            noteWake(attribute)
            report(.unsubscribed, on: attribute, central)
            ticks.unsubscribe(central, from: attribute)
        case .confirmed(let attribute, let central): report(.confirmed, on: attribute, central)
        case .readyToUpdateSubscribers: ticks.roomAppeared()
        case .disconnected(let central):
            ticks.forgetLink(of: central)
            appSide.forget(central.id)
        case .stateChanged(let state): stateChanged(to: state)
        case .willRestoreState(let state): restore(state)
        case .missed(let count):
            events.warn(
                "eventsMissed",
                count.counting("event was", "events were")
                    + " dropped because too many waited until the app ran")
        case .channelOpened(let channel, let central): link.opened(channel, by: central)
        case .connected, .mtuChanged, .advertisingChanged: break
        }
        return .none
    }

    func noteWake(_ attribute: AttributeKey) {
        if device.app != nil { appSide.note(attribute) }
    }

    /// A manager was given the Bluetooth state; returns whether that is reported as its app's own.
    @discardableResult
    func introduce(_ state: RadioState) -> Bool {
        let isFirst = appSide.takeIntroduction()
        appSide.publishingWake = isFirst ? nil : appSide.wake
        guard appSide.takeOwn(state) || isFirst && stage.isRunning else { return false }
        events.report(.stateChanged, .state(state), isQueued: appSide.isDeliveringQueued)
        return true
    }

    private func stateChanged(to state: RadioState) {
        introduce(state)
        if state != .poweredOn { ticks.stop() }
        guard device.app != nil else { return }
        switch state {
        case .poweredOn:
            publishAgain()
            link.publishChannel()
        case .poweredOff: break
        case .unknown, .resetting, .unsupported, .unauthorized:
            stage.take(.missing)
            appSide.channel = ChannelPublication(isAwaited: device.app?.channel != nil)
        }
    }

    /// An app puts up again what iOS has taken away.
    private func publishAgain() {
        guard stage.isRunning, stage.needsPublishing else { return }
        link.emulator.enqueue { [index = link.index] in
            if let player = $0.player(index) { await $0.control.apps.publishAgain(player) }
        }
    }

    // MARK: Its app

    /// An app's process has started: its memory is gone, and what was written to it is as the profile has it.
    func launched(_ manager: PeripheralManager?) {
        forgetWrites()
        stage.take(.missing)
        self.manager = manager
    }

    /// Takes what the system preserved; what it cannot use is replaced when the Bluetooth state is known.
    private func restore(_ state: RestoredState) {
        events.report(
            .appRestored,
            .restoration(
                .init(state, restoreIdentifier: device.app?.description.restoreIdentifiers.first ?? "")))
        guard !state.services.isEmpty else { return }
        guard let mapping = device.allowedServices.keys(in: state.services) else {
            events.warn(
                "restoredServicesDiffer",
                "the restored services are not the profile's, and are published anew")
            stage.take(.foreign)
            return
        }
        rekey(mapping)
        stage.take(state.advertisement == device.requestedAdvertisement ? .done : .missing)
    }

    /// Replaces the keys of the attributes, whose names stay the same.
    func rekey(_ mapping: [AttributeKey: AttributeKey]) {
        device = device.rekeyed(mapping)
        link.emulator.enqueue { await $0.control.faults.rekey(mapping) }
        forgetWrites()
    }

    /// Sets the values to those of the start, but for static ones that were set since.
    func forgetWrites() {
        table = device.memory
        reactions.begin()
        requests.behaviors?.begin()
    }

    /// Ends what needs the app's process, which is gone.
    func ended(byUser isQuit: Bool) {
        for central in centrals { central.ended(byUser: isQuit) }
        ticks.stop()
        asks.endAll(.ended)
        answers.clear()
        appSide.channel = ChannelPublication()
        manager = nil
        stage.take(.missing)
    }

    // MARK: Reports

    func reportRead(
        _ request: ReadRequest, _ central: Central, _ value: [UInt8], _ outcome: PendingReply.Outcome,
        asked id: Int? = nil
    ) {
        report(.read, on: request.attribute, central) { $0.take(request, value, outcome, asked: id) }
    }

    func report(_ refused: RefusedRequest, _ central: Central) {
        // A request that a test was asked has an event of its own when the app ends.
        if refused.reason == .ended, asks.hasRequest(of: central) { return }
        report(.requestRefused, on: refused.attribute, central) { $0.take(refused) }
    }

    func report(
        _ name: DeviceEvent.Name, on attribute: AttributeKey, _ central: Central? = nil,
        _ fill: (inout EventPayload.AttributeUse) -> Void = { _ in }
    ) {
        guard events.isObserved else { return }
        var use = EventPayload.AttributeUse(
            table.eventAttribute(of: attribute), by: central.map { EventCentral($0) })
        fill(&use)
        events.report(name, .attribute(use), isQueued: appSide.isDeliveringQueued)
    }
}
