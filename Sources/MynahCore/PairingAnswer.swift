/// A question that pairing asks of the device (Core Specification, Vol 3, Part H, 2.3.5).
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
    /// Returns the answer if it fits this step, or else an answer that declines.
    package func taking(_ answer: PairingAnswer?) -> PairingAnswer {
        switch (self, answer) {
        case (.enter, .passkey(let number)): .passkey(number)
        case (.enter, _), (_, .declined), (_, .passkey): .declined
        case (_, .agreed), (_, nil): .agreed
        }
    }
}

/// An answer to a step of a pairing that is given later, once, by the code that holds this.
///
/// A handler makes one, keeps it and returns `.pairingLater(reply.pending)`. Answering twice is a mistake of
/// the program and traps; dropping it unanswered declines.
public final class PendingPairingReply: Sendable {
    /// The radio's end of it.
    public let pending = PendingPairingAnswer()

    /// A reply that nobody has given or taken yet.
    public init() {}

    deinit {
        pending.reply.give(.declined, ifMissing: true)
    }

    /// Gives the answer; once.
    public func answer(_ answer: PairingAnswer) {
        pending.reply.give(answer)
    }
}

/// The radio's end of a `PendingPairingReply`, which it does not keep alive.
public final class PendingPairingAnswer: Sendable {
    fileprivate let reply = OneShot<PairingAnswer>()

    fileprivate init() {}

    /// Takes the answer when it is given, once, on the thread that gives it.
    package func whenAnswered(_ continuation: @escaping @Sendable (PairingAnswer) -> Void) {
        reply.whenGiven(continuation)
    }
}
