import MynahCore
import MynahLifecycle
import MynahSupport

/// One app of a phone: its life cycle, its queue of events and answers, and its managers.
///
/// Belongs to a phone, and runs on the phone's executor.
final class AppProcess {
    /// An item in the app's queue; an event whose manager is `nil` goes to all managers.
    enum Delivery {
        case peripheral(ManagerState?, PeripheralEvent)
        case central(CentralManagerState?, CentralManagerEvent)
        case answer(PendingResult)
    }

    /// The part of the app's state that its managers also read.
    let condition: AppCondition
    let ports: AppPorts
    private let delegate: Owned<any AppDelegate>
    /// The Bluetooth state that was last reported to the app's central managers.
    private var centralState = RadioState.unknown
    /// The managers of the app's current process, and those that the system preserves after an earlier one.
    private(set) var roster = AppRoster()
    private(set) var mail = AppMail()
    private var alarm = AppAlarm()
    /// The app's calls outside callbacks that wait until the app is no longer suspended.
    private(set) var suspended = Waiters()
    private var isStopped = false
    private var isLaunching = false

    init(
        number: UInt64, _ description: AppDescription, delegate: any AppDelegate, clock: RunClock,
        isTerminated: Bool, _ ports: AppPorts
    ) {
        self.ports = ports
        condition = AppCondition(
            number: number, description, clock: clock, isTerminated: isTerminated, ports)
        self.delegate = Owned(delegate)
    }

    deinit {
        alarm.cancel()
        suspended.resumeAll()
    }

    var number: UInt64 { condition.number }
    var description: AppDescription { condition.description }
    var clock: RunClock { condition.clock }
    var accessories: AppAccessories { condition.accessories }
    var state: AppState { condition.state }
    var rules: AppRules { condition.rules }
    var isRunning: Bool { condition.isRunning }
    var isWoken: Bool { condition.lifecycle.isWoken }
    var isKept: Bool { condition.lifecycle.isKept }
    var isThrottled: Bool { condition.lifecycle.isThrottled }
    var managers: [ManagerState] { roster.peripheral.all }
    private var live: [ManagerState] { roster.peripheral.live }

    /// The names under which the states of the app's managers may be preserved, without duplicates.
    var preservedNames: [PreservedName] { roster.preservedNames(of: description) }

    /// Makes an `App` for the app's code.
    func makeHandle() -> App { App(description, AppAccess(self, ports.work.link), ports.radio) }

    // MARK: Events

    /// Passes an event to a manager's program, at once or when the app runs.
    ///
    /// Returns an error for a request that the app cannot receive.
    func pass(_ event: PeripheralEvent, to manager: ManagerState) -> RadioAnswer {
        guard condition.permission.isAllowed else { return .unheard(event) }
        switch event {
        case .answeredRead(let request, let central, let value):
            // The system answers reads of static values without the app, and reports them at once.
            guard manager.isEnded else { return deliver(event, to: manager) }
            ports.reports.report(.answeredRead(request, central, value))
            return .none
        // If Bluetooth is off, subscriptions end without callbacks.
        case .unsubscribed where !ports.isOn: return .none
        case .advertisingChanged, .willRestoreState, .missed:
            return condition.lifecycle.isRunning ? deliver(event, to: manager) : .none
        default:
            guard !condition.awaitsUnlock else {
                reportRefusal(of: event, because: condition.refusalReason)
                return .unheard(event)
            }
            return handle(.bluetooth(event.kind), .peripheral(manager, event))
        }
    }

    func radioStateChanged(to state: RadioState) {
        let state = condition.bluetoothState(state)
        handle(.radioState(state), .peripheral(nil, .stateChanged(state)))
    }

    /// Passes an event to a central manager's program, at once or when the app runs.
    func pass(_ event: CentralManagerEvent, to manager: CentralManagerState) -> RadioAnswer {
        guard condition.permission.isAllowed, !condition.awaitsUnlock else { return .none }
        guard let kind = event.kind else {
            return condition.lifecycle.isRunning ? manager.deliver(event) : .none
        }
        return handle(.bluetooth(kind), .central(manager, event))
    }

