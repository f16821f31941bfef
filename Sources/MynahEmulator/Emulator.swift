public import Mynah
public import MynahCore
package import MynahFaults
package import MynahLifecycle
import MynahProfiles
import MynahSupport

/// Plays devices on one radio: an accessory, or the apps of one phone.
///
/// Runs on the radio's executor, and stays on the air from `start()` until `stop()`, even if nothing refers
/// to it.
public actor Emulator {
    /// The receiver of the devices' events, synchronously and in order.
    public typealias Observer = @Sendable (DeviceEvent) -> Void

    private enum State {
        case idle
        case starting
        case running
        case stopped
    }

    let clock: RunClock
    private(set) var events: EventReporter
    let phone: Phone
    /// The layer of faults around its radio, or `nil` if there are none.
    let faultyRadio: FaultyRadio?
    /// The faults that its radio can carry out; without a layer there are none to carry out.
    package nonisolated var faultSupport: FaultSupport { faultyRadio?.support ?? .ownHost }
    var faultOwners = FaultOwners()
    private var devices: [EmulatedDevice]
    /// Whether apps play its devices.
    public nonisolated let playsApps: Bool
    /// How many devices it has played.
    private var count = 0
    private(set) var players: [DevicePlayer] = []
    /// The player of what the phone has in its GATT server by itself, or `nil` if that is nothing.
    private(set) var own: DevicePlayer?
    private let ownDevice: EmulatedDevice?
    private var state = State.idle
    nonisolated let passkey = PasskeyEntry()
    private let pairings = PairingQuestions()
    var condition = PhoneCondition()
    /// The peripheral that pairing asked for last.
    private(set) var asking: (address: DeviceAddress, link: Peer.ID)?
    /// Signals the end of a link, of a publication, of a reset and of the run.
    let changes = ChangeSignal()
    /// How many publications are under way that a change of the Bluetooth state began.
    private(set) var publications = 0
    /// Whether a reset is under way, or an app joins or leaves: one after the other.
    var isTurnTaken = false
    private var isOnAir = false
    private var planned = PlannedActions<RunClock.Instant>()
    /// The number of the app that was on the screen last.
    private var lastInFront: Int?
    private var planning: Task<Void, Never>?
    let scenarios: ScenarioPlayer
    /// Waits for the next report of what the radio uses.
    var metering: Task<Void, Never>?
    var parameterRequests = ParameterRequests()
    let link = EmulatorLink()
    nonisolated let queue = WorkQueue<Emulator>()

    /// The radio's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { phone.unownedExecutor }

    /// The executor that tasks about it have to prefer, or `nil`.
    package nonisolated var preferredExecutor: (any TaskExecutor)? { phone.preferredExecutor }

    /// The names of its devices in events.
    package var labels: [String] { devices.map(\.label) }

    /// `true` if the emulator has not started, or is starting.
    var isStarting: Bool {
        switch state {
        case .idle, .starting: true
        case .running, .stopped: false
        }
    }

    /// Whether the run is under way.
    package var isRunning: Bool { if case .running = state { true } else { false } }

    /// An emulator of one accessory, or of the devices that the apps of one phone play, on a radio that has
    /// not been started.
    ///
    /// The phone has the name and the settings of the first device. `seed` makes its identifiers of
    /// peripherals repeatable. Without an observer no events are made, which is fastest.
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

    /// `phone` is what the phone of apps has in its GATT server by itself.
    package init(
        _ devices: [EmulatedDevice], phone own: EmulatedDevice?, on radio: any PeripheralRadio,
        clock: some Clock<Duration>, stateDirectory: StateDirectory? = nil, seed: UInt64? = nil,
        wallTime: (@Sendable () -> WallTime)? = nil, observer: Observer? = nil
    ) {
        precondition(
            devices.count == 1 || devices.count > 1 && devices.allSatisfy { $0.app != nil },
            "one radio plays one accessory, or apps")
        self.devices = devices
        ownDevice = own
        playsApps = devices[0].app != nil
        let clock = RunClock(clock)
        self.clock = clock
        let isPlaying = Lock(false)
        scenarios = ScenarioPlayer(clock, link, isPlaying: isPlaying)
        events = EventReporter(
            wallTime: wallTime ?? { .now(clock) },
            observer: Self.observing(observer, devices, link, isPlaying))
        faultyRadio = Self.layer(around: radio, devices, clock, link)
        phone = Phone(
            radio: faultyRadio ?? radio, identity: devices[0].identity,
            advertising: Self.advertising(of: devices), stateDirectory: stateDirectory, seed: seed,
            clock: clock, sink: link)
    }

    /// How the phone advertises: an app's profile may leave out what another's says of their phone.
    private static func advertising(of devices: [EmulatedDevice]) -> PhoneAdvertising {
        var advertising = devices[0].app?.advertising ?? PhoneAdvertising()
        advertising.txPower = devices.compactMap { $0.app?.advertising.txPower }.first
        advertising.nearbyInfo = devices.compactMap { $0.app?.advertising.nearbyInfo }.first
        return advertising
    }

    /// Starts the radio, publishes and advertises.
    ///
    /// `check` may refuse the radio's capabilities.
    ///
    /// If it fails, nothing remains on the radio.
    public func start(
        check: @Sendable (RadioCapabilities) throws(RadioError) -> Void = { _ throws(RadioError) in }
    ) async throws(RadioError) {
        guard case .idle = state else {
            throw RadioError(.invalidState, "the device has been started already")
        }
        state = .starting
        link.emulator = self
        makePlayers()
        await recallPhone()
        do throws(RadioError) {
            // An app does not advertise before it is in the state in which it starts.
            await phone.holdAdvertising()
            let isMetered = events.isObserved ? await phone.meterRadio() : false
            // The others follow when the phone is on, unless none is opened.
            for player in players where player === players[0] || player.isTerminated { await launch(player) }
            for player in players { player.begin() }
            await beginPhone()
            let capabilities = try await phone.start(check: check)
            if !capabilities.playsPhoneServices { own = nil }
            // Nothing that a fault could apply to has happened yet.
            for player in players { try await addFaults(of: player.device) }
            try await open()
            try await phone.releaseAdvertising()
            for player in players { player.started() }
            try checkIsStarting()
            state = .running
            reportReady(capabilities)
            if isMetered { waitForRadioReport(after: clock.now) }
            for player in players {
                for central in player.centrals { central.begin() }
            }
        } catch {
            await stop()
            throw error
        }
    }

    private func checkIsStarting() throws(RadioError) {
        guard case .starting = state else {
            throw RadioError(.invalidState, "it was stopped while it started")
        }
    }

    /// Opens the apps one after the other, as their user does; each publishes while it is on the screen.
    ///
    /// The first that starts in the foreground is there in the end.
    private func open() async throws(RadioError) {
        let front = devices.firstIndex { $0.app?.startState == .foreground && $0.app?.isTerminated == false }
        for (index, player) in zip(devices.indices, players) {
            try checkIsStarting()
            await launch(player)
            try await player.publish()
            guard !player.isTerminated else { continue }
            guard let start = devices[index].app?.startState, index != front else { continue }
            await player.carryOut(start == .foreground ? .enterBackground : AppTransition(into: start))
            guard start == .foreground, let front else { continue }
            player.events.warn(
                "startsInBackground",
                """
                \(devices[index].label) starts in the background, because \(devices[front].label) is in \
                front: a phone has one app on its screen
                """
            )
        }
        try checkIsStarting()
        if let front { await players[front].carryOut(.enterForeground) }
    }

    private func makePlayers() {
        players = devices.map { makePlayer($0, label: devices.count > 1 ? $0.label : nil) }
        own = ownDevice.map { makePlayer($0, label: $0.label) }
    }

    private func makePlayer(_ device: EmulatedDevice, label: String?) -> DevicePlayer {
        var events = events
        events.device = label
        defer { count += 1 }
        return DevicePlayer(device, on: phone, clock: clock, events: events, link: PlayerLink(link, count))
    }

    /// A player of one more app; events of the phone name all its apps from now on.
    func join(_ device: EmulatedDevice) -> DevicePlayer {
        devices.append(device)
        let player = makePlayer(device, label: device.label)
        players.append(player)
        events.device = labels.joined(separator: ", ")
        return player
    }

    /// A player has stopped, and its device is forgotten.
    func leave(_ player: DevicePlayer) {
        devices.removeAll { $0.label == player.device.label }
        players.removeAll { $0 === player }
        events.device = labels.joined(separator: ", ")
    }

    private func reportReady(_ capabilities: RadioCapabilities) {
        var ready = EventPayload.Ready()
        ready.phone = devices.first?.app?.phone
        ready.profile = devices.map(\.name).joined(separator: ", ")
        ready.radio = capabilities.name
        ready.address = capabilities.address
        ready.services = ((own.map { [$0] } ?? []) + players).flatMap(\.served).map(\.uuid)
        events.report(.ready, .ready(ready))
    }

    /// Keeps the state of the phone's apps as it is now, also if others of the run stop before it.
    package func keepState() async { await PhoneControl.keepState(of: phone) }

    /// Withdraws everything and stops the radio; `forgetting` what would be restored too.
    public func stop(forgetting: Bool = false) async {
        if case .stopped = state { return }
        let wasRunning = isRunning
        state = .stopped
        planned.removeAll()
        planning?.cancel()
        metering?.cancel()
        parameterRequests.endAll()
        passkey.end()
        pairings.end()
        scenarios.end("the run ended first")
        if wasRunning { await reportRadioUse() }
        for player in players { await player.stop() }
        await own?.stop()
        await phone.stop(forgetting: forgetting)
        if isOnAir { reportAdvertising(.silent) }
        players = []
        own = nil
        link.emulator = nil
        changes.signal()
    }

    /// Answers pairing with the number that it asked for; returns `false` if it did not ask.
    public func enter(passkey number: UInt32) -> Bool { passkey.enter(number) }

    /// Whether a pairing waits for a number that its user types.
    public nonisolated var asksForPasskey: Bool { passkey.isAsked }

    // MARK: Apps

    /// Moves apps in their life.
    package func carryOut(_ transition: AppTransition, on target: AppTarget = .every) async {
        await carryOut(.transition(transition), on: target)
    }

    /// Does this to apps, or to their phone.
    package func carryOut(_ action: UserAction, on target: AppTarget = .every) async {
        guard case .running = state else { return }
        let players = players(for: action, target)
        if action.opensApp, !players.isEmpty { await pickUp() }
        switch action {
        case .openAlert: if !players.isEmpty, !pairings.open(events) { await phone.openAlert() }
        case .dismissAlert:
            if !players.isEmpty, !pairings.dismiss(events) { await phone.dismissAlert() }
        case .answerPairing(let agrees):
            if !players.isEmpty, !pairings.answer(agrees: agrees, events) {
                events.warn("noPairing", "no pairing asks the user")
            }
        case .setPower(let isOn) where !players.isEmpty:
            await warn(ifNotTurned: isOn) { () async throws(RadioError) in try await setPower(isOn) }
        case .phone(let change) where !players.isEmpty:
            await warn(ifNotTurned: false) { () async throws(RadioError) in try await carryOut(change) }
        case .setPower, .phone: break
        case .forget: if concerns(target) { await forget(target) }
        case .setAccessory(let isWanted): if concerns(target) { await setAccessory(isWanted, target) }
        case .alert(let text): if let app = target.app(of: players) { alert(text, of: app.device.label) }
        default: for player in players { await AppUser(of: player).carryOut(action) }
        }
    }

    /// Returns whether the emulator plays the device that is meant.
    private func concerns(_ target: AppTarget) -> Bool {
        switch target {
        case .named(let label), .phone(let label), .peripheral(_, let label):
            players.contains { $0.device.label == label }
        case .lastInFront, .every: true
        }
    }

    private func warn(
        ifNotTurned isOn: Bool, _ turn: () async throws(RadioError) -> Void
    ) async {
        do throws(RadioError) {
            try await turn()
        } catch {
            guard case .running = state else { return }
            events.warn("powerNotSet", "Bluetooth is not turned \(isOn ? "on" : "off"): \(error)")
        }
    }

    /// Does this to apps, or to their phone, after a time from now on; of two at one time first what was
    /// planned first.
    package func plan(_ action: UserAction, on target: AppTarget = .every, after delay: Duration) {
        guard case .running = state else { return }
        planned.add(action, on: target, due: clock.now.advanced(by: delay))
        waitForPlanned()
    }

    /// Runs `body` after a time from now on, unless the run is over by then.
    func plan(after delay: Duration, _ body: @escaping @Sendable (isolated Emulator) async -> Void) {
        guard case .running = state else { return }
        _ = link.enqueue(at: clock.now.advanced(by: delay), on: clock, body)
    }

    private func players(for action: UserAction, _ target: AppTarget) -> [DevicePlayer] {
        if case .phone(let label) = target {
            let isHere = players.contains { $0.device.label == label }
            return isHere ? self.players(for: action, .every) : []
        }
        let last = (lastInFront.flatMap { player($0) } ?? players.first).map { [$0] } ?? []
        return switch (target, action) {
        case (.named(let label), _): players.filter { $0.device.label == label }
        case (.peripheral, _), (.phone, _): []
        case (.lastInFront, _), (.every, .transition(.enterForeground)): last
        case (.every, _): action.isOnScreen ? last : players
        }
    }

    /// A player's app has taken a step of its life.
    func take(_ change: AppChange, of index: Int) {
        if case .enteredForeground = change { lastInFront = index }
        if let player = player(index) {
            switch change {
            case .enteredForeground, .woken: noteRuns(player)
            default: break
            }
            player.take(change)
        }
        guard players.contains(where: { !$0.device.centrals.isEmpty }) else { return }
        // The phone scans for all apps at once, and knows their states after this.
        link.enqueue { emulator in
            for player in emulator.players {
                for central in player.centrals { central.appChanged() }
            }
        }
    }

    private func waitForPlanned() {
        planning?.cancel()
        guard let due = planned.next else { return }
        planning = link.enqueue(at: due, on: clock) { await $0.carryOutPlanned() }
    }

    /// A player's app puts up again what the system has taken away.
    func publishAgain(_ index: Int) async {
        guard let player = player(index) else { return }
        publications += 1
        defer {
            publications -= 1
            changes.signal()
        }
        do throws(RadioError) {
            try await player.publish()
        } catch {
            player.events.fail("not published again: \(error)")
        }
    }

    private func carryOutPlanned() async {
        while let next = planned.take(at: clock.now) { await carryOut(next.action, on: next.target) }
        waitForPlanned()
    }
}

