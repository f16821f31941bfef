import MynahDBus

/// The radio's timers.
struct RadioTimers {
    enum Name: CaseIterable, Sendable {
        /// Repeats steps that failed because bluetoothd, the adapter or the bus was missing.
        case retry
        /// The notification rate allows another notification.
        case pace
        /// A request has to be answered, because it has waited too long.
        case answer
        /// The closing of a notification socket has to be explained now.
        case doubt
    }

    private let timers: [Name: GLibTimer]

    /// Makes timers that send their names when their times have come.
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
