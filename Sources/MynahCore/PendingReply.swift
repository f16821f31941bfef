import MynahSupport

/// A one-shot answer that is not there yet.
///
/// Whoever handles a request makes one, keeps it and returns `.later(reply)`; the radio takes the answer when it comes.
/// Answering twice is a mistake of the program and traps; dropping it unanswered sends `unlikelyError`.
public final class PendingReply: Sendable {
    /// What a request comes to: bytes for a read, none for a write, or an ATT error.
    public typealias Outcome = Result<[UInt8], ATTError>

    private enum State {
        case waiting
        case answeredEarly(Outcome)
        case awaited(@Sendable (Outcome) -> Void)
        case done
    }

    private let state = Lock<State>(.waiting)

    /// A reply that nobody has given or taken yet.
    public init() {}

    deinit {
        let continuation: (@Sendable (Outcome) -> Void)? = state.withLock { state in
            guard case .awaited(let continuation) = state else { return nil }
            state = .done
            return continuation
        }
        continuation?(.failure(.unlikelyError))
    }

    /// Gives the answer; once.
    public func answer(_ outcome: Outcome) {
        let continuation: (@Sendable (Outcome) -> Void)? = state.withLock { state in
            switch state {
            case .waiting:
                state = .answeredEarly(outcome)
                return nil
            case .awaited(let continuation):
                state = .done
                return continuation
            case .answeredEarly, .done:
                preconditionFailure("a request was answered twice")
            }
        }
        continuation?(outcome)
    }

    /// Takes the answer when it comes, on whatever thread gives it; once, and for radios only.
    public func whenAnswered(_ continuation: @escaping @Sendable (Outcome) -> Void) {
        let early: Outcome? = state.withLock { state in
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
}
