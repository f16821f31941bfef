public import MynahCore
public import MynahLifecycle

/// An iOS app on a phone: its life, what reaches it, and what the system keeps of it.
///
/// Made by a `Phone`, whose radio's executor it runs on. Its managers are made in its delegate's `didFinishLaunching`.
public actor App {
    /// What it is.
    public nonisolated let description: AppDescription
    let phone: Phone
    private let delegate: any AppDelegate
    private let clock: AppClock
    private var lifecycle: AppLifecycle<AppInstant>
    /// The managers of this launch.
    private(set) var managers: [PeripheralManager] = []
    /// What the system keeps of managers whose process is gone, by restore identifier.
    private var kept: [String: PeripheralManager] = [:]
    /// Made and not yet told of what was kept, and of the Bluetooth state.
    private var fresh: [PeripheralManager] = []
    private var isLaunching = false
    private var queue = AppQueue()
    private var hand: (manager: PeripheralManager?, event: PeripheralEvent)?
    private var alarm: (task: Task<Void, Never>, at: AppInstant)?
    private var pending: [UInt64: PendingReply] = [:]
    private var lastPending: UInt64 = 0
    /// What its code does beside its callbacks, and goes on with when it is not suspended any more.
    private var frozen: [CheckedContinuation<Void, Never>] = []
    private var isStopped = false

    /// Whether what is being delivered has waited while the app did not run: it may not hold any more.
    public private(set) var isDeliveringQueued = false

    /// The radio's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { phone.unownedExecutor }

    init(_ description: AppDescription, on phone: Phone, delegate: any AppDelegate, clock: AppClock) {
        self.description = description
        self.phone = phone
        self.delegate = delegate
        self.clock = clock
        lifecycle = AppLifecycle(description.rules)
    }

    /// Where it is in its life.
    public var state: AppState { lifecycle.state }
    /// Whether it runs because an event woke it.
    public var isWoken: Bool { lifecycle.isWoken }
    /// Whether it is on the screen.
    var isInForeground: Bool { lifecycle.state == .foreground }
    /// Whether its code runs.
    public var isRunning: Bool { lifecycle.isRunning }
    /// How what it advertises goes on the air now.
    public var advertisingMode: AdvertisingMode { lifecycle.advertisingMode }

    // MARK: What its user and the system do

    /// The user opens it, or brings it back onto the screen.
    public func enterForeground() { handle(.enterForeground) }
    /// It leaves the screen.
    public func enterBackground() { handle(.enterBackground) }
    /// The system suspends it now.
    public func suspend() { handle(.suspend) }
    /// The system ends it.
    public func terminate() { handle(.terminate) }
    /// The system needs memory: a suspended app ends.
    public func receiveMemoryPressure() { handle(.memoryPressure) }
    /// It ends by itself.
    public func crash() { handle(.crash) }
    /// The user ends it: nothing relaunches it but the user.
    public func quit() { handle(.quit) }

    // MARK: What its code does

    /// Makes a manager, which takes over what was kept under its restore identifier.
    ///
    /// Throws `invalidState` where the app does not run, or another manager of the phone has the identifier.
    public func makePeripheralManager(
        restoreIdentifier: String? = nil, sink: (any PeripheralSink)? = nil
    ) throws(RadioError) -> PeripheralManager {
        try checkRuns()
        let manager = PeripheralManager(
            phone: phone, app: self, state: .unknown, restoreIdentifier: restoreIdentifier, sink: sink)
        if let restoreIdentifier {
            let isTaken = phone.assumeIsolated { $0.hasManager(restoreIdentifier) }
            guard !isTaken else {
                throw RadioError(
                    .invalidState, "two managers have the restore identifier \"\(restoreIdentifier)\"",
                    remedy: "give each manager of the phone one of its own")
            }
            lifecycle.rules.isRestorable = true
            if kept[restoreIdentifier] == nil { load(restoreIdentifier) }
        }
        phone.assumeIsolated { $0.add(manager) }
        managers.append(manager)
        fresh.append(manager)
        if !isLaunching { Task { introduceFresh() } }
        return manager
    }

    /// Says that something begins which takes time, as a request that is answered later does by itself.
    public func beginWork() { handle(.workBegan) }
    /// Says that it has ended.
    public func endWork() { handle(.workEnded) }
    /// Says that the app does something that has nothing to do with why it was woken.
    public func noteExtraneousWork(on attribute: AttributeKey? = nil) {
        guard lifecycle.handle(.extraneousWork, at: clock.now).contains(.extraneous) else { return }
        delegate.app(self, didChange: .extraneous(attribute))
    }

    /// Returns when the app runs, or has ended.
    func waitWhileSuspended() async {
        while lifecycle.state == .suspended, !isStopped {
            await withCheckedContinuation { frozen.append($0) }
        }
    }

    private func thaw() {
        guard lifecycle.state != .suspended || isStopped, !frozen.isEmpty else { return }
        let all = frozen
        frozen = []
        for continuation in all { continuation.resume() }
    }

    func checkRuns() throws(RadioError) {
        guard !lifecycle.isRunning else { return }
        throw RadioError(.invalidState, "the app \(description.name) does not run: it is \(state.rawValue)")
    }
}

