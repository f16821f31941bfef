public import Mynah
public import MynahCore
public import MynahLifecycle
import MynahSupport

/// Plays devices on one radio: an accessory, or the apps of one phone.
///
/// Runs on the radio's executor, and stays on the air from `start()` until `stop()`, even if nothing refers to it.
public actor Emulator<C: Clock> where C.Duration == Duration {
    /// What hears the devices' events, synchronously and in order.
    public typealias Observer = @Sendable (DeviceEvent) -> Void

    private enum State {
        case idle
        case starting
        case running
        case stopped
    }

    private let clock: C
    private let events: EventReporter
    private let phone: Phone
    private let devices: [EmulatedDevice]
    private(set) var players: [DevicePlayer<C>] = []
    private var state = State.idle
    private var enteringPasskey: PendingPairingReply?
    private var isOnAir = false
    private var planned: [(transition: AppTransition, due: C.Instant)] = []
    private var planning: Task<Void, Never>?
    private let link = EmulatorLink<C>()

    /// The radio's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { phone.unownedExecutor }

    /// An emulator of a device on a radio that has not been started.
    public init(
        _ device: EmulatedDevice, on radio: any PeripheralRadio, clock: C,
        stateDirectory: StateDirectory? = nil, wallTime: @escaping @Sendable () -> WallTime = { .now() },
        observer: Observer? = nil
    ) {
        self.init(
            [device], on: radio, clock: clock, stateDirectory: stateDirectory, wallTime: wallTime,
            observer: observer)
    }

    /// An emulator of one accessory, or of the devices that the apps of one phone play.
    ///
    /// The phone has the name and the ways of the first. Without an observer no event is made at all, which is the fastest.
    public init(
        _ devices: [EmulatedDevice], on radio: any PeripheralRadio, clock: C,
        stateDirectory: StateDirectory? = nil, wallTime: @escaping @Sendable () -> WallTime = { .now() },
        observer: Observer? = nil
    ) {
        precondition(
            devices.count == 1 || devices.count > 1 && devices.allSatisfy { $0.app != nil },
            "one radio plays one accessory, or apps")
        self.devices = devices
        self.clock = clock
        events = EventReporter(wallTime: wallTime, observer: observer)
        phone = Phone(
            radio: radio, identity: devices[0].identity,
            advertising: devices[0].app?.advertising ?? PhoneAdvertising(), stateDirectory: stateDirectory,
            sink: link)
    }

    /// Starts the radio, publishes and advertises; `check` may refuse what the radio turns out to be.
    ///
    /// Whatever fails, nothing is left behind.
    public func start(
        check: @Sendable (RadioCapabilities) throws(RadioError) -> Void = { _ throws(RadioError) in }
    ) async throws(RadioError) {
        guard case .idle = state else {
            throw RadioError(.invalidState, "the device has been started already")
        }
        state = .starting
        link.emulator = self
        makePlayers()
        do throws(RadioError) {
            // What comes up half-way does not go on the air: an app moves to the state it starts in first.
            await phone.holdAdvertising()
            for player in players { await player.launch() }
            for player in players { player.begin() }
            let capabilities = try await phone.start(check: check)
            for player in players { try await player.publish() }
            for (device, player) in zip(devices, players) {
                if let start = device.app?.startState { await player.carryOut(AppTransition(into: start)) }
            }
            try await phone.releaseAdvertising()
            for player in players { player.started() }
            guard case .starting = state else {
                throw RadioError(.invalidState, "it was stopped while it started")
            }
            state = .running
            reportReady(capabilities)
        } catch {
            await stop()
            throw error
        }
    }

    private func makePlayers() {
        players = devices.enumerated().map { index, device in
            var events = events
            if devices.count > 1 { events.device = device.label }
            return DevicePlayer(
                device, on: phone, clock: clock, events: events, link: PlayerLink(link, index))
        }
    }

    private func reportReady(_ capabilities: RadioCapabilities) {
        var fields: [JSON.Member] = [
            .init("profile", .string(devices.map(\.name).joined(separator: ", "))),
            .init("radio", .string(capabilities.name)),
        ]
        if let address = capabilities.address {
            fields.append(.init("address", .string(address.description)))
        }
        fields.append(
            .init("services", .array(devices.flatMap(\.services).map { .string($0.uuid.description) })))
        events.report(.ready, fields)
    }

    /// Withdraws everything and stops the radio; `forgetting` what would be restored too.
    public func stop(forgetting: Bool = false) async {
        if case .stopped = state { return }
        state = .stopped
        planned = []
        planning?.cancel()
        enteringPasskey = nil
        for player in players { await player.stop() }
        await phone.stop(forgetting: forgetting)
        if isOnAir { reportAdvertising(.silent) }
        players = []
        link.emulator = nil
    }

    /// Answers pairing with the number that it asked for; returns `false` if it did not ask.
    public func enter(passkey: UInt32) -> Bool {
        guard let reply = enteringPasskey else { return false }
        enteringPasskey = nil
        reply.answer(.passkey(passkey))
        return true
    }

    // MARK: Apps

    /// Whether apps play its devices.
    public nonisolated var playsApps: Bool { devices[0].app != nil }

    /// Does this to every app.
    public func carryOut(_ transition: AppTransition) async {
        guard case .running = state else { return }
        for player in players { await player.carryOut(transition) }
    }

    /// Does this to every app after a time from now on; of two at one time first what was planned first.
    public func plan(_ transition: AppTransition, after delay: Duration) {
        guard case .running = state else { return }
        let due = clock.now.advanced(by: delay)
        planned.insert((transition, due), at: planned.firstIndex { $0.due > due } ?? planned.endIndex)
        waitForPlanned()
    }

    private func waitForPlanned() {
        planning?.cancel()
        guard let due = planned.first?.due else { return }
        planning = link.enqueue(at: due, on: clock) { await $0.carryOutPlanned() }
    }

    /// A player's app puts up again what the system has taken away.
    func publishAgain(_ index: Int) async {
        guard let player = player(index) else { return }
        do throws(RadioError) {
            try await player.publish()
        } catch {
            player.events.report(
                .error, [.init("message", .string("not published again: \(error)"))])
        }
    }

    private func carryOutPlanned() async {
        while let next = planned.first, next.due <= clock.now {
            planned.removeFirst()
            await carryOut(next.transition)
        }
        waitForPlanned()
    }
}

