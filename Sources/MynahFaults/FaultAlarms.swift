import MynahSupport

/// The steps that `FaultyRadio` carries out at a time, and the timer for the first of them.
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

    /// Adds a step that is carried out at a time.
    mutating func add(_ step: FaultStep, at due: Duration, wake: @escaping Wake) {
        // Those that are due together keep their order.
        let index = alarms.firstIndex { $0.due > due } ?? alarms.endIndex
        alarms.insert(Alarm(due: due, step: step), at: index)
        timer.arm(alarms.first?.due, wake: wake)
    }

    /// Notes that a timer has woken; returns whether it is the current one.
    mutating func woke(_ number: UInt64) -> Bool { timer.woke(number) }

    /// Removes and returns the next step that is due; if it returns `nil`, the timer waits for the next step.
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