// What the radio tells, on its way to the app.
extension App {
    func receive(_ event: PeripheralEvent, for manager: PeripheralManager) -> RadioAnswer {
        switch event {
        case .answeredRead:
            // The system answers static values without the app; that it did is told to whoever watches.
            return deliver(event, to: manager)
        case .advertisingChanged, .willRestoreState, .missed:
            return lifecycle.isRunning ? deliver(event, to: manager) : .none
        default:
            return handle(.bluetooth(event.kind), (manager, event))
        }
    }

    func radioStateChanged(to state: RadioState) {
        handle(.radioState(state), (nil, .stateChanged(state)))
    }

    private func deliver(_ event: PeripheralEvent, to manager: PeripheralManager) -> RadioAnswer {
        let target = manager.assumeIsolated { $0.successor } ?? manager
        return track(target.assumeIsolated { $0.deliver(event) })
    }

    private func deliverHand() -> RadioAnswer {
        guard let hand else { return .none }
        if let manager = hand.manager { return deliver(hand.event, to: manager) }
        for manager in managers { _ = deliver(hand.event, to: manager) }
        return .none
    }

    /// An answer that comes later is work until it comes, and an error should the app end before.
    private func track(_ answer: RadioAnswer) -> RadioAnswer {
        guard case .later(let inner) = answer else { return answer }
        let outer = PendingReply()
        lastPending += 1
        let number = lastPending
        pending[number] = outer
        handle(.workBegan)
        inner.whenAnswered { [weak self] outcome in
            guard let self else { return outer.answer(outcome) }
            Task { await self.answered(number, outcome) }
        }
        return .later(outer.pending)
    }

    private func answered(_ number: UInt64, _ outcome: PendingReply.Outcome) {
        guard let reply = pending.removeValue(forKey: number) else { return }
        reply.answer(outcome)
        handle(.workEnded)
    }
}

// Carrying out what the machine says.
extension App {
    @discardableResult
    private func handle(
        _ event: AppEvent, _ hand: (manager: PeripheralManager?, event: PeripheralEvent)? = nil
    ) -> RadioAnswer {
        let outer = self.hand
        self.hand = hand
        defer { self.hand = outer }
        let before = lifecycle.advertisingMode
        var answer = RadioAnswer.none
        for action in lifecycle.handle(event, at: clock.now) {
            if let given = carryOut(action, of: event) { answer = given }
        }
        setAlarm()
        thaw()
        if lifecycle.advertisingMode != before { phone.assumeIsolated { $0.airChanged() } }
        return answer
    }

    /// Nil: the action is no answer to the event at hand.
    private func carryOut(_ action: AppAction, of event: AppEvent) -> RadioAnswer? {
        switch action {
        case .launched(let inBackground, _): launch(inBackground: inBackground)
        case .enteredForeground: delegate.app(self, didChange: .enteredForeground)
        case .enteredBackground: delegate.app(self, didChange: .enteredBackground)
        case .suspended: delegate.app(self, didChange: .suspended)
        case .woken(let kind):
            delegate.app(self, didChange: .woken(by: kind, hand?.event.attribute, hand?.event.central))
        case .throttled: delegate.app(self, didChange: .throttled)
        case .extraneous: delegate.app(self, didChange: .extraneous(nil))
        case .terminated(let reason):
            endManagers()
            delegate.app(self, didChange: .terminated(reason))
        case .userQuit:
            endManagers()
            delegate.app(self, didChange: .quit)
        case .deliver: return deliverHand()
        case .queue:
            if let hand { queue.append(hand.manager, hand.event) }
            return RadioAnswer.none
        case .refuse: return .answer(.failure(.unlikelyError))
        case .discard: return RadioAnswer.none
        case .deliverQueued: deliverQueued()
        case .dropQueued: queue.removeAll()
        case .pauseAdvertising, .resumeAdvertising: phone.assumeIsolated { $0.airChanged() }
        case .stopAdvertising: stopAdvertising(for: event)
        case .dropCentrals: break
        case .clearDatabase: clearDatabase(for: event)
        }
        return nil
    }

    /// Those that live, and those that are kept.
    private var all: [PeripheralManager] {
        managers + kept.keys.sorted().compactMap { kept[$0] }
    }

