import MynahCore
import MynahLifecycle
import MynahSupport

/// One app of a phone: its life, what reaches it, and what the system preserves of it.
///
/// Belongs to a phone, and runs on the phone's executor.
final class AppProcess {
    /// Something on its way to the app; an event without a manager is for all of them.
    enum Delivery {
        case peripheral(ManagerState?, PeripheralEvent)
        case central(CentralManagerState?, CentralManagerEvent)
        case answer(PendingResult)
    }

    /// Names it for as long as the phone lives.
    let number: UInt64
    let description: AppDescription
    private let delegate: Owned<any AppDelegate>
    let clock: RunClock
    private var lifecycle: AppLifecycle<RunClock.Instant>
    var permission: AppPermission
    /// Whether its phone restarted and has not been unlocked since.
    var awaitsUnlock = false
    /// The accessories that its user has picked, or `nil` if it does not use AccessorySetupKit.
    var accessories: KeptAccessories?
    /// The picker that it shows, or `nil` if it shows none.
    var picker: AccessoryPicker?
    /// The Bluetooth state that its central managers were given last.
    private var centralState = RadioState.unknown
    /// The managers of this launch, and those that the system preserves after an earlier one.
    private var ownManagers = AppManagers()
    private var ownCentrals = AppCentrals()
    private(set) var queue = AppQueue()
    private var alarm = AppAlarm()
    private var replies = LateReplies()
    /// Calls of the app's code outside its callbacks, which continue when it is not suspended any more.
    private(set) var suspended = Waiters()
    private var isStopped = false
    private var isLaunching = false
    /// Whether what is being delivered has waited while the app did not run.
    private(set) var isDeliveringQueued = false

    init(
        number: UInt64, _ description: AppDescription, delegate: any AppDelegate, clock: RunClock,
        isTerminated: Bool
    ) {
        self.number = number
        self.description = description
        self.delegate = Owned(delegate)
        self.clock = clock
        permission = AppPermission(description.authorization)
        accessories = description.usesAccessorySetup ? KeptAccessories(app: description.name) : nil
        lifecycle =
            isTerminated ? AppLifecycle(terminated: description.rules) : AppLifecycle(description.rules)
    }

    deinit {
        alarm.cancel()
        suspended.resumeAll()
    }

    var state: AppState { lifecycle.state }
    var rules: AppRules { lifecycle.rules }
    var isWoken: Bool { lifecycle.isWoken }
    var isRunning: Bool { lifecycle.isRunning }
    var isKept: Bool { lifecycle.isKept }
    var isThrottled: Bool { lifecycle.isThrottled }
    var advertisingMode: AdvertisingMode { lifecycle.advertisingMode }
    /// How the radio serves its services now.
    var servingMode: ServingMode { lifecycle.disablesServices ? .disabled : .app }
    var managers: [ManagerState] { ownManagers.all }
    private var live: [ManagerState] { ownManagers.live }

    /// The names under which its managers' states may be preserved, each once.
    var preservedNames: [PreservedName] {
        let identifiers = description.restoreIdentifiers + managers.compactMap(\.restoreIdentifier)
        let central = description.centralRestoreIdentifiers + ownCentrals.all.compactMap(\.restoreIdentifier)
        let names =
            identifiers.map { PreservedName(app: description.name, restoreIdentifier: $0) }
            + central.map { PreservedName(app: description.name, restoreIdentifier: $0, role: .central) }
        var seen: Set<PreservedName> = []
        return names.filter { seen.insert($0).inserted }
    }

    func checkRuns() throws(RadioError) {
        guard !lifecycle.isRunning else { return }
        throw RadioError(.invalidState, "the app \(description.name) is not running: it is \(state.rawValue)")
    }

    // MARK: Events

