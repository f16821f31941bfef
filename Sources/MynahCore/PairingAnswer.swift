/// An action that pairing requires of the device or its user (Core Specification, Vol 3, Part H, 2.3.5).
public enum PairingStep: Hashable, Sendable {
    /// Show this passkey, 0 to 999,999, which the user enters on the other device; no answer is needed.
    case display(UInt32)
    /// Compare this number with that of the other device.
    ///
    /// The answer is `agreed` or `declined`, by default `agreed`.
    case compare(UInt32)
    /// Enter the passkey that the other device shows.
    ///
    /// The answer is `passkey` or `declined`, by default `declined`.
    case enter
    /// Consent to a pairing without a number.
    ///
    /// The answer is `agreed` or `declined`, by default `agreed`.
    case agree
}

/// The answer to a pairing step.
public enum PairingAnswer: Hashable, Sendable {
    /// The user consents, or the numbers are equal.
    case agreed
    /// The user declines, which fails the pairing.
    case declined
    /// The passkey that was entered, 0 to 999,999; any other number fails the pairing.
    case passkey(UInt32)
}

extension PairingStep {
    /// Returns the answer, the step's default for `nil`, or `declined` for an answer that the step cannot
    /// have.
    package func taking(_ answer: PairingAnswer?) -> PairingAnswer {
        switch (self, answer) {
        case (.enter, .passkey(let number)): .passkey(number)
        case (.enter, _), (_, .declined), (_, .passkey): .declined
        case (_, .agreed), (_, nil): .agreed
        }
    }
}

/// The answer to a pairing step that is given after the handler has returned.
///
/// A handler makes a reply, stores it and returns `.pairingLater(reply.pending)`. Each step needs its own
/// reply. If a reply is released unanswered, the step is declined.
public final class PendingPairingReply: Sendable {
    /// The object for the radio, which the handler returns in `.pairingLater`.
    public let pending = PendingPairingAnswer()

    /// Makes a reply that is not answered yet.
    public init() {}

    deinit {
        pending.reply.give(.declined)
    }

    /// Answers the step; can be called on any thread.
    ///
    /// Only the first answer counts. Returns `false`, and does nothing, if an answer was given before.
    @discardableResult
    public func answer(_ answer: PairingAnswer) -> Bool {
        pending.reply.give(answer)
    }
}

/// The radio's part of a `PendingPairingReply`.
///
/// This is a separate object, so that a radio that holds it does not keep the reply alive.
public final class PendingPairingAnswer: Sendable {
    fileprivate let reply = OneShot<PairingAnswer>()

    fileprivate init() {}

    /// Calls `continuation` with the answer, now or when it is given, on the thread that gives it.
    ///
    /// If a handler returned this object for a second step, that step is declined.
    package func whenAnswered(_ continuation: @escaping @Sendable (PairingAnswer) -> Void) {
        reply.whenGiven(otherwise: .declined, continuation)
    }
}