// What concerns the phone.
extension Emulator {
    func take(_ event: PhoneEvent) -> RadioAnswer {
        switch event {
        case .pairing(let central, let step):
            return take(step, of: central)
        case .lost, .stateChanged:
            for player in players { player.forgetReports() }
        default:
            break
        }
        if case .advertisingChanged(let report) = event {
            reportAdvertising(report)
        } else if events.isObserved, let (name, fields) = EventFields.of(event) {
            events.report(name, fields)
        }
        return .none
    }

    private func take(_ step: PairingStep, of central: Central) -> RadioAnswer {
        let passkey = devices.compactMap(\.passkey).first
        if step != .agree {
            events.report(.pairingPasskey, EventFields.of(step, central, isKnown: passkey != nil))
        }
        switch step {
        case .display: return .none
        case .compare, .agree: return .pairing(.agreed)
        case .enter:
            if let passkey { return .pairing(.passkey(passkey)) }
            let reply = PendingPairingReply()
            enteringPasskey = reply
            return .pairingLater(reply.pending)
        }
    }

    private func reportAdvertising(_ report: AdvertisingReport) {
        defer { isOnAir = report.isOn }
        switch (isOnAir, report.isOn) {
        case (false, true): events.report(.advertisingStarted, EventFields.of(report))
        case (true, true): events.report(.advertisingChanged, EventFields.of(report))
        case (true, false): events.report(.advertisingStopped)
        case (false, false): break
        }
    }
}
