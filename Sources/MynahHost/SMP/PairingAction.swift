import MynahCore
import MynahSupport

/// An action that a pairing requests.
enum PairingAction: Hashable, Sendable {
    /// Send a PDU on the Security Manager's channel.
    case send(SMPPDU)
    /// Ask the user, and pass the answer to `answer`; a passkey to display needs no answer.
    case ask(PairingStep)
    /// Use this key for the link.
    ///
    /// An initiator starts encryption with it, with EDIV and Rand zero. A responder stores it until its
    /// controller requests it.
    case encrypt(SecretKey)
    /// Handle the peripheral's Security Request: encrypt with a sufficient bond, or start pairing.
    case securityRequested(AuthenticationRequirements)
    /// The link is encrypted with the new key, which gives it this security.
    case secured(LinkSecurity)
    /// All keys were exchanged: save the bond.
    case bonded(Bond)
    /// Pairing has succeeded.
    case paired
    /// Pairing has failed.
    case failed(PairingFailure)
}

/// The reason why a pairing failed.
enum PairingFailure: Hashable, Sendable {
    /// This side ended the pairing.
    case refused(SMPReason)
    /// The peer ended the pairing.
    case refusedByPeer(SMPReason)
    /// The peer sent nothing for 30 s, so no further SMP PDU may be sent on this link (Core Specification,
    /// Vol 3, Part H, 3.4).
    case timedOut
    /// This side's user did not answer a question for 30 s.
    case unanswered
    /// The controllers failed to encrypt the link.
    case encryptionFailed
    /// This side ended the pairing, because its bond would be weaker than the authenticated one with this
    /// peer.
    case weakerThanBond(DeviceAddress)
}

extension PairingFailure {
    /// The code of the warning about the failure.
    var warningCode: String {
        if case .weakerThanBond = self { "weakerPairingRefused" } else { "pairingFailed" }
    }

    /// The advice after a pairing has timed out.
    static let newLink = "pair again on a new link"

    /// The error of the failure, with advice.
    ///
    /// `question` is the last question to this side's user. `file` is the path of the file of bonds, or `nil`
    /// if there is none.
    func error(
        _ peer: DeviceAddress, _ role: PairingRole, after question: PairingStep?, _ file: String?
    ) -> RadioError {
        let other = role == .initiator ? "the peripheral" : "the central"
        let reason: String
        var remedy: String?
        switch self {
        case .refused(let code):
            reason = "this side refused it: \(code)"
            remedy = Self.remedy(code, question)
        case .refusedByPeer(let code):
            reason = "\(other) refused: \(code)"
            remedy =
                code == .authenticationRequirements
                ? "it may want a passkey that one side shows and the other enters"
                : Self.remedy(code, question)
        case .timedOut:
            reason = "\(other) did not answer within \(PairingMachine.timeout.text)"
            remedy = Self.newLink
        case .unanswered:
            reason = "the question was not answered within \(PairingMachine.timeout.text)"
            remedy = Self.newLink
        case .encryptionFailed: reason = "the controllers did not encrypt the link"
        case .weakerThanBond(let identity):
            reason = "it is weaker than the authenticated bond with \(identity), which was kept"
            remedy = Self.remedy(role, file)
        }
        return RadioError(.pairingFailed, "pairing with \(peer) failed: \(reason)", remedy: remedy)
    }

    private static func remedy(_ code: SMPReason, _ question: PairingStep?) -> String? {
        guard code == .confirmValueFailed else { return nil }
        // Without a passkey, the value does not depend on anything that a user enters.
        switch question {
        case .display, .enter: return "check the passkey"
        case .agree, .compare, nil: return nil
        }
    }

    private static func remedy(_ role: PairingRole, _ file: String?) -> String {
        switch (role, file) {
        case (.initiator, _): "forget the bond here first, then pair again"
        case (.responder, let file?):
            "to pair again, stop this device and remove \(file), which holds all its bonds"
        case (.responder, nil): "to pair again, restart this device: it keeps bonds in memory only"
        }
    }
}
