public import Mynah
public import MynahCore
package import MynahFaults
import MynahLifecycle
import MynahProfiles
import MynahSupport

/// An emulator of the devices on one radio: one accessory, or the apps of one phone.
///
/// The emulator runs on the radio's executor. It stays on the air from `start()` until `stop()`, even if
/// nothing refers to it.
public actor Emulator {
    /// A function that receives the devices' events, synchronously and in order.
    public typealias Observer = @Sendable (DeviceEvent) -> Void

    let clock: RunClock
    let phone: Phone
    /// The faults that the radio can carry out; none if no `FaultyRadio` wraps the radio.
    package nonisolated let faultSupport: FaultSupport
    /// Whether apps play the devices.
    public nonisolated let playsApps: Bool
    nonisolated let passkey = PasskeyEntry()
    let link = EmulatorLink()
    nonisolated let queue = WorkQueue<Emulator>()
    let devices: PlayedDevices
    let control: EmulatorParts
    /// Whether the phone advertises, according to its last report.
    private var isOnAir = false

    /// The radio's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { phone.unownedExecutor }

    /// The executor that tasks should prefer if they call the emulator, or `nil` if any executor will do.
    package nonisolated var preferredExecutor: (any TaskExecutor)? { phone.preferredExecutor }

    /// The names of the devices in events.
    package var labels: [String] { devices.labels }

    /// Whether the run has started and is not over.
    package var isRunning: Bool { devices.isRunning }

    private var players: [DevicePlayer] { devices.players }

    /// Makes an emulator of one accessory, or of the devices that the apps of one phone play.
    ///
    /// The radio must not be started yet. The phone has the name and the settings of the first device.
    /// `seed` makes the identifiers of peripherals reproducible. Without an observer, no events are made,
    /// which saves time.
    public init(
        _ devices: [EmulatedDevice], on radio: any PeripheralRadio, clock: some Clock<Duration>,
        stateDirectory: StateDirectory? = nil, seed: UInt64? = nil,
        wallTime: (@Sendable () -> WallTime)? = nil,
        observer: Observer? = nil
    ) {
        self.init(
            devices, phone: nil, on: radio, clock: clock, stateDirectory: stateDirectory, seed: seed,
            wallTime: wallTime, observer: observer)
    }

    /// Makes an emulator; `own` has the services that the phone itself publishes in addition to those of its
    /// apps.
    package init(
        _ devices: [EmulatedDevice], phone own: EmulatedDevice?, on radio: any PeripheralRadio,
        clock: some Clock<Duration>, stateDirectory: StateDirectory? = nil, seed: UInt64? = nil,
        wallTime: (@Sendable () -> WallTime)? = nil, observer: Observer? = nil
    ) {
        precondition(
            devices.count == 1 || devices.count > 1 && devices.allSatisfy { $0.app != nil },
            "one radio plays one accessory, or apps")
        playsApps = devices[0].app != nil
        let clock = RunClock(clock)
        self.clock = clock
        let isPlaying = Lock(false)
        let events = EventReporter(
            wallTime: wallTime ?? { .now(clock) },
            observer: ScenarioControl.observing(observer, devices, link, isPlaying))
        let faultyRadio = FaultControl.layer(around: radio, devices, clock, link)
        faultSupport = faultyRadio?.support ?? .ownHost
        phone = Phone(
            radio: faultyRadio ?? radio, identity: devices.identity,
            advertising: Self.advertising(of: devices), stateDirectory: stateDirectory, seed: seed,
            clock: clock, sink: link)
        let played = PlayedDevices(
            devices, own: own, on: phone, clock: clock, events: events, link: link,
            faulted: faultyRadio?.faultedValues)
        self.devices = played
        control = EmulatorParts(
            of: played, playsApps: playsApps, on: phone, faultyRadio, clock: clock, link: link,
            passkey: passkey, isPlaying: isPlaying)
    }

    /// The advertising settings of the phone, combined from the profiles of its apps.
    private static func advertising(of devices: [EmulatedDevice]) -> PhoneAdvertising {
        var advertising = devices[0].app?.advertising ?? PhoneAdvertising()
        advertising.txPower = devices.compactMap { $0.app?.advertising.txPower }.first
        advertising.nearbyInfo = devices.compactMap { $0.app?.advertising.nearbyInfo }.first
        return advertising
    }

    /// Starts the radio, publishes services and advertises.
    ///
    /// `check` can reject the radio's capabilities by throwing. If the start fails, nothing remains on the
    /// radio.
    public func start(
        check: @Sendable (RadioCapabilities) throws(RadioError) -> Void = { _ throws(RadioError) in }
    ) async throws(RadioError) {
        guard devices.stage == .idle else {
            throw RadioError(.invalidState, "the device has been started already")
        }
        devices.stage = .starting
        link.emulator = self
        devices.makePlayers()
        await control.user.recallPhone()
        do throws(RadioError) {
            // An app must not advertise before it has reached its initial state.
            await phone.holdAdvertising()
            let isMetered = devices.events.isObserved ? await phone.meterRadio() : false
            // The other apps are launched when Bluetooth is on, unless no app is opened.
            for player in players where player === players.first || player.isTerminated {
                await control.user.launch(player)
            }
            for player in players { player.begin() }
            // The phone's own services are published before the preserved services of its apps.
            await devices.own?.beginAsPhone()
            let capabilities = try await phone.start(check: check)
            if !capabilities.playsPhoneServices { devices.removeOwn() }
            // The faults are added before anything that they could apply to has happened.
            for player in players { try await control.faults.add(of: player.memory.device) }
            try await open()
            try await phone.releaseAdvertising()
            for player in players { player.started() }
            try checkIsStarting()
            devices.stage = .running
            reportReady(capabilities)
            if isMetered { control.meter.start(after: clock.now) }
            for player in players {
                for central in player.centrals { central.begin() }
            }
        } catch {
            await stop()
            throw error
        }
    }

    private func checkIsStarting() throws(RadioError) {
        guard devices.stage == .starting else {
            throw RadioError(.invalidState, "it was stopped while it started")
        }
    }

    /// Opens the apps one after the other, as their user would; each publishes while it is in the
    /// foreground.
    ///
    /// At the end, the first app whose initial state is the foreground is brought to the foreground.
    private func open() async throws(RadioError) {
        let front = players.first { $0.memory.device.app?.startState == .foreground && !$0.isTerminated }
        for player in players {
            try checkIsStarting()
            await control.user.launch(player)
            try await player.publish()
            guard !player.isTerminated else { continue }
            guard let start = player.memory.device.app?.startState, player !== front else { continue }
            await player.carryOut(start == .foreground ? .enterBackground : AppTransition(into: start))
            guard start == .foreground, let front else { continue }
            player.events.warn(
                "startsInBackground",
                """
                \(player.memory.device.label) starts in the background, because \
                \(front.memory.device.label) is in front: a phone has one app on its screen
                """
            )
        }
        try checkIsStarting()
        await front?.carryOut(.enterForeground)
    }

    private func reportReady(_ capabilities: RadioCapabilities) {
        var ready = EventPayload.Ready()
        ready.phone = devices.first?.app?.phone
        ready.profile = devices.names.joined(separator: ", ")
        ready.radio = capabilities.name
        ready.address = capabilities.address
        ready.services = ((devices.own.map { [$0] } ?? []) + players).flatMap(\.served).map(\.uuid)
        devices.events.report(.ready, .ready(ready))
    }

    /// Saves the state of the phone's apps for the last time, so that links that end later do not change it.
    ///
    /// Such links end when the emulator of another device stops first.
    package func keepState() async { await PhoneControl.keepState(of: phone) }

    /// Stops advertising, removes all services and stops the radio; with `forgetting`, also deletes the state
    /// of apps that was saved for restoration.
    public func stop(forgetting: Bool = false) async {
        if devices.stage == .stopped { return }
        let wasRunning = isRunning
        devices.stage = .stopped
        control.actions.end()
        control.meter.stop()
        control.parameters.endAll()
        control.pairings.end()
        control.scenarios.player.end("the run ended first")
        if wasRunning { await control.meter.report() }
        for player in players { await player.stop() }
        await devices.own?.stop()
        await phone.stop(forgetting: forgetting)
        if isOnAir { reportAdvertising(.silent) }
        devices.removeAll()
        link.emulator = nil
        control.changes.signal.signal()
    }

    /// Passes a passkey to the pairing that asked for it; returns `false` if no pairing asked.
    public func enter(passkey number: UInt32) -> Bool { passkey.enter(number) }

    /// Whether a pairing waits for a passkey that the user enters.
    public nonisolated var asksForPasskey: Bool { passkey.isAsked }

    /// Handles a life-cycle change of the app whose player has this index.
    func appChanged(_ change: AppChange, of index: Int) {
        if case .enteredForeground = change { devices.lastInFront = index }
        if let player = player(index) {
            switch change {
            case .enteredForeground, .woken: control.user.noteRuns(player)
            default: break
            }
            player.appChanged(change)
        }
        guard players.contains(where: { !$0.memory.device.centrals.isEmpty }) else { return }
        // The phone scans for all apps at once, and has updated their states after this call.
        link.enqueue { emulator in
            for player in emulator.devices.players {
                for central in player.centrals { central.appChanged() }
            }
        }
    }
}

