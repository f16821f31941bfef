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
    /// Whether the time was up before every device was ready.
    private let isLate = Lock(false)
    private let timeout: Duration?
    private let interruption: Interruption

    /// The time that a run has to be ready, even if --timeout is shorter.
    private static let patience = Duration.seconds(30)

    init(_ matches: [EventMatch], timeout: Duration?, _ interruption: Interruption) {
        awaitsEvents = !matches.isEmpty
        goal = Lock(RunGoal(matches))
        self.timeout = timeout
        self.interruption = interruption
    }

    /// Takes an event after it was written, so that it is there when the run ends.
    ///
    /// Which app is on the screen counts from `ready` on: while the apps of a phone are opened, one takes it
    /// from the other.
    func take(_ event: DeviceEvent) {
        guard awaitsEvents, !Self.isAboutScreen(event.name) || isReady.withLock({ $0 }) else { return }
        if goal.withLock({ $0.take(event) }) { interruption.interrupt() }
    }

    private static func isAboutScreen(_ name: DeviceEvent.Name) -> Bool {
        name == .appForeground || name == .appBackground
    }

    /// The run starts: it is given `--timeout`, and no less than `patience`, to be ready.
    func start() {
        guard let timeout else { return }
        wait(max(timeout, Self.patience)) { [self] in
            guard !isReady.withLock({ $0 }), goal.withLock({ $0.timeIsUp() }) else { return }
            isLate.withLock { $0 = true }
            interruption.interrupt()
        }
    }

    /// Every device is ready, and the time of `--timeout` begins.
    func begin() {
        isReady.withLock { $0 = true }
        guard let timeout else { return }
        wait(timeout) { [self] in
            if goal.withLock({ $0.timeIsUp() }) { interruption.interrupt() }
        }
    }

    private func wait(_ time: Duration, _ body: @escaping @Sendable () -> Void) {
        let (seconds, attoseconds) = time.components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        DispatchQueue.global().asyncAfter(
            deadline: .now() + .nanoseconds(Int(nanoseconds)), execute: body)
    }

    /// Nobody reads the events any more, which ends the run.
    func outputClosed() {
        goal.withLock { $0.cutShort() }
        interruption.interrupt()
    }

    /// The error if the run did not reach its goal, else `nil`.
    var problem: String? {
        let (missed, end) = goal.withLock { ($0.missed, $0.end) }
        let list = PrintableText.of(missed.joined(separator: "; "))
        guard end != .cutShort else { return "not seen before standard output was closed: \(list)" }
        guard let timeout else { return nil }
        guard !isLate.withLock({ $0 }) else {
            return "not ready within \(max(timeout, Self.patience).text)"
        }
        return missed.isEmpty ? nil : "not seen within \(timeout.text): \(list)"
    }
}
