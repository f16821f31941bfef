import MynahSupport

/// An answer that is given later, once, by the code that holds this.
///
/// A handler makes one, keeps it and returns `.later(reply.pending)`. Answering twice is a mistake of the program and
/// traps; dropping it unanswered sends `unlikelyError`.
public final class PendingReply: Sendable {
    /// What a request comes to: bytes for a read, none for a write, or an ATT error.
    public typealias Outcome = Result<[UInt8], ATTError>

    /// The radio's end of it.
    public let pending = PendingAnswer()

    /// A reply that nobody has given or taken yet.
    public init() {}

    deinit {
        pending.give(.failure(.unlikelyError), isOnlyIfMissing: true)
    }

    /// Gives the answer; once.
    public func answer(_ outcome: Outcome) {
        pending.give(outcome, isOnlyIfMissing: false)
    }
}

/// The radio's end of a `PendingReply`.
///
/// Apart from it, so that a radio which still holds its end does not keep a reply alive that its handler has dropped.
public final class PendingAnswer: Sendable {
    private enum State {
        case waiting
        case answeredEarly(PendingReply.Outcome)
        case awaited(@Sendable (PendingReply.Outcome) -> Void)
        case done
    }

    private let state = Lock<State>(.waiting)

    init() {}

    /// Takes the answer when it comes, on whatever thread gives it; once.
    public func whenAnswered(_ continuation: @escaping @Sendable (PendingReply.Outcome) -> Void) {
        let early: PendingReply.Outcome? = state.withLock { state in
            switch state {
            case .waiting:
                state = .awaited(continuation)
                return nil
            case .answeredEarly(let outcome):
                state = .done
                return outcome
            case .awaited, .done:
                preconditionFailure("a reply was taken twice")
            }
        }
        if let early { continuation(early) }
    }

    func give(_ outcome: PendingReply.Outcome, isOnlyIfMissing: Bool) {
        let continuation: (@Sendable (PendingReply.Outcome) -> Void)? = state.withLock { state in
            switch state {
            case .waiting:
                state = .answeredEarly(outcome)
                return nil
            case .awaited(let continuation):
                state = .done
                return continuation
            case .answeredEarly, .done:
                precondition(isOnlyIfMissing, "a request was answered twice")
                return nil
            }
        }
        continuation?(outcome)
    }
}
