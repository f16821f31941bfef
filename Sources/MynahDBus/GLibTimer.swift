/// A timer on the executor, without a thread or task of its own.
///
/// The timer can be scheduled any number of times.
public final class GLibTimer: Sendable {
    private let source: TimerSource

    /// Makes a timer that calls `handler` on the executor each time its deadline passes.
    public init(_ handler: @escaping @Sendable () -> Void) {
        source = TimerSource(handler)
        source.attach(to: GLibExecutor.shared.context)
    }

    deinit {
        source.destroy()
    }

    /// Sets the deadline to `delay` from now; an earlier deadline is replaced.
    public func schedule(after delay: Duration) {
        source.setReadyTime(.monotonicNow(plus: delay))
    }

    /// Removes the deadline.
    ///
    /// If this is called on the executor, no further call of the handler follows.
    public func cancel() {
        source.setReadyTime(nil)
    }
}

private final class TimerSource: LoopSource, @unchecked Sendable {
    // `@unchecked`: this class adds only a constant.
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
    /// The time on the monotonic clock after a delay, in microseconds, limited to 0 through `Int64.max`.
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
