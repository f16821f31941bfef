/// A deadline on the executor, without a thread or a task of its own: armed, moved, called off, armed again.
public final class GLibTimer: Sendable {
    private let source: TimerSource

    /// A timer that runs `handler` on the executor each time its deadline passes.
    public init(_ handler: @escaping @Sendable () -> Void) {
        source = TimerSource(handler)
        source.attach(to: GLibExecutor.shared.context)
    }

    deinit {
        source.destroy()
    }

    /// Arms the timer, or moves its deadline to `delay` from now.
    public func schedule(after delay: Duration) {
        source.setReadyTime(.monotonicNow(plus: delay))
    }

    /// Calls the deadline off; called on the executor, the handler does not run any more.
    public func cancel() {
        source.setReadyTime(nil)
    }
}

private final class TimerSource: LoopSource, @unchecked Sendable {
    // `@unchecked`: adds one constant.
    private let handler: @Sendable () -> Void

    init(_ handler: @escaping @Sendable () -> Void) {
        self.handler = handler
    }

    override func dispatch() {
        setReadyTime(nil)
        handler()
    }
}

extension Int64 {
    /// The monotonic clock in microseconds, `delay` from now; as far as it can be told.
    static func monotonicNow(plus delay: Duration) -> Int64 {
        let (seconds, attoseconds) = delay.components
        let (micros, tooMuch) = seconds.multipliedReportingOverflow(by: 1_000_000)
        // Rounded up: a timer may be late, never early.
        let fraction = (attoseconds + 999_999_999_999) / 1_000_000_000_000
        let (time, overflow) = LoopSource.now.addingReportingOverflow(micros)
        guard !tooMuch, !overflow, time < .max - 1_000_000 else { return seconds < 0 ? 0 : .max }
        return Swift.max(0, time + fraction)
    }
}