    /// Passes an answer to the call that waits for it, at once or when the app runs.
    func pass(_ answer: PendingResult) {
        handle(.bluetooth(.answered), .answer(answer))
    }

    /// Handles a change of the Bluetooth state of the app's central managers.
    func centralStateChanged(to state: RadioState) {
        let state = condition.centralState(on: state)
        guard state != centralState else { return }
        centralState = state
        guard !roster.central.live.isEmpty else { return }
        handle(.bluetooth(.state), .central(nil, .stateChanged(state)))
    }

    /// `true` if the app is suspended, and a change of the Bluetooth state would wake it.
    var isToBeWokenByState: Bool {
        condition.lifecycle.state == .suspended && rules.isBackgroundCentral && condition.permission.isAllowed
            && !roster.central.live.isEmpty
    }

    /// Passes one of the app's requests to the phone, which carries it out at once.
    func request(_ request: AppRequest) { ports.work.tell(.app(number, request)) }

    /// Handles an event of the app's life cycle, and returns the answer to the Bluetooth event in `delivery`.
    @discardableResult
    func handle(_ event: AppEvent, _ delivery: Delivery? = nil) -> RadioAnswer {
        let before = (
            mode: condition.lifecycle.advertisingMode, state: condition.lifecycle.state,
            serving: condition.servingMode
        )
        var answer = RadioAnswer.none
        for action in condition.lifecycle.handle(event, at: clock.now) {
            if let given = perform(action, delivery) { answer = given }
        }
        setAlarm()
        resumeUnlessSuspended()
        if condition.servingMode != before.serving { request(.serve) }
        if condition.lifecycle.advertisingMode != before.mode { ports.work.tell(.advertise) }
        if condition.lifecycle.state != before.state { request(.stateChanged) }
        return answer
    }

    /// Carries out an action; returns `nil` if the action does not answer `delivery`.
    private func perform(_ action: AppAction, _ delivery: Delivery?) -> RadioAnswer? {
        switch action {
        case .deliver: return deliver(delivery)
        case .queue:
            if let delivery { mail.queue.append(delivery) }
            return RadioAnswer.none
        case .refuse:
            if let event = delivery?.peripheralEvent {
                reportRefusal(of: event, because: condition.refusalReason)
            }
            return .answer(.failure(.unlikelyError))
        case .discard: return RadioAnswer.none
        case .deliverQueued: deliverQueued()
        case .dropQueued: mail.queue.removeAll()
        case .launched(let inBackground, _):
            var cause: ManagerState?
            if case .peripheral(let manager, _)? = delivery { cause = manager }
            launch(inBackground: inBackground, for: cause)
        case .enteredForeground, .enteredBackground, .suspended, .woken, .throttled, .extraneous:
            if let change = AppChange(action, delivery?.peripheralEvent) { report(change) }
        case .terminated(let reason):
            endManagers()
            report(.terminated(reason))
        case .userQuit:
            endManagers()
            report(.quit)
        case .pauseAdvertising, .resumeAdvertising, .stopAdvertising(forget: false):
            ports.work.tell(.advertise)
        case .stopAdvertising(forget: true):
            request(.forgetAdvertising)
        case .withdrawServices(let forget):
            request(.withdrawServices(forget: forget))
        case .forgetPreservedState:
            request(.forgetPreserved)
            if !condition.lifecycle.isKept(for: .central) { request(.forgetKeptCentrals) }
        }
        return nil
    }

    /// Reports that a central's request was answered with an error because the app could not receive it.
    private func reportRefusal(
        of event: PeripheralEvent, because reason: RefusedRequest.Reason
    ) {
        for refused in event.refusals(with: .unlikelyError, because: reason) {
            ports.reports.report(.refused(refused, ports.centrals[refused.central]))
        }
    }

