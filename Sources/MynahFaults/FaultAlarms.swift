import MynahSupport

/// The steps that `FaultyRadio` carries out at later times, and the timer for the next one.
struct FaultAlarms: Sendable {
    /// A function that a timer calls when it fires, with the number of the timer.
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

    /// Adds a step that is carried out at this time.
    mutating func add(_ step: FaultStep, at due: Duration, wake: @escaping Wake) {
        // Steps with the same time keep their order.
        let index = alarms.firstIndex { $0.due > due } ?? alarms.endIndex
        alarms.insert(Alarm(due: due, step: step), at: index)
        timer.arm(alarms.first?.due, wake: wake)
    }

    /// Returns whether the timer that has fired is the current one, and not one that was replaced.
    mutating func woke(_ number: UInt64) -> Bool { timer.woke(number) }

    /// Removes and returns the next step whose time has come, or returns `nil`.
    ///
    /// Before it returns `nil`, it sets the timer for the next step, if there is one.
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
