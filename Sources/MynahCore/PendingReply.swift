/// The answer to a read or a write that is given after the handler has returned.
///
/// A handler makes a reply, stores it and returns `.later(reply.pending)`. Each request needs its own reply.
/// If a reply is released unanswered, the request fails with `unlikelyError`.
public final class PendingReply: Sendable {
    /// The result of a request: the value that was read, no bytes for a write, or an ATT error.
    public typealias Outcome = Result<[UInt8], ATTError>

    /// The object for the radio, which the handler returns in `.later`.
    public let pending = PendingAnswer()

    /// Makes a reply that is not answered yet.
    public init() {}

    deinit {
        pending.reply.give(.failure(.unlikelyError))
    }

    /// Answers the request; can be called on any thread.
    ///
    /// Only the first answer counts. Returns `false`, and sends nothing, if an answer was given before.
    @discardableResult
    public func answer(_ outcome: Outcome) -> Bool {
        pending.reply.give(outcome)
    }
}

/// The radio's part of a `PendingReply`.
///
/// This is a separate object, so that a radio that holds it does not keep the reply alive.
public final class PendingAnswer: Sendable {
    fileprivate let reply = OneShot<PendingReply.Outcome>()

    fileprivate init() {}

    /// Calls `continuation` with the answer, now or when it is given, on the thread that gives it.
    ///
    /// If a handler returned this object for a second request, that request fails with `unlikelyError`.
    package func whenAnswered(_ continuation: @escaping @Sendable (PendingReply.Outcome) -> Void) {
        reply.whenGiven(otherwise: .failure(.unlikelyError), continuation)
    }
}
