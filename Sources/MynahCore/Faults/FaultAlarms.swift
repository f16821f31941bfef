import MynahSupport

/// The actions that a layer of faults takes at a time, and the one task that sleeps until the first.
struct FaultAlarms: Sendable {
    typealias Action = @Sendable (isolated FaultyRadio) -> Void

    private struct Alarm: Sendable {
        var due: Duration
        var action: Action
    }

    let clock: RunClock
    private var alarms: [Alarm] = []
    private var task: Task<Void, Never>?
    /// When the task wakes.
    private var wakeTime: Duration?

    init(_ clock: RunClock) {
        self.clock = clock
    }

    /// Has `radio` do something at a time.
    mutating func add(at due: Duration, of radio: FaultyRadio, _ action: @escaping Action) {
        // Those that are due together keep their order.
        let index = alarms.firstIndex { $0.due > due } ?? alarms.endIndex
        alarms.insert(Alarm(due: due, action: action), at: index)
        arm(radio)
    }

    /// Removes and returns what is due; with an empty list, the task sleeps until the next time.
    mutating func takeDue(_ radio: FaultyRadio) -> [Action] {
        let now = clock.now.offset
        let due = alarms.prefix { $0.due <= now }
        alarms.removeFirst(due.count)
        if due.isEmpty {
            wakeTime = nil
            arm(radio)
        }
        return due.map(\.action)
    }

    mutating func removeAll() {
        alarms = []
        task?.cancel()
        wakeTime = nil
    }

    private mutating func arm(_ radio: FaultyRadio) {
        guard let first = alarms.first?.due, wakeTime.map({ first < $0 }) ?? true else { return }
        task?.cancel()
        wakeTime = first
        task = Task(executorPreference: radio.preferredExecutor) { [clock, weak radio] in
            guard (try? await clock.sleep(until: .init(offset: first))) != nil else { return }
            await radio?.wake()
        }
    }
}
