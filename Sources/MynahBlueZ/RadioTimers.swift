import MynahDBus

/// The radio's timers.
struct RadioTimers {
    enum Name: CaseIterable, Sendable {
        /// The radio must repeat steps that failed because bluetoothd, the adapter or the bus was missing.
        case retry
        /// The notification rate allows another notification.
        case pace
        /// A pending request is overdue, and has to be answered with an error.
        case answer
        /// `Notifier.resolveDoubts` must decide if the centrals of closed sockets have unsubscribed.
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