// Events of the phone.
extension Emulator {
    func phoneReported(_ event: PhoneEvent) -> RadioAnswer {
        control.faults.note(event)
        switch event {
        case .pairing(let central, let step): return control.pairings.answer(step, to: central)
        case .peripheralPairing(let peer, let step): return control.pairings.answer(step, to: peer)
        case .answeredRead(let request, let central, let value):
            devices.player(with: request.attribute)?.memory.reportRead(
                request, central, value, .success(value))
        case .refused(let request, let central):
            devices.player(with: request.attribute)?.report(request, central)
        case .lost, .stateChanged:
            for player in players { player.forgetReports() }
        case .paired(let central):
            control.pairings.paired(central)
            for player in players { player.reactions.linkChanged(\.pair, of: central) }
        case .disconnected(let central):
            control.pairings.disconnected(central)
            for player in players { player.asks.forgetLink(of: central) }
            control.changes.signal.signal()
        case .linkEnded(let address): control.pairings.linkEnded(to: address)
        default: break
        }
        if case .advertisingChanged(let report) = event {
            reportAdvertising(report)
        } else if case .stateChanged = event, !players.isEmpty,
            players.allSatisfy(\.memory.appSide.reportsOwnState)
        {
            // Each app reports the state after its wake, or not at all.
        } else if devices.events.isObserved,
            let (name, payload) = event.reported({ devices.eventPeripheral(at: $0) })
        {
            devices.events.report(name, payload)
        }
        control.parameters.follow(event)
        return .none
    }

    private func reportAdvertising(_ report: AdvertisingReport) {
        defer { isOnAir = report.isOn }
        switch (isOnAir, report.isOn) {
        case (false, true): devices.events.report(.advertisingStarted, .advertising(report))
        case (true, true): devices.events.report(.advertisingChanged, .advertising(report))
        case (true, false): devices.events.report(.advertisingStopped, .advertising(report))
        case (false, false): break
        }
    }
}
