public import MynahCore
import MynahSupport

/// An event of a `PeripheralManager`, which may be a request to be answered.
public struct DeliveredEvent: Sendable {
    /// The event.
    public let event: PeripheralEvent
    private let reply: SharedReply?

    /// Makes an event that needs no answer.
    init(_ event: PeripheralEvent) {
        self.event = event
        reply = nil
    }

    /// Makes a request to be answered, with the reply to the radio.
    init(_ event: PeripheralEvent, reply: PendingReply) {
        self.event = event
        self.reply = SharedReply(reply)
    }

    /// Answers a read with the bytes from its offset on, a write with no bytes, or either with an ATT error.
    ///
    /// The first answer counts. Returns `false`, and sends nothing, if an answer was given before, by any
    /// reader, or if the event needs no answer. A request that every reader drops unanswered fails with
    /// `unlikelyError`.
    @discardableResult
    public func respond(_ outcome: PendingReply.Outcome) -> Bool {
        reply?.answer(outcome) ?? false
    }

    /// Accepts a write, or answers a read of a value with the bytes from the request's offset on.
    ///
    /// A read beyond the end of the value is answered with the error Invalid Offset (Core Specification,
    /// Vol 3, Part F, 3.4.4.5). A write ignores `value`. Returns what `respond` returns.
    @discardableResult
    public func accept(_ value: [UInt8] = []) -> Bool {
        guard case .read(let request, _) = event else { return respond(.success([])) }
        guard request.offset <= value.count else { return reject(.invalidOffset) }
        return respond(.success(Array(value[request.offset...])))
    }

    /// Refuses a request with an ATT error; returns what `respond` returns.
    @discardableResult
    public func reject(_ error: ATTError) -> Bool {
        respond(.failure(error))
    }
}

/// A reply to the radio that several readers share; the first answer counts.
private final class SharedReply: Sendable {
    private let reply: Lock<PendingReply?>

    init(_ reply: PendingReply) {
        self.reply = Lock(reply)
    }

    func answer(_ outcome: PendingReply.Outcome) -> Bool {
        let taken = reply.withLock { reply in
            defer { reply = nil }
            return reply
        }
        taken?.answer(outcome)
        return taken != nil
    }
}

extension EventReaders<DeliveredEvent> {
    init() {
        self.init { DeliveredEvent(.missed($0)) }
    }

    /// Gives an event to every reader; for a request, returns the first answer of a reader.
    func handle(_ event: PeripheralEvent) -> RadioAnswer {
        guard event.wantsResponse else {
            yield(DeliveredEvent(event))
            return .none
        }
        let reply = PendingReply()
        yield(DeliveredEvent(event, reply: reply))
        return .later(reply.pending)
    }
}

extension PeripheralEvent {
    /// Whether the event is a request that needs an answer.
    public var wantsResponse: Bool {
        switch self {
        case .read: true
        case .write(let request, _): request.wantsResponse
        default: false
        }
    }
}