    /// Gives an event to a manager's program, now or when the app runs, or answers it for the program.
    func pass(_ event: PeripheralEvent, to manager: ManagerState, on phone: isolated Phone) -> RadioAnswer {
        guard permission.isAllowed else { return .unheard(event) }
        switch event {
        case .answeredRead(let request, let central, let value):
            // The system answers static values without the app, and reports it to the program at once.
            guard manager.isEnded else { return deliver(event, to: manager, on: phone) }
            phone.reports.report(.answeredRead(request, central, value))
            return .none
        // With Bluetooth off everything ends without further callbacks.
        case .unsubscribed where !Self.isOn(phone): return .none
        case .advertisingChanged, .willRestoreState, .missed:
            return lifecycle.isRunning ? deliver(event, to: manager, on: phone) : .none
        default:
            guard !awaitsUnlock else {
                reportRefusal(of: event, because: refusalReason, on: phone)
                return .unheard(event)
            }
            return handle(.bluetooth(event.kind), .peripheral(manager, event), on: phone)
        }
    }

    /// Whether Bluetooth is on, and not about to be reported as off.
    private static func isOn(_ phone: isolated Phone) -> Bool {
        phone.radioState == .poweredOn && PhoneControl.ask(phone.radio) { $0.isOn } != false
    }

    func radioStateChanged(to state: RadioState, on phone: isolated Phone) {
        let state = bluetoothState(state)
        handle(.radioState(state), .peripheral(nil, .stateChanged(state)), on: phone)
    }

    /// Gives an event to a central manager's program, now or when the app runs.
    func pass(
        _ event: CentralManagerEvent, to manager: CentralManagerState, on phone: isolated Phone
    ) -> RadioAnswer {
        guard permission.isAllowed, !awaitsUnlock else { return .none }
        guard let kind = event.kind else { return lifecycle.isRunning ? manager.deliver(event) : .none }
        return handle(.bluetooth(kind), .central(manager, event), on: phone)
    }

    /// Gives an answer to the call that waits for it, now or when the app runs.
    func pass(_ answer: PendingResult, on phone: isolated Phone) {
        handle(.bluetooth(.answered), .answer(answer), on: phone)
    }

    /// The Bluetooth state of its central managers changed.
    func centralStateChanged(to state: RadioState, on phone: isolated Phone) {
        let state = centralState(on: state)
        guard state != centralState else { return }
        centralState = state
        guard !ownCentrals.live.isEmpty else { return }
        handle(.bluetooth(.state), .central(nil, .stateChanged(state)), on: phone)
    }

    /// `true` if the app is suspended, and a change of the Bluetooth state would wake it.
    var isToBeWokenByState: Bool {
        lifecycle.state == .suspended && rules.isBackgroundCentral && permission.isAllowed
            && !ownCentrals.live.isEmpty
    }

    /// Does what its user, the system or its own code wants of it.
    ///
    /// A phone has one app on its screen: opening another sends that one to the background first.
    func apply(_ transition: AppTransition, on phone: isolated Phone) {
        if transition == .enterForeground {
            for other in phone.memory.apps where other !== self && other.state == .foreground {
                other.handle(.transition(.enterBackground), on: phone)
            }
        }
        handle(.transition(transition), on: phone)
    }

    /// Does what follows from an event, and returns the answer to `delivery`.
    @discardableResult
    func handle(_ event: AppEvent, _ delivery: Delivery? = nil, on phone: isolated Phone) -> RadioAnswer {
        let before = (mode: lifecycle.advertisingMode, state: lifecycle.state, serving: servingMode)
        var answer = RadioAnswer.none
        for action in lifecycle.handle(event, at: clock.now) {
            if let given = perform(action, delivery, on: phone) { answer = given }
        }
        setAlarm(on: phone)
        resumeUnlessSuspended()
        if servingMode != before.serving {
            for manager in managers {
                let published = manager.added.filter { $0.id != nil }.flatMap(\.services)
                phone.services.serve(published, of: manager)
            }
        }
        if lifecycle.advertisingMode != before.mode { phone.advertiser.update() }
        if lifecycle.state != before.state { phone.central.appChanged(self, on: phone) }
        return answer
    }

