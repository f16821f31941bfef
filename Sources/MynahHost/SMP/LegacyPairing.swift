import MynahCore

/// Phase 2 of LE legacy pairing, for both roles (Core Specification, Vol 3, Part H, 2.3.5.2 to 2.3.5.5).
struct LegacyPairing: Sendable {
    private enum Step {
        /// The peer's confirm value is expected.
        case confirm
        /// The responder has the peer's confirm value, and its user has not entered the passkey yet.
        case entry([UInt8])
        /// The peer's random value is expected, which must match this confirm value.
        case random([UInt8])
        case done
    }

    private let context: PairingContext
    private let ownRandom: [UInt8]
    /// The temporary key, or `nil` until the user has entered the passkey.
    private var temporaryKey: SecretKey?
    private var step = Step.confirm

    init(_ context: PairingContext, random: inout SecurityRandom) {
        self.context = context
        ownRandom = random.bytes(16)
    }

    mutating func start(_ random: inout SecurityRandom) -> [PairingAction] {
        var actions: [PairingAction] = []
        if context.enters { return [.ask(.enter)] }
        if context.displays {
            let passkey = UInt32.random(in: 0...Passkey.last, using: &random)
            temporaryKey = Passkey.key(passkey)
            actions.append(.ask(.display(passkey)))
        } else {
            temporaryKey = .zero
        }
        if context.isInitiator, let temporaryKey {
            actions.append(.send(.pairingConfirm(confirm(temporaryKey, ownRandom))))
        }
        return actions
    }

    mutating func answer(_ answer: PairingAnswer) throws(SMPReason) -> [PairingAction] {
        guard context.enters, temporaryKey == nil, let number = try Passkey.number(answer) else { return [] }
        let key = Passkey.key(number)
        temporaryKey = key
        if context.isInitiator { return [.send(.pairingConfirm(confirm(key, ownRandom)))] }
        guard case .entry(let peerConfirm) = step else { return [] }
        return try confirmed(peerConfirm, key)
    }

    mutating func receive(_ pdu: SMPPDU) throws(SMPReason) -> [PairingAction] {
        switch (step, pdu, temporaryKey) {
        case (.confirm, .pairingConfirm(let value), let key?):
            return try confirmed(value, key)
        case (.confirm, .pairingConfirm(let value), nil) where !context.isInitiator:
            step = .entry(value)
            return []
        case (.random(let peerConfirm), .pairingRandom(let value), let key?):
            guard confirm(key, value).isEqual(inConstantTime: peerConfirm) else { throw .confirmValueFailed }
            step = .done
            let shortTerm = SecurityToolbox.s1(
                key, responder: context.isInitiator ? value : ownRandom,
                initiator: context.isInitiator ? ownRandom : value
            ).masked(to: context.keySize)
            return context.isInitiator
                ? [.encrypt(shortTerm)] : [.encrypt(shortTerm), .send(.pairingRandom(ownRandom))]
        default:
            throw .unspecifiedReason
        }
    }

    private mutating func confirmed(
        _ value: [UInt8], _ key: SecretKey
    ) throws(SMPReason) -> [PairingAction] {
        let own = confirm(key, ownRandom)
        // The confirm value does not depend on the role: a peer could send this side's own value back without
        // knowing the key.
        guard value != own else { throw .confirmValueFailed }
        step = .random(value)
        return [.send(context.isInitiator ? .pairingRandom(ownRandom) : .pairingConfirm(own))]
    }

    private func confirm(_ key: SecretKey, _ random: [UInt8]) -> [UInt8] {
        SecurityToolbox.c1(
            key, random, request: SMPPDU.pairingRequest(context.request).bytes,
            response: SMPPDU.pairingResponse(context.response).bytes, initiator: context.initiator,
            responder: context.responder)
    }
}

/// The six digits that users read on one device and enter on the other.
enum Passkey {
    static let last: UInt32 = 999_999

    /// The passkey in an answer, or `nil` if the answer is to another question.
    ///
    /// Throws if the user declined, or if the number has more than six digits.
    static func number(_ answer: PairingAnswer) throws(SMPReason) -> UInt32? {
        switch answer {
        case .agreed: return nil
        case .passkey(let number) where number <= last: return number
        case .passkey, .declined: throw .passkeyEntryFailed
        }
    }

    /// The passkey as the temporary key of 128 bits.
    static func key(_ passkey: UInt32) -> SecretKey {
        SecretKey(fitting: (0..<4).map { UInt8(truncatingIfNeeded: passkey >> (8 * $0)) })
    }
}
