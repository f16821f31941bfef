import MynahCore
import MynahSupport

/// An answer that is given when the sink has given it and its delay has elapsed.
final class HeldAnswer: Sendable {
    private struct State {
        var outcome: PendingReply.Outcome?
        var isReleased = false
    }

    private let reply = PendingReply()
    private let state = Lock(State())

    var pending: PendingAnswer { reply.pending }

    /// Begins with the sink's answer, which may be pending.
    init(_ answer: RadioAnswer) {
        switch answer {
        case .answer(let outcome): give(outcome)
        case .later(let pending): pending.whenAnswered { self.give($0) }
        case .none, .pairing, .pairingLater: give(.failure(.unlikelyError))
        }
    }

    private func give(_ outcome: PendingReply.Outcome) {
        let isReleased = state.withLock { state in
            state.outcome = outcome
            return state.isReleased
        }
        if isReleased { reply.answer(outcome) }
    }

    /// Handles the end of the delay.
    func release() {
        let outcome = state.withLock { state in
            state.isReleased = true
            return state.outcome
        }
        if let outcome { reply.answer(outcome) }
    }
}
