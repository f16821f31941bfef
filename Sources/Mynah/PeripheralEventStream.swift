public import MynahCore
import MynahSupport

/// An event, and the way to answer it where it wants an answer.
public struct DeliveredEvent: Sendable {
    /// What happened.
    public let event: PeripheralEvent
    let reply: PendingReply?

    /// Whether an answer is wanted.
    public var wantsResponse: Bool { reply != nil }

    /// Answers a read with the bytes from its offset on, a write with none, either with an ATT error; once.
    ///
    /// Does nothing where no answer is wanted. A request that is dropped unanswered gets `unlikelyError`.
    public func respond(_ outcome: PendingReply.Outcome) {
        reply?.answer(outcome)
    }
}

/// The sink behind a manager's event sequence.
final class PeripheralEventStream: PeripheralSink {
    let stream: AsyncStream<DeliveredEvent>
    private let continuation: AsyncStream<DeliveredEvent>.Continuation
    private let missed = Lock(0)

    init() {
        // Bounded: a central that floods us with commands must not grow our memory.
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(4096))
    }

    func handle(_ event: PeripheralEvent) -> RadioAnswer {
        guard event.wantsResponse else {
            yield(DeliveredEvent(event: event, reply: nil))
            return .none
        }
        let reply = PendingReply()
        yield(DeliveredEvent(event: event, reply: reply))
        return .later(reply.pending)
    }

    private func yield(_ event: DeliveredEvent) {
        missed.withLock { missed in
            if missed > 0,
                case .enqueued = continuation.yield(DeliveredEvent(event: .missed(missed), reply: nil))
            {
                missed = 0
            }
            if missed > 0 {
                missed += 1
            } else if case .dropped = continuation.yield(event) {
                missed = 1
            }
        }
    }

    func finish() {
        continuation.finish()
    }
}

extension PeripheralEvent {
    /// Whether the radio waits for an answer.
    public var wantsResponse: Bool {
        switch self {
        case .read: true
        case .write(let request, _): request.wantsResponse
        default: false
        }
    }
}
