import MynahCore
import MynahSupport

/// An action of a pairing.
enum PairingAction: Hashable, Sendable {
    /// Send a PDU on the Security Manager's channel.
    case send(SMPPDU)
    /// Ask the user; the answer goes to `answer`. A number to display needs no answer.
    case ask(PairingStep)
    /// Use this key for the link: an initiator starts encryption with it, and EDIV and Rand are zero; a
    /// responder keeps it for the controller's request.
    case encrypt(SecretKey)
    /// Handle the peripheral's Security Request: encrypt with a bond that is strong enough, or start pairing.
    case securityRequested(AuthenticationRequirements)
    /// The link is encrypted with the new key, and has this security.
    case secured(LinkSecurity)
    /// All keys were exchanged: save the bond.
    case bonded(Bond)
    /// Pairing has succeeded.
    case paired
    /// Pairing is over.
    case failed(PairingFailure)
}

/// The reason for which a pairing failed.
enum PairingFailure: Hashable, Sendable {
    /// This side ended the pairing.
    case refused(SMPReason)
    /// The peer ended the pairing.
    case refusedByPeer(SMPReason)
    /// The peer did nothing for 30 s. No further PDU may be sent on this link's channel (Core Specification,
    /// Vol 3, Part H, 3.4).
    case timedOut
    /// This side's user did not answer a question for 30 s.
    case unanswered
    /// The controllers failed to encrypt the link.
    case encryptionFailed
    /// This side ended the pairing, because it would have replaced the authenticated bond with this identity
    /// by a weaker one.
    case weakerThanBond(DeviceAddress)
}

extension PairingFailure {
    /// The code of the warning about the failure.
    var warningCode: String {
        if case .weakerThanBond = self { "weakerPairingRefused" } else { "pairingFailed" }
    }

    /// The advice for a link whose pairing has timed out.
    static let newLink = "pair again on a new link"

    /// The error of the failure, with advice.
    ///
    /// `question` is the last one that this side's user was asked. `file` is the path of the file of bonds,
    /// or `nil` if there is none.
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
        // Without a passkey nothing that a user enters goes into the value.
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
