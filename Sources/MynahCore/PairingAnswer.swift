/// What pairing asks of the device (Core Specification, Vol 3, Part H, 2.3.5).
public enum PairingStep: Hashable, Sendable {
    /// To show this number, 0 to 999,999, which is typed on the other device; no answer is wanted.
    case display(UInt32)
    /// To say whether the other device shows the same number: `agreed` or `declined`. No answer is a yes.
    case compare(UInt32)
    /// To type the number that the other device shows: `passkey`, or `declined`. No answer is a no.
    case enter
    /// To agree to pair at all, without a number: `agreed` or `declined`. No answer is a yes.
    case agree
}

/// The answer to a step of a pairing.
public enum PairingAnswer: Hashable, Sendable {
    /// Yes.
    case agreed
    /// No; the pairing fails.
    case declined
    /// The number that was typed, 0 to 999,999; any other fails the pairing.
    case passkey(UInt32)
}

extension PairingStep {
    /// What an answer, or none, comes to; an answer that is for another step declines.
    package func taking(_ answer: PairingAnswer?) -> PairingAnswer {
        switch (self, answer) {
        case (.enter, .passkey(let number)): .passkey(number)
        case (.enter, _), (_, .declined), (_, .passkey): .declined
        case (_, .agreed), (_, nil): .agreed
        }
    }
}

/// The answer to a step of a pairing, to be given after the handler has returned.
///
/// A handler makes one, keeps it and returns `.pairingLater(reply.pending)`. Each step needs a reply of its
/// own. If the reply is dropped unanswered, the step is declined.
public final class PendingPairingReply: Sendable {
    /// The radio's end, which the handler returns in `.pairingLater`.
    public let pending = PendingPairingAnswer()

    /// Makes a reply that has not been given.
    public init() {}

    deinit {
        pending.reply.give(.declined)
    }

    /// Answers the step, from any thread.
    ///
    /// The first answer counts. Returns `false`, and does nothing, if an answer was given before.
    @discardableResult
    public func answer(_ answer: PairingAnswer) -> Bool {
        pending.reply.give(answer)
    }
}

/// The radio's end of a `PendingPairingReply`, which it does not keep alive.
public final class PendingPairingAnswer: Sendable {
    fileprivate let reply = OneShot<PairingAnswer>()

    fileprivate init() {}

    /// Calls `continuation` with the answer when it is given, on the thread that gives it.
    ///
    /// If a handler returned this for a second step, that step is declined.
    package func whenAnswered(_ continuation: @escaping @Sendable (PairingAnswer) -> Void) {
        reply.whenGiven(otherwise: .declined, continuation)
    }
}