    private func deliverQueued() {
        let (events, missed) = queue.takeAll()
        isDeliveringQueued = true
        defer { isDeliveringQueued = false }
        for (manager, event) in events {
            if let manager {
                _ = deliver(event, to: manager)
            } else {
                for manager in managers { _ = deliver(event, to: manager) }
            }
        }
        guard missed > 0 else { return }
        for manager in managers { _ = deliver(.missed(missed), to: manager) }
    }

    private func setAlarm() {
        guard alarm?.at != lifecycle.deadline else { return }
        alarm?.task.cancel()
        alarm = nil
        guard let deadline = lifecycle.deadline else { return }
        let clock = clock
        let task = Task {
            guard (try? await clock.sleep(until: deadline)) != nil, !Task.isCancelled else { return }
            self.ring()
        }
        alarm = (task, deadline)
    }

    private func ring() {
        guard !Task.isCancelled else { return }
        alarm = nil
        handle(.deadlineReached)
    }
}

// Launches, ends, and what is kept between them.
extension App {
    private func launch(inBackground: Bool) {
        for identifier in description.restoreIdentifiers where kept[identifier] == nil { load(identifier) }
        isLaunching = true
        delegate.app(
            self,
            didFinishLaunching: LaunchOptions(
                restoreIdentifiers: kept.keys.sorted(), isInBackground: inBackground))
        isLaunching = false
        introduceFresh()
    }

    /// What another process left in the state directory.
    private func load(_ identifier: String) {
        guard let state = phone.assumeIsolated({ $0.load(identifier) }) else { return }
        let manager = PeripheralManager(
            phone: phone, app: self, state: .unknown, restoreIdentifier: identifier, sink: nil)
        manager.assumeIsolated { $0.take(state) }
        phone.assumeIsolated { $0.add(manager) }
        kept[identifier] = manager
    }

    /// First what was kept, then the Bluetooth state.
    private func introduceFresh() {
        let fresh = fresh
        self.fresh = []
        for manager in fresh {
            if let identifier = manager.restoreIdentifier, let old = kept.removeValue(forKey: identifier) {
                let estate = old.assumeIsolated { $0.handOver(to: manager) }
                let restored = manager.assumeIsolated { $0.adopt(estate) }
                phone.assumeIsolated { $0.replace(old, with: manager) }
                _ = deliver(.willRestoreState(restored), to: manager)
                Task { await republish() }
            }
            let state = phone.assumeIsolated { $0.radioState }
            manager.assumeIsolated { $0.note(.stateChanged(state)) }
            if state != .unknown { _ = deliver(.stateChanged(state), to: manager) }
        }
    }

    /// Puts what is kept and is on no radio yet onto this one; the phone asks again when it starts.
    func republish() async {
        guard await phone.capabilities != nil else { return }
        for manager in all { await manager.publishKept() }
    }

    /// The process is gone: what has a restore identifier the system keeps, the rest goes.
    private func endManagers() {
        let ended = managers
        managers = []
        fresh = []
        for manager in ended {
            manager.assumeIsolated { $0.end() }
            if let identifier = manager.restoreIdentifier, kept[identifier] == nil {
                kept[identifier] = manager
            } else {
                manager.assumeIsolated { $0.forgetAdvertising() }
                manager.assumeIsolated { $0.clearDatabase() }
                phone.assumeIsolated { $0.remove(manager) }
            }
        }
        let replies = pending
        pending = [:]
        for reply in replies.values { reply.answer(.failure(.unlikelyError)) }
    }

    private func stopAdvertising(for event: AppEvent) {
        switch event {
        case .quit, .radioState:
            for manager in all { manager.assumeIsolated { $0.forgetAdvertising() } }
        default:
            // It ended, and what is kept of it is advertised again when the user launches it.
            phone.assumeIsolated { $0.airChanged() }
        }
    }

    private func clearDatabase(for event: AppEvent) {
        switch event {
        case .quit:
            for manager in all { manager.assumeIsolated { $0.clearDatabase() } }
            for (identifier, manager) in kept {
                phone.assumeIsolated { phone in
                    phone.forget(identifier)
                    phone.remove(manager)
                }
            }
            kept = [:]
        case .radioState:
            for manager in all { manager.assumeIsolated { $0.clearDatabase() } }
        default:
            // It ended and nothing relaunches it but the user, to whom it is restored: only the radio forgets.
            for manager in all { manager.assumeIsolated { $0.withdrawKept() } }
        }
    }

    /// The phone stops.
    func radioStopped() {
        alarm?.task.cancel()
        alarm = nil
        queue.removeAll()
        let replies = pending
        pending = [:]
        for reply in replies.values { reply.answer(.failure(.unlikelyError)) }
        managers = []
        kept = [:]
        isStopped = true
        thaw()
    }
}
