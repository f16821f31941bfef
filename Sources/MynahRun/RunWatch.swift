import MynahEmulator
import MynahProfiles
import MynahSupport

/// Ends a run when what `--until` waits for has come, when its scenario has ended, or when `--timeout` is
/// over.
final class RunWatch: RunObserver {
    /// `true` if the watch waits for events.
    let takesEvents: Bool
    /// The scenario that the run plays, or `nil` if it plays none.
    let scenario: ScenarioRun?
    private let matches: [EventMatch]
    private let goal: Lock<RunGoal>
    /// Whether every device is ready.
    private let isReady = Lock(false)
    /// Whether events do not count, because the run is about to begin anew.
    private let isPaused = Lock(false)
    /// Whether the time was up before every device was ready.
    private let isLate = Lock(false)
    private let timeout: Duration?
    private let interruption: Interruption
    private let clock: RunClock

    /// The time that a run has to be ready, even if --timeout is shorter.
    private static let patience = Duration.seconds(30)

    /// A watch over a run, which it ends by interrupting it.
    init(_ plan: RunPlan, _ interruption: Interruption, clock: RunClock) {
        takesEvents = !plan.matches.isEmpty || plan.scenario != nil
        scenario = plan.scenario.map { ScenarioRun($0, clock: clock) }
        matches = plan.matches
        goal = Lock(RunGoal(matches))
        timeout = plan.timeout
        self.interruption = interruption
        self.clock = clock
    }

    /// Observes an event after it was written, so that it is there when the run ends.
    ///
    /// Which app is on the screen counts from `ready` on: while the apps of a phone are opened, one takes it
    /// from the other.
    func observe(_ event: DeviceEvent, of device: String?) {
        guard !isPaused.withLock({ $0 }) else { return }
        let event = event.named(device)
        if scenario?.observe(event, isOver: interruption.isInterrupted) == true { interruption.interrupt() }
        guard takesEvents, !Self.isAboutScreen(event.name) || isReady.withLock({ $0 }) else { return }
        if goal.withLock({ $0.observe(event) }) { interruption.interrupt() }
    }

    private static func isAboutScreen(_ name: DeviceEvent.Name) -> Bool {
        name == .appForeground || name == .appBackground
    }

    /// The run starts.
    ///
    /// The run must be ready within `--timeout`, or within `patience` if that is longer.
    func start() {
        guard let timeout else { return }
        clock.after(max(timeout, Self.patience)) { [self] in
            guard !isReady.withLock({ $0 }), goal.withLock({ $0.timeIsUp() }) else { return }
            isLate.withLock { $0 = true }
            interruption.interrupt()
        }
    }

    /// The devices stop, because the run begins anew: what they report is not what the run waits for.
    func pause() { isPaused.withLock { $0 = true } }

    /// The run begins anew, before its devices start.
    func beginAnew() {
        isPaused.withLock { $0 = false }
        goal.withLock { $0 = RunGoal(matches) }
        isReady.withLock { $0 = false }
        scenario?.beginAnew()
        start()
    }

    /// Every device is ready, and the time of `--timeout` begins.
    func devicesReady() {
        isReady.withLock { $0 = true }
        guard let timeout else { return }
        clock.after(timeout) { [self] in
            if goal.withLock({ $0.timeIsUp() }) { interruption.interrupt() }
        }
    }

    /// Nobody reads the events any more, which ends the run.
    func outputClosed() {
        goal.withLock { $0.cutShort() }
        interruption.interrupt()
    }

    /// Why the run ended, unless its scenario ended it: for the report about the scenario.
    private var cause: String? {
        if goal.withLock({ $0.end }) == .overdue, let timeout {
            let isLate = isLate.withLock { $0 }
            return isLate
                ? "not ready within \(max(timeout, Self.patience).text)"
                : "--timeout (\(timeout.text)) expired"
        }
        return interruption.cause == nil ? nil : "the run was interrupted"
    }

    /// Why the scenario did not pass, or `nil` if it did, or if there is none.
    var complaint: String? { scenario?.complaint(cause) }

    /// The report about the scenario, in JUnit's XML, or `nil` if there is none; `failure` is why the run
    /// ended.
    func report(_ failure: String?) -> String? { scenario?.report(failure ?? cause) }

    /// The error if the run did not reach its goal, else `nil`.
    var problem: String? {
        let (missed, end) = goal.withLock { ($0.missed, $0.end) }
        let list = missed.joined(separator: "; ")
        guard end != .cutShort else { return "not seen before standard output was closed: \(list)" }
        guard let timeout else { return nil }
        guard !isLate.withLock({ $0 }) else {
            return "not ready within \(max(timeout, Self.patience).text)"
        }
        return missed.isEmpty ? nil : "not seen within \(timeout.text): \(list)"
    }
}