    func report(_ change: AppChange) {
        delegate.call(on: makeHandle(), change) { $1.app($0, didChange: $2) }
    }

    /// Reports that an event woke the app, and the app did work that is unrelated to the event.
    func noteExtraneousWork(on attribute: AttributeKey?) {
        guard condition.lifecycle.handle(.extraneousWork, at: clock.now).contains(.extraneous) else { return }
        report(.extraneous(attribute))
    }

    // MARK: Delivery

    private func deliver(_ delivery: Delivery?) -> RadioAnswer {
        switch delivery {
        case .peripheral(let manager?, let event): return deliver(event, to: manager)
        case .peripheral(nil, let event):
            for manager in live { _ = deliver(event, to: manager) }
        case .central(let manager?, let event): return manager.deliver(event)
        case .central(nil, let event):
            for manager in roster.central.live { _ = manager.deliver(event) }
        case .answer(let answer): answer.deliver(hasWaited: mail.hasWaited)
        case nil: break
        }
        return .none
    }

    private func deliver(_ event: PeripheralEvent, to manager: ManagerState) -> RadioAnswer {
        let answer = manager.deliver(event)
        guard case .later(let inner) = answer else { return answer }
        // An app that answers later works until then; if it ends first, the answer is an error.
        let (outer, reply) = mail.replies.add(for: event)
        handle(.workBegan)
        let (work, app) = (ports.work, number)
        inner.whenAnswered { work.start(.answered(app, reply, $0)) }
        return .later(outer)
    }

    func answer(_ reply: UInt64, _ outcome: PendingReply.Outcome) {
        guard let reply = mail.replies.remove(reply) else { return }
        reply.answer(outcome)
        handle(.workEnded)
    }

    private func deliverQueued() {
        let (events, missed) = mail.queue.takeAll()
        mail.hasWaited = true
        defer { mail.hasWaited = false }
        for entry in events { _ = deliver(entry) }
        guard missed > 0 else { return }
        for manager in live { _ = deliver(.missed(missed), to: manager) }
        for manager in roster.central.live { _ = manager.deliver(.missed(missed)) }
    }

    // MARK: Launch and end

    /// Publishes the preserved services of an app that ended before the phone restarted.
    ///
    /// Does so only if an event may relaunch the app.
    func serveTerminated() {
        request(.loadPreserved(ofPeripherals: rules.isRelaunched(for: .peripheral)))
    }

    /// Launches the app; `cause` is the peripheral manager whose event launches it, or `nil` if there is
    /// none.
    private func launch(inBackground: Bool, for cause: ManagerState?) {
        request(.loadPreserved(ofPeripherals: true))
        // The system names no managers if the user launches the app, if the app uses scenes, or if it lacks
        // the background mode.
        let namesManagers = inBackground && !description.isSceneBased
        let identifiers =
            namesManagers && rules.isRelaunched(for: .peripheral)
            ? roster.peripheral.restoreIdentifiers(launchedFor: cause) : []
        let centralIdentifiers = namesManagers ? roster.central.keptIdentifiers : []
        isLaunching = true
        let options = LaunchOptions(
            restoreIdentifiers: identifiers, centralRestoreIdentifiers: centralIdentifiers,
            isInBackground: inBackground)
        delegate.call(on: makeHandle(), options) { $1.app($0, didFinishLaunching: $2) }
        isLaunching = false
        request(.introduce)
    }

    /// Makes a manager, or returns the preserved one with the same restore identifier.
    func makeManager(
        _ restoreIdentifier: String?, sink: (any PeripheralSink)?, in memory: PhoneMemory
    ) throws(RadioError) -> PeripheralManager {
        try condition.checkRuns()
        try roster.central.checkIsFree(restoreIdentifier)
        if restoreIdentifier != nil { condition.lifecycle.rules.isRestorable = true }
        let manager = try roster.peripheral.make(
            restoreIdentifier, sink: sink, of: condition, in: ports.files, memory)
        askForPermission()
        introduceSoon()
        return manager.makeHandle(ports.work.link, ports.radio)
    }

