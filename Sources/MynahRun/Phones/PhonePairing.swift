import MynahCore
import MynahEmulator
import MynahSupport

/// The answers of a test to the questions of a phone's pairings.
final class PhonePairing: Sendable {
    private struct State {
        var wish: PairingWish
        /// The question for a passkey that is not answered yet.
        var asked: PendingPairingReply?
    }

    private let state: Lock<State>

    /// Makes answers that a `pair` of the test can replace.
    init(_ wish: PairingWish) { state = Lock(State(wish: wish)) }

    /// Replaces the answers; a passkey that is known remains known.
    func use(_ wish: PairingWish) {
        state.withLock { state in
            state.wish = PairingWish(passkey: wish.passkey ?? state.wish.passkey, accepts: wish.accepts)
        }
        if let passkey = wish.passkey { _ = enter(passkey) }
    }

    /// Enters the passkey that a pairing asks for; returns `false` if none asks.
    func enter(_ passkey: UInt32) -> Bool {
        let asked = state.withLock { state in
            defer { state.asked = nil }
            return state.asked
        }
        return asked?.answer(.passkey(passkey)) ?? false
    }

    /// The answer to a question; that for a passkey may be given later.
    func answer(to step: PairingStep) -> RadioAnswer {
        state.withLock { state in
            switch step {
            case .display: return .none
            case .compare, .agree: return .pairing(state.wish.accepts ? .agreed : .declined)
            case .enter:
                guard state.wish.accepts else { return .pairing(.declined) }
                if let passkey = state.wish.passkey { return .pairing(.passkey(passkey)) }
                let reply = PendingPairingReply()
                state.asked = reply
                return .pairingLater(reply.pending)
            }
        }
    }
}