// Events of the phone.
extension Emulator {
    func take(_ event: PhoneEvent) -> RadioAnswer {
        if faultyRadio != nil { faultOwners.take(event) }
        switch event {
        case .pairing(let central, let step):
            return take(step, of: central.id, .init(EventCentral(central), .init(), step))
        case .peripheralPairing(let peer, let step):
            let device = peer.address.map { eventPeripheral(at: $0) } ?? .init()
            asking = peer.address.map { ($0, peer.id) }
            return take(step, of: peer.id, .init(nil, device, step))
        case .answeredRead(let request, let central, let value):
            player(with: request.attribute)?.reportRead(request, central, value, .success(value))
        case .refused(let request, let central):
            player(with: request.attribute)?.report(request, central)
        case .lost, .stateChanged:
            for player in players { player.forgetReports() }
        case .paired(let central): passkey.end(for: central.id)
        case .disconnected(let central):
            passkey.end(for: central.id)
            pairings.end(for: central.id, events)
            for player in players { player.asks.forgetLink(of: central) }
            changes.signal()
        case .linkEnded(let address):
            if let asking, asking.address == address {
                passkey.end(for: asking.link)
                pairings.end(for: asking.link, events)
            }
        default:
            break
        }
        if case .advertisingChanged(let report) = event {
            reportAdvertising(report)
        } else if case .stateChanged = event, !players.isEmpty,
            players.allSatisfy(\.appSide.reportsOwnState)
        {
            // Each app reports it after its wake, or not at all.
        } else if events.isObserved, let (name, payload) = event.reported({ eventPeripheral(at: $0) }) {
            events.report(name, payload)
        }
        requestParameters(after: event)
        return .none
    }

