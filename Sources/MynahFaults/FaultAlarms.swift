import MynahSupport

/// The steps that a layer of faults takes at a time, and the timer that waits for the first.
struct FaultAlarms: Sendable {
    /// Called with the number of the timer that has woken.
    typealias Wake = @Sendable (UInt64) async -> Void

    private struct Alarm: Sendable {
        var due: Duration
        var step: FaultStep
    }

    let clock: RunClock
    private var alarms: [Alarm] = []
    private var timer: DeadlineTimer

    init(_ clock: RunClock) {
        self.clock = clock
        timer = DeadlineTimer(clock)
    }

    /// Has a step taken at a time.
    mutating func add(_ step: FaultStep, at due: Duration, wake: @escaping Wake) {
        // Those that are due together keep their order.
        let index = alarms.firstIndex { $0.due > due } ?? alarms.endIndex
        alarms.insert(Alarm(due: due, step: step), at: index)
        timer.arm(alarms.first?.due, wake: wake)
    }

    /// Notes that the timer has woken; returns whether it is the one that was armed last.
    mutating func woke(_ number: UInt64) -> Bool { timer.woke(number) }

    /// Removes and returns the next step that is due; with `nil`, the timer waits for the next time.
    mutating func takeDue(wake: @escaping Wake) -> FaultStep? {
        guard let first = alarms.first, first.due <= clock.now.offset else {
            timer.arm(alarms.first?.due, wake: wake)
            return nil
        }
        return alarms.removeFirst().step
    }

    mutating func removeAll() {
        alarms = []
        timer.stop()
    }
}
