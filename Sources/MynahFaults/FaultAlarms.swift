import MynahSupport

/// The actions that a layer of faults takes at a time, and the timer that waits for the first.
struct FaultAlarms: Sendable {
    typealias Action = @Sendable (isolated FaultyRadio) -> Void

    private struct Alarm: Sendable {
        var due: Duration
        var action: Action
    }

    let clock: RunClock
    private var alarms: [Alarm] = []
    private var timer: DeadlineTimer

    init(_ clock: RunClock) {
        self.clock = clock
        timer = DeadlineTimer(clock)
    }

    /// Has `radio` do something at a time.
    mutating func add(at due: Duration, of radio: FaultyRadio, _ action: @escaping Action) {
        // Those that are due together keep their order.
        let index = alarms.firstIndex { $0.due > due } ?? alarms.endIndex
        alarms.insert(Alarm(due: due, action: action), at: index)
        arm(radio)
    }

    /// Notes that the timer has woken; returns whether it is the one that was armed last.
    mutating func woke(_ number: UInt64) -> Bool { timer.woke(number) }

    /// Removes and returns what is due; with an empty list, the timer waits for the next time.
    mutating func takeDue(_ radio: FaultyRadio) -> [Action] {
        let now = clock.now.offset
        let due = alarms.prefix { $0.due <= now }
        alarms.removeFirst(due.count)
        if due.isEmpty { arm(radio) }
        return due.map(\.action)
    }

    mutating func removeAll() {
        alarms = []
        timer.stop()
    }

    private mutating func arm(_ radio: FaultyRadio) {
        timer.arm(alarms.first?.due) { [weak radio] in await radio?.wake($0) }
    }
}