    /// A device that an app of the phone is connected to, as events have it.
    private func eventPeripheral(at address: DeviceAddress) -> EventPeripheral {
        for player in players {
            for central in player.centrals {
                guard let known = central.peripheral(at: address) else { continue }
                return central.eventPeripheral(known)
            }
        }
        return EventPeripheral(address: address)
    }

    private func player(with attribute: AttributeKey) -> DevicePlayer? {
        players.first { $0.table.contains(attribute) } ?? own
    }

    private func take(
        _ step: PairingStep, of peer: Peer.ID, _ pairing: EventPayload.Pairing
    ) -> RadioAnswer {
        let known = devices.compactMap(\.passkey).first
        let answer: RadioAnswer =
            switch step {
            case .display: .none
            case .compare, .agree: agree(peer, pairing)
            // Asked before it is reported, because the number may be typed at once.
            case .enter: known.map { .pairing(.passkey($0)) } ?? .pairingLater(passkey.ask(for: peer))
            }
        if step != .agree {
            var pairing = pairing
            pairing.isEntered = step == .enter ? known != nil : nil
            events.report(.pairingPasskey, .pairing(pairing))
        }
        return answer
    }

    /// The answer of the phone's user to a pairing, for the app that uses the peripheral, or for the one that
    /// was on the screen last if a central pairs.
    private func agree(_ peer: Peer.ID, _ pairing: EventPayload.Pairing) -> RadioAnswer {
        let address = pairing.peripheral.address
        let user = players.first { player in
            address.map { at in player.centrals.contains { $0.peripheral(at: at) != nil } } ?? false
        }
        guard let asked = user ?? lastInFront.flatMap({ player($0) }) ?? players.first,
            let app = asked.device.app
        else { return .pairing(.agreed) }
        switch app.pairing {
        case .accept: return .pairing(.agreed)
        case .decline: return .pairing(.declined)
        case .ask where pairings.hasAccepted(peer): return .pairing(.agreed)
        case .ask:
            var link = EventPayload.PeripheralLink(pairing.peripheral, app: asked.device.label)
            link.central = pairing.central
            let isInFront = asked.appSide.app?.access.state == .foreground
            return .pairingLater(pairings.ask(peer, link, isInFront: isInFront, events))
        }
    }

    private func reportAdvertising(_ report: AdvertisingReport) {
        defer { isOnAir = report.isOn }
        switch (isOnAir, report.isOn) {
        case (false, true): events.report(.advertisingStarted, .advertising(report))
        case (true, true): events.report(.advertisingChanged, .advertising(report))
        case (true, false): events.report(.advertisingStopped)
        case (false, false): break
        }
    }
}