    /// Makes a central manager, or returns the preserved one with the same restore identifier.
    func makeCentralManager(
        _ restoreIdentifier: String?, options: CentralManager.Options, sink: (any CentralManagerSink)?,
        in central: PhoneCentral
    ) throws(RadioError) -> CentralManager {
        try condition.checkRuns()
        if live.contains(where: { $0.restoreIdentifier != nil && $0.restoreIdentifier == restoreIdentifier })
        {
            throw AppCentrals.isTaken(restoreIdentifier)
        }
        let manager = try roster.central.make(
            restoreIdentifier, options, sink: sink, of: condition, in: central)
        if restoreIdentifier != nil { condition.lifecycle.rules.isCentralRestorable = true }
        askForPermission()
        central.alerts.madeManager(options, of: self)
        introduceSoon()
        return manager
    }

    private func introduceSoon() {
        if !isLaunching { ports.work.start(.introduce(number)) }
    }

    /// Reports the restored state, then the Bluetooth state, to the new managers of both roles.
    func introduceManagers(in central: PhoneCentral) {
        let new = live.filter { if case .new = $0.stage { true } else { false } }
        for manager in new {
            if let restored = manager.introduce() {
                _ = deliver(.willRestoreState(restored), to: manager)
                ports.work.start(.republish(number))
            }
        }
        let centrals = roster.central.restore(by: central.preservation)
        let state = condition.bluetoothState(ports.states.phone)
        for manager in new where !manager.isEnded {
            manager.note(.stateChanged(state))
            if state != .unknown { _ = deliver(.stateChanged(state), to: manager) }
        }
        centralState = condition.centralState(on: ports.states.central)
        roster.central.introduce(centrals, centralState)
        central.startSoon()
    }

    /// Ends the managers of the app's process, after the process has ended.
    private func endManagers() {
        condition.permission.processEnded()
        accessories.closePicker(.ended)
        request(.endManagers(keepingCentrals: condition.lifecycle.isKept(for: .central)))
        for event in failReplies() { reportRefusal(of: event, because: .ended) }
    }

    /// Fails the requests that the app has not answered, and returns them.
    @discardableResult
    private func failReplies() -> [PeripheralEvent] {
        let open = mail.replies.takeAll()
        for (reply, _) in open { reply.answer(.failure(.unlikelyError)) }
        return open.map(\.request)
    }

    func forget(_ manager: ManagerState) {
        roster.peripheral.forget(manager)
    }

    func forget(_ manager: CentralManagerState) {
        roster.central.forget(manager)
    }

    /// Cancels timers and fails unanswered requests, because the phone stops.
    func stop() {
        alarm.cancel()
        accessories.stop()
        mail.queue.removeAll()
        failReplies()
        roster = AppRoster()
        isStopped = true
        resumeUnlessSuspended()
    }

    // MARK: Time

    private func setAlarm() {
        alarm.set(condition.lifecycle.deadline) {
            ports.work.tell(.app(number, .deadlineReached), at: $0, on: clock)
        }
    }

    func deadlineReached() {
        alarm.rang()
        handle(.deadlineReached)
    }

    // MARK: Suspension

    /// Whether the app is suspended, so that calls of its code have to wait.
    var isSuspended: Bool { condition.lifecycle.state == .suspended && !isStopped }

    /// Waits until the app runs or has ended.
    func wait(_ continuation: CheckedContinuation<Void, Never>) {
        suspended.add(continuation)
        resumeUnlessSuspended()
    }

    private func resumeUnlessSuspended() {
        if !isSuspended { suspended.resumeAll() }
    }
}

extension AppProcess.Delivery {
    /// The peripheral manager's event, or `nil` for any other delivery.
    fileprivate var peripheralEvent: PeripheralEvent? {
        if case .peripheral(_, let event) = self { event } else { nil }
    }
}
