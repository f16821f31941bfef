import MynahCore
import MynahEmulator
import MynahSupport

/// The answers of a test to the questions of a phone's pairings.
final class PhonePairing: Sendable {
    private struct State {
        var wish: PairingWish
        /// The pending reply to a pairing that needs a passkey, or `nil` if no pairing does.
        var asked: PendingPairingReply?
    }

    private let state: Lock<State>

    /// Makes the answers for a phone's settings; a `pair` request of the test replaces them.
    init(_ wish: PairingWish) { state = Lock(State(wish: wish)) }

    /// Replaces the answers, but keeps the current passkey if `wish` has none.
    ///
    /// A new passkey is also entered in a pairing that waits for one.
    func use(_ wish: PairingWish) {
        state.withLock { state in
            state.wish = PairingWish(passkey: wish.passkey ?? state.wish.passkey, accepts: wish.accepts)
        }
        if let passkey = wish.passkey { _ = enter(passkey) }
    }

    /// Enters a passkey in the pairing that waits for one; returns `false` if none does.
    func enter(_ passkey: UInt32) -> Bool {
        let asked = state.withLock { state in
            defer { state.asked = nil }
            return state.asked
        }
        return asked?.answer(.passkey(passkey)) ?? false
    }

    /// The answer to a step of a pairing.
    ///
    /// If the step needs a passkey that is not known yet, the answer follows when the test enters the
    /// passkey.
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