    /// Returns `nil` if the action does not answer `delivery`.
    private func perform(
        _ action: AppAction, _ delivery: Delivery?, on phone: isolated Phone
    ) -> RadioAnswer? {
        switch action {
        case .deliver: return deliver(delivery, on: phone)
        case .queue:
            if let delivery { queue.append(delivery) }
            return RadioAnswer.none
        case .refuse:
            if let event = delivery?.peripheralEvent {
                reportRefusal(of: event, because: refusalReason, on: phone)
            }
            return .answer(.failure(.unlikelyError))
        case .discard: return RadioAnswer.none
        case .deliverQueued: deliverQueued(on: phone)
        case .dropQueued: queue.removeAll()
        case .launched(let inBackground, _):
            var cause: ManagerState?
            if case .peripheral(let manager, _)? = delivery { cause = manager }
            launch(inBackground: inBackground, for: cause, on: phone)
        case .enteredForeground, .enteredBackground, .suspended, .woken, .throttled, .extraneous:
            if let change = AppChange(action, delivery?.peripheralEvent) { report(change, on: phone) }
        case .terminated(let reason):
            endManagers(on: phone)
            report(.terminated(reason), on: phone)
        case .userQuit:
            endManagers(on: phone)
            report(.quit, on: phone)
        case .pauseAdvertising, .resumeAdvertising, .stopAdvertising(forget: false):
            phone.advertiser.update()
        case .stopAdvertising(forget: true):
            for manager in managers { phone.advertiser.forget(manager) }
        case .withdrawServices(let forget):
            for manager in managers { phone.services.withdrawAll(of: manager, forget: forget) }
        case .forgetPreservedState:
            ownManagers.forgetPreserved(on: phone)
            if !lifecycle.isKept(for: .central) { forgetKeptCentrals(on: phone) }
        }
        return nil
    }

    /// Why a request does not reach it.
    var refusalReason: RefusedRequest.Reason {
        switch lifecycle.state {
        case .suspended: .suspended
        case .foreground, .background: .background
        case .notRunning, .terminated, .quit: .notRunning
        }
    }

    /// A request is answered with an error in its place.
    private func reportRefusal(
        of event: PeripheralEvent, because reason: RefusedRequest.Reason, on phone: isolated Phone
    ) {
        for refused in event.refusals(with: .unlikelyError, because: reason) {
            phone.reports.report(.refused(refused, phone.central(refused.central)))
        }
    }

    func report(_ change: AppChange, on phone: isolated Phone) {
        delegate.call(on: App(self, on: phone), change) { $1.app($0, didChange: $2) }
    }

    /// Reports what the app did although it was not woken for it.
    func noteExtraneousWork(on attribute: AttributeKey?, on phone: isolated Phone) {
        guard lifecycle.handle(.extraneousWork, at: clock.now).contains(.extraneous) else { return }
        report(.extraneous(attribute), on: phone)
    }

    // MARK: Delivery

    private func deliver(_ delivery: Delivery?, on phone: isolated Phone) -> RadioAnswer {
        switch delivery {
        case .peripheral(let manager?, let event): return deliver(event, to: manager, on: phone)
        case .peripheral(nil, let event):
            for manager in live { _ = deliver(event, to: manager, on: phone) }
        case .central(let manager?, let event): return manager.deliver(event)
        case .central(nil, let event):
            for manager in ownCentrals.live { _ = manager.deliver(event) }
        case .answer(let answer): answer.deliver(hasWaited: isDeliveringQueued)
        case nil: break
        }
        return .none
    }

    private func deliver(
        _ event: PeripheralEvent, to manager: ManagerState, on phone: isolated Phone
    ) -> RadioAnswer {
        let answer = manager.deliver(event)
        guard case .later(let inner) = answer else { return answer }
        // An answer that comes later is work until it comes, and an error if the app ends before.
        let (outer, reply) = replies.add(for: event)
        handle(.workBegan, on: phone)
        let (link, app) = (PhoneLink(phone), number)
        inner.whenAnswered { outcome in
            link.enqueue { $0.memory.app(app)?.answer(reply, outcome, on: $0) }
        }
        return .later(outer)
    }

