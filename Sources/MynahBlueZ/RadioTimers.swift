import MynahDBus

/// The radio's timers.
struct RadioTimers {
    enum Name: CaseIterable, Sendable {
        /// Repeats steps that failed because bluetoothd, the adapter or the bus was missing.
        case retry
        /// The notification rate allows another notification.
        case pace
        /// A pending request is overdue, and has to be answered with an error.
        case answer
        /// A notification socket closed some time ago, and no other reason was found: the central has
        /// unsubscribed.
        case doubt
    }

    private let timers: [Name: GLibTimer]

    /// Makes timers that send their names as events.
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
