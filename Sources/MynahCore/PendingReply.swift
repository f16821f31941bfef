/// An answer that is given later, once, by the code that holds this.
///
/// A handler makes one, keeps it and returns `.later(reply.pending)`. Answering twice is a mistake of the
/// program and traps; dropping it unanswered sends `unlikelyError`.
public final class PendingReply: Sendable {
    /// The outcome of a request: bytes for a read, no bytes for a write, or an ATT error.
    public typealias Outcome = Result<[UInt8], ATTError>

    /// The radio's end of it.
    public let pending = PendingAnswer()

    /// A reply that nobody has given or taken yet.
    public init() {}

    deinit {
        pending.reply.give(.failure(.unlikelyError), ifMissing: true)
    }

    /// Gives the answer; once.
    public func answer(_ outcome: Outcome) {
        pending.reply.give(outcome)
    }
}

/// The radio's end of a `PendingReply`.
///
/// Apart from it, so that a radio which still holds its end does not keep a reply alive that its handler has
/// dropped.
public final class PendingAnswer: Sendable {
    fileprivate let reply = OneShot<PendingReply.Outcome>()

    fileprivate init() {}

    /// Takes the answer when it is given, once, on the thread that gives it.
    package func whenAnswered(_ continuation: @escaping @Sendable (PendingReply.Outcome) -> Void) {
        reply.whenGiven(continuation)
    }
}
