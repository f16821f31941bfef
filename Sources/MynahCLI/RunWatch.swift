import Dispatch
import MynahConsole
import MynahEmulator
import MynahProfiles
import MynahSupport

/// Ends a run when what `--until` waits for has come, or when `--timeout` is over.
final class RunWatch: Sendable {
    /// Whether it waits for events.
    let awaitsEvents: Bool
    private let goal: Lock<RunGoal>
    /// Whether every device is ready.
    private let isReady = Lock(false)
    private let timeout: Duration?
    private let interruption: Interruption

    init(_ matches: [EventMatch], timeout: Duration?, _ interruption: Interruption) {
        awaitsEvents = !matches.isEmpty
        goal = Lock(RunGoal(matches))
        self.timeout = timeout
        self.interruption = interruption
    }

    /// Takes an event after it was written, so that it is there when the run ends.
    ///
    /// Which app is on the screen counts from `ready` on: while the apps of a phone are opened, one takes it from the other.
    func take(_ event: DeviceEvent) {
        guard awaitsEvents, !Self.isAboutScreen(event.name) || isReady.withLock({ $0 }) else { return }
        if goal.withLock({ $0.take(event) }) { interruption.interrupt() }
    }

    private static func isAboutScreen(_ name: DeviceEvent.Name) -> Bool {
        name == .appForeground || name == .appBackground
    }

    /// Every device is ready, and the time of `--timeout` begins.
    func begin() {
        isReady.withLock { $0 = true }
        guard let timeout else { return }
        let (seconds, attoseconds) = timeout.components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(nanoseconds))) { [self] in
            if goal.withLock({ $0.timeIsUp() }) { interruption.interrupt() }
        }
    }

    /// What did not come in time, for the user; `nil` if nothing was waited for in vain.
    var problem: String? {
        let missed = goal.withLock { $0.missed }
        guard let timeout, !missed.isEmpty else { return nil }
        return "not seen within \(DurationText.format(timeout)): \(missed.joined(separator: "; "))"
    }
}
