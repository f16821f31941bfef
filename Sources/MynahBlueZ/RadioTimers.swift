import MynahDBus

/// The radio's timers.
struct RadioTimers {
    enum Name: CaseIterable, Sendable {
        /// Repeats the steps that failed while bluetoothd, the adapter or the bus was gone.
        case retry
        /// The notification rate has room again.
        case pace
        /// A request has waited too long for its answer.
        case answer
        /// A notification socket was closed a while ago.
        case doubt
    }

    private let timers: [Name: GLibTimer]

    /// Timers that send their name when they are due.
    init(_ send: @escaping BusEventHandler) {
        timers = Dictionary(
            uniqueKeysWithValues: Name.allCases.map { name in (name, GLibTimer { send(.timer(name)) }) })
    }

    func schedule(_ name: Name, after delay: Duration) {
        timers[name]?.schedule(after: delay)
    }

    func cancel() {
        for timer in timers.values { timer.cancel() }
    }
}