    private func answer(_ reply: UInt64, _ outcome: PendingReply.Outcome, on phone: isolated Phone) {
        guard let reply = replies.remove(reply) else { return }
        reply.answer(outcome)
        handle(.workEnded, on: phone)
    }

    private func deliverQueued(on phone: isolated Phone) {
        let (events, missed) = queue.takeAll()
        isDeliveringQueued = true
        defer { isDeliveringQueued = false }
        for entry in events { _ = deliver(entry, on: phone) }
        guard missed > 0 else { return }
        for manager in live { _ = deliver(.missed(missed), to: manager, on: phone) }
        for manager in ownCentrals.live { _ = manager.deliver(.missed(missed)) }
    }

    // MARK: Launch and end

    /// Serves what an app preserved that ended before the phone was restarted, if an event may relaunch it.
    func serveTerminated(on phone: isolated Phone) {
        // A phone that was restarted asks its devices for their attributes again.
        if !phone.isRunning { phone.central.devices.tables.forgetAll() }
        if rules.isRelaunched(for: .peripheral) { loadPreserved(on: phone) }
        loadPreservedCentrals(on: phone)
    }

    /// Takes what another process preserved of its managers.
    private func loadPreserved(on phone: isolated Phone) {
        for identifier in description.restoreIdentifiers {
            ownManagers.load(identifier, of: self, on: phone)
        }
    }

    /// Takes what another process preserved of its central managers.
    private func loadPreservedCentrals(on phone: isolated Phone) {
        for identifier in description.centralRestoreIdentifiers {
            ownCentrals.load(identifier, of: self, on: phone)
        }
    }

    /// Starts its code; `cause` is the peripheral manager whose request launches it.
    private func launch(inBackground: Bool, for cause: ManagerState?, on phone: isolated Phone) {
        loadPreserved(on: phone)
        loadPreservedCentrals(on: phone)
        // The user's own launch names none, and none is named to an app with scenes. Without its mode the
        // system does not work for a manager.
        let namesManagers = inBackground && !description.isSceneBased
        let identifiers =
            namesManagers && rules.isRelaunched(for: .peripheral)
            ? ownManagers.restoreIdentifiers(launchedFor: cause) : []
        let centralIdentifiers = namesManagers ? ownCentrals.keptIdentifiers : []
        isLaunching = true
        let options = LaunchOptions(
            restoreIdentifiers: identifiers, centralRestoreIdentifiers: centralIdentifiers,
            isInBackground: inBackground)
        delegate.call(on: App(self, on: phone), options) { $1.app($0, didFinishLaunching: $2) }
        isLaunching = false
        introduceManagers(on: phone)
    }

    /// Makes a manager of this launch, or gives it the one that was preserved.
    func makeManager(
        _ restoreIdentifier: String?, sink: (any PeripheralSink)?, on phone: isolated Phone
    ) throws(RadioError) -> PeripheralManager {
        try checkRuns()
        try ownCentrals.checkIsFree(restoreIdentifier)
        if restoreIdentifier != nil { lifecycle.rules.isRestorable = true }
        let manager = try ownManagers.make(restoreIdentifier, sink: sink, of: self, on: phone)
        askForPermission(on: phone)
        introduceSoon(on: phone)
        return PeripheralManager(manager, on: phone)
    }

    /// Makes a central manager of this launch, or gives it the one that the system works for.
    func makeCentralManager(
        _ restoreIdentifier: String?, options: CentralManager.Options, sink: (any CentralManagerSink)?,
        on phone: isolated Phone
    ) throws(RadioError) -> CentralManager {
        try checkRuns()
        if live.contains(where: { $0.restoreIdentifier != nil && $0.restoreIdentifier == restoreIdentifier })
        {
            throw AppCentrals.isTaken(restoreIdentifier)
        }
        let manager = try ownCentrals.make(restoreIdentifier, options, sink: sink, of: self, on: phone)
        if restoreIdentifier != nil { lifecycle.rules.isCentralRestorable = true }
        askForPermission(on: phone)
        phone.central.alerts.madeManager(options, of: self)
        introduceSoon(on: phone)
        return manager
    }

