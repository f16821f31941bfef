import MynahEmulator
import MynahProfiles
import MynahSupport

/// Ends a run when the events of `--until` have happened, when its scenario has ended, or when `--timeout`
/// elapses.
final class RunWatch: RunObserver {
    /// `true` if the run waits for events.
    let takesEvents: Bool
    /// The scenario of the run, or `nil` if there is none.
    let scenario: ScenarioRun?
    private let matches: [EventMatch]
    private let goal: Lock<RunGoal>
    /// Whether all devices are ready.
    private let isReady = Lock(false)
    /// Whether events are ignored until the run has started again.
    private let isPaused = Lock(false)
    /// Whether the time limit elapsed before all devices were ready.
    private let isLate = Lock(false)
    private let timeout: Duration?
    private let interruption: Interruption
    private let clock: RunClock

    /// The least time that all devices have to become ready, even if `--timeout` is shorter.
    private static let patience = Duration.seconds(30)

    /// Makes a watch, which ends the run through `interruption`.
    init(_ plan: RunPlan, _ interruption: Interruption, clock: RunClock) {
        takesEvents = !plan.matches.isEmpty || plan.scenario != nil
        scenario = plan.scenario.map { ScenarioRun($0, clock: clock) }
        matches = plan.matches
        goal = Lock(RunGoal(matches))
        timeout = plan.timeout
        self.interruption = interruption
        self.clock = clock
    }

    /// Handles an event after it was written, so that the output is complete when the run ends.
    ///
    /// Before all devices are ready, a change of the app in the foreground does not count as an expected
    /// event. Starting the apps of a phone moves each of them to the foreground.
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

    /// Starts the time limit for the start of the devices.
    ///
    /// All devices must be ready within `--timeout`, or within `patience` if that is longer.
    func start() {
        guard let timeout else { return }
        clock.after(max(timeout, Self.patience)) { [self] in
            guard !isReady.withLock({ $0 }), goal.withLock({ $0.timeIsUp() }) else { return }
            isLate.withLock { $0 = true }
            interruption.interrupt()
        }
    }

    /// Ignores events from now on, while the devices stop before the run starts again.
    func pause() { isPaused.withLock { $0 = true } }

    /// Resets the expected events, the scenario and the time limit; called when the run starts again.
    func beginAnew() {
        isPaused.withLock { $0 = false }
        goal.withLock { $0 = RunGoal(matches) }
        isReady.withLock { $0 = false }
        scenario?.beginAnew()
        start()
    }

    /// Starts the time limit of `--timeout`; called when all devices are ready.
    func devicesReady() {
        isReady.withLock { $0 = true }
        guard let timeout else { return }
        clock.after(timeout) { [self] in
            if goal.withLock({ $0.timeIsUp() }) { interruption.interrupt() }
        }
    }

    /// Ends the run; called when its output was closed.
    func outputClosed() {
        goal.withLock { $0.cutShort() }
        interruption.interrupt()
    }

    /// The reason why the run ended, or `nil` if its scenario or its expected events ended it.
    private var cause: String? {
        if goal.withLock({ $0.end }) == .overdue, let timeout {
            let isLate = isLate.withLock { $0 }
            return isLate
                ? "not ready within \(max(timeout, Self.patience).text)"
                : "--timeout (\(timeout.text)) expired"
        }
        return interruption.cause == nil ? nil : "the run was interrupted"
    }

    /// The reason why the scenario did not pass, or `nil` if it passed or there is none.
    var complaint: String? { scenario?.complaint(cause) }

    /// The JUnit report of the scenario, or `nil` if there is none.
    ///
    /// `failure` is the error that ended the run, or `nil` if there was none.
    func report(_ failure: String?) -> String? { scenario?.report(failure ?? cause) }

    /// The error if not all expected events of the run have happened, or `nil`.
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
