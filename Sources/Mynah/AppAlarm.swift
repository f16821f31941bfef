import MynahSupport

/// Wakes an app's life at its deadline.
struct AppAlarm {
    private var set: (task: Task<Void, Never>, at: RunClock.Instant)?

    /// Sets it to a deadline, or to none if that is `nil`; `start` begins the wait for a new one.
    mutating func set(_ deadline: RunClock.Instant?, start: (RunClock.Instant) -> Task<Void, Never>) {
        guard set?.at != deadline else { return }
        cancel()
        set = deadline.map { (start($0), $0) }
    }

    mutating func cancel() {
        set?.task.cancel()
        set = nil
    }

    /// The deadline was reached.
    mutating func rang() {
        set = nil
    }
}
