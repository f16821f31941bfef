import MynahCore

/// What a pairing wants done.
enum PairingAction: Hashable, Sendable {
    /// Send a PDU over the Security Manager's channel.
    case send(SMPPDU)
    /// Ask the user; the answer goes to `answer`, except that a number to display wants none.
    case ask(PairingStep)
    /// The key for the link: an initiator starts encryption with it, EDIV and Rand zero; a responder has it ready for when
    /// the controller asks.
    case encrypt(SecretKey)
    /// The peripheral wants security: encrypt with a bond that is good enough, or start pairing.
    case securityRequested(AuthenticationRequirements)
    /// The link is encrypted with the new key, and is worth this.
    case secured(LinkSecurity)
    /// All keys are there, to be kept.
    case bonded(Bond)
    /// Pairing is over, well.
    case paired
    /// Pairing is over.
    case failed(PairingFailure)
}

/// Why a pairing came to nothing.
enum PairingFailure: Hashable, Sendable {
    /// We ended it.
    case refused(SMPReason)
    /// The peer did.
    case refusedByPeer(SMPReason)
    /// Nothing happened for 30 s; nothing more goes over this link's channel (Core Specification, Vol 3, Part H, 3.4).
    case timedOut
    /// The controllers did not encrypt.
    case encryptionFailed
}

/// What the user said.
enum PairingAnswer: Hashable, Sendable {
    /// To `agree` and `compare`.
    case agreed(Bool)
    /// To `enter`; nil: gave up.
    case passkey(UInt32?)
}