    private func introduceSoon(on phone: isolated Phone) {
        guard !isLaunching else { return }
        let app = number
        PhoneLink(phone).enqueue { $0.memory.app(app)?.introduceManagers(on: $0) }
    }

    /// Gives new managers of both roles first what was preserved, then the Bluetooth state.
    private func introduceManagers(on phone: isolated Phone) {
        let new = live.filter { if case .new = $0.stage { true } else { false } }
        for manager in new {
            if let restored = manager.introduce() {
                _ = deliver(.willRestoreState(restored), to: manager, on: phone)
                let app = number
                PhoneLink(phone).enqueue { phone in
                    if let app = phone.memory.app(app) { await phone.services.republish(app) }
                }
            }
        }
        let centrals = ownCentrals.restore(on: phone)
        let state = bluetoothState(phone.radioState)
        for manager in new where !manager.isEnded {
            manager.note(.stateChanged(state))
            if state != .unknown { _ = deliver(.stateChanged(state), to: manager, on: phone) }
        }
        centralState = centralState(on: phone.central.memory.radioState)
        ownCentrals.introduce(centrals, centralState, on: phone)
    }

    /// The process is gone.
    private func endManagers(on phone: isolated Phone) {
        permission.processEnded()
        closePicker(.ended, on: phone)
        ownManagers.end(on: phone)
        ownCentrals.end(keeping: lifecycle.isKept(for: .central), on: phone)
        for event in failReplies() { reportRefusal(of: event, because: .ended, on: phone) }
    }

    /// Returns the requests that it has not answered.
    @discardableResult
    private func failReplies() -> [PeripheralEvent] {
        let open = replies.takeAll()
        for (reply, _) in open { reply.answer(.failure(.unlikelyError)) }
        return open.map(\.request)
    }

    /// The system works for none of its central managers any more.
    func forgetKeptCentrals(on phone: isolated Phone) {
        ownCentrals.forgetKept(on: phone)
    }

    func forget(_ manager: ManagerState) {
        ownManagers.forget(manager)
    }

    func forget(_ manager: CentralManagerState) {
        ownCentrals.forget(manager)
    }

    /// The phone stops.
    func stop() {
        alarm.cancel()
        picker?.stop()
        picker = nil
        queue.removeAll()
        failReplies()
        ownManagers = AppManagers()
        ownCentrals = AppCentrals()
        isStopped = true
        resumeUnlessSuspended()
    }

    // MARK: Time

    private func setAlarm(on phone: isolated Phone) {
        let (app, clock) = (number, clock)
        alarm.set(lifecycle.deadline) { deadline in
            PhoneLink(phone).enqueue(at: deadline, on: clock) { $0.memory.app(app)?.deadlineReached(on: $0) }
        }
    }

    private func deadlineReached(on phone: isolated Phone) {
        alarm.rang()
        handle(.deadlineReached, on: phone)
    }

    // MARK: Suspension

    /// Whether its code waits for the app to run or end.
    var isSuspended: Bool { lifecycle.state == .suspended && !isStopped }

    /// Resumes when the app runs, or has ended.
    func wait(_ continuation: CheckedContinuation<Void, Never>) {
        suspended.add(continuation)
        resumeUnlessSuspended()
    }

    private func resumeUnlessSuspended() {
        if !isSuspended { suspended.resumeAll() }
    }
}

extension AppProcess.Delivery {
    /// The event as a peripheral's event, or `nil` if it is another.
    fileprivate var peripheralEvent: PeripheralEvent? {
        if case .peripheral(_, let event) = self { event } else { nil }
    }
}
