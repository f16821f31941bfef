import MynahSupport

/// The timer for the next deadline of an app's life cycle.
struct AppAlarm {
    private var set: (task: Task<Void, Never>, at: RunClock.Instant)?

    /// Sets the timer to a deadline, or stops it if the deadline is `nil`.
    ///
    /// Calls `start` only if the deadline changed; `start` returns the task that waits for it.
    mutating func set(_ deadline: RunClock.Instant?, start: (RunClock.Instant) -> Task<Void, Never>) {
        guard set?.at != deadline else { return }
        cancel()
        set = deadline.map { (start($0), $0) }
    }

    mutating func cancel() {
        set?.task.cancel()
        set = nil
    }

    /// Clears the timer after its deadline was reached.
    mutating func rang() {
        set = nil
    }
}
