import MynahSupport

/// The readers of an event sequence: each gets every event that occurs after its sequence was made.
struct EventReaders<Event: Sendable> {
    /// The largest number of unread events of a reader; without a limit, any peer could fill the memory.
    static var limit: Int { 4096 }

    private var readers: [EventReader<Event>] = []
    /// Makes the event that reports the number of dropped events.
    ///
    /// If it is `nil`, a full reader loses its oldest event without a report.
    private let missed: (@Sendable (Int) -> Event)?

    init(missed: (@Sendable (Int) -> Event)?) {
        self.missed = missed
    }

    /// `true` if no reader is left.
    var isEmpty: Bool { !readers.contains { $0.isReading } }

    /// Adds a reader, and returns its sequence.
    ///
    /// `onCancel` is called when the sequence is dropped before its end.
    mutating func add(onCancel: (@Sendable () -> Void)? = nil) -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Event.self,
            bufferingPolicy: missed == nil ? .bufferingNewest(Self.limit) : .bufferingOldest(Self.limit))
        let reader = EventReader(continuation)
        // Unread events are dropped with the stream, and the requests among them fail.
        continuation.onTermination = { [weak reader] reason in
            reader?.end()
            if case .cancelled = reason { onCancel?() }
        }
        readers.removeAll { !$0.isReading }
        readers.append(reader)
        return stream
    }

    /// Gives an event to every reader.
    func yield(_ event: Event) {
        for reader in readers { reader.yield(event, missed: missed) }
    }

    /// Ends every reader's sequence after the events that it holds.
    mutating func finish() {
        for reader in readers { reader.finish() }
        readers = []
    }
}

/// One reader of an event sequence.
private final class EventReader<Event: Sendable>: Sendable {
    private struct State {
        /// The reader's stream, or `nil` if the stream was dropped or has ended.
        var continuation: AsyncStream<Event>.Continuation?
        /// The number of events that were dropped since the last one that was read.
        var missed = 0
    }

    private let state: Lock<State>

    init(_ continuation: AsyncStream<Event>.Continuation) {
        state = Lock(State(continuation: continuation))
    }

    var isReading: Bool { state.withLock { $0.continuation != nil } }

    func yield(_ event: Event, missed: ((Int) -> Event)?) {
        state.withLock { state in
            guard let continuation = state.continuation else { return }
            guard let missed else {
                continuation.yield(event)
                return
            }
            if state.missed > 0, case .enqueued = continuation.yield(missed(state.missed)) {
                state.missed = 0
            }
            if state.missed > 0 {
                state.missed += 1
            } else if case .dropped = continuation.yield(event) {
                state.missed = 1
            }
        }
    }

    func end() {
        let continuation = state.withLock { state in
            defer { state.continuation = nil }
            return state.continuation
        }
        withExtendedLifetime(continuation) {}
    }

    func finish() {
        let continuation = state.withLock { $0.continuation }
        continuation?.finish()
    }
}
