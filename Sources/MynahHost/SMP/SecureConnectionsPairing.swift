import MynahCore
import MynahSupport

/// Phase 2 of LE Secure Connections pairing, on either side (Core Specification, Vol 3, Part H, 2.3.5.6).
struct SecureConnectionsPairing: Sendable {
    private enum Step {
        case publicKey
        /// The peer's confirm value is expected.
        case confirm
        /// The responder has the peer's first confirm value, and its user has not entered the passkey yet.
        case entry(confirm: [UInt8])
        /// The peer's nonce is expected, which must match `confirm` unless that is `nil`.
        case random(confirm: [UInt8]?)
        /// The user compares the numbers; the peer's check value may already be there.
        case comparison(Checks, peerCheck: [UInt8]?)
        /// The peer's check value is expected.
        case check(Checks)
        case done
    }

    /// The values of the DHKey checks, and the resulting long-term key.
    private struct Checks {
        var own: [UInt8]
        var peer: [UInt8]
        var longTermKey: SecretKey
    }

    /// The number of rounds of passkey entry: one for each bit of the passkey (2.3.5.6.3).
    static let rounds = 20

    private let context: PairingContext
    private let pair: PublicKeyPair
    private var step = Step.publicKey
    private var peerX: [UInt8] = []
    private var secret: [UInt8] = []
    private var ownNonce: [UInt8] = []
    /// The passkey, or `nil` before it is entered and in methods without a passkey.
    private var passkey: UInt32?
    private var round = 0

    init(_ context: PairingContext, _ random: inout SecurityRandom) {
        self.context = context
        pair = PublicKeyPair(from: &random)
    }

    private var isPasskey: Bool { context.displays || context.enters }

    func start() -> [PairingAction] {
        context.isInitiator ? [.send(.pairingPublicKey(x: pair.x, y: pair.y))] : []
    }

    mutating func receive(_ pdu: SMPPDU, _ random: inout SecurityRandom) throws(SMPReason) -> [PairingAction]
    {
        switch (step, pdu) {
        case (.publicKey, .pairingPublicKey(let x, let y)):
            return try exchanged(x, y, &random)
        case (.confirm, .pairingConfirm(let value)):
            return try confirmed(value, &random)
        case (.random(let confirm), .pairingRandom(let nonce)):
            return try revealed(nonce, confirm, &random)
        case (.comparison(let checks, nil), .pairingDHKeyCheck(let check)) where !context.isInitiator:
            step = .comparison(checks, peerCheck: check)
            return []
        case (.check(let checks), .pairingDHKeyCheck(let check)):
            return try checked(check, checks)
        default:
            throw .unspecifiedReason
        }
    }

    mutating func answer(
        _ answer: PairingAnswer, _ random: inout SecurityRandom
    ) throws(SMPReason) -> [PairingAction] {
        switch (step, answer) {
        case (.comparison, .declined):
            throw .numericComparisonFailed
        case (.comparison(let checks, let peerCheck), .agreed):
            step = .check(checks)
            if context.isInitiator { return [.send(.pairingDHKeyCheck(checks.own))] }
            return try peerCheck.map { check throws(SMPReason) in try checked(check, checks) } ?? []
        case (.confirm, _) where context.enters && passkey == nil:
            guard let number = try Passkey.number(answer) else { return [] }
            passkey = number
            return context.isInitiator ? [nextConfirm(&random)] : []
        case (.entry(let confirm), _):
            guard let number = try Passkey.number(answer) else { return [] }
            passkey = number
            step = .confirm
            return try confirmed(confirm, &random)
        default:
            return []
        }
    }

    // The public keys were exchanged, and authentication stage 1 begins.
    private mutating func exchanged(
        _ x: [UInt8], _ y: [UInt8], _ random: inout SecurityRandom
    ) throws(SMPReason) -> [PairingAction] {
        secret = try pair.secret(withX: x, y: y)
        peerX = x
        var actions: [PairingAction] =
            context.isInitiator ? [] : [.send(.pairingPublicKey(x: pair.x, y: pair.y))]
        step = .confirm
        if context.enters {
            actions.append(.ask(.enter))
        } else if context.displays {
            let number = UInt32.random(in: 0...Passkey.last, using: &random)
            passkey = number
            actions.append(.ask(.display(number)))
            if context.isInitiator { actions.append(nextConfirm(&random)) }
        } else {
            // Only the responder sends a confirm value (2.3.5.6.2).
            ownNonce = random.bytes(16)
            if !context.isInitiator {
                step = .random(confirm: nil)
                actions.append(.send(.pairingConfirm(confirm(pair.x, peerX, ownNonce))))
            }
        }
        return actions
    }

    private mutating func nextConfirm(_ random: inout SecurityRandom) -> PairingAction {
        ownNonce = random.bytes(16)
        return .send(.pairingConfirm(confirm(pair.x, peerX, ownNonce)))
    }

    private mutating func confirmed(
        _ value: [UInt8], _ random: inout SecurityRandom
    ) throws(SMPReason) -> [PairingAction] {
        if isPasskey, passkey == nil {
            guard !context.isInitiator else { throw .unspecifiedReason }
            step = .entry(confirm: value)
            return []
        }
        step = .random(confirm: value)
        return [context.isInitiator ? .send(.pairingRandom(ownNonce)) : nextConfirm(&random)]
    }

    private mutating func revealed(
        _ nonce: [UInt8], _ peerConfirm: [UInt8]?, _ random: inout SecurityRandom
    ) throws(SMPReason) -> [PairingAction] {
        if let peerConfirm {
            guard confirm(peerX, pair.x, nonce).isEqual(inConstantTime: peerConfirm) else {
                throw .confirmValueFailed
            }
        }
        var actions: [PairingAction] = context.isInitiator ? [] : [.send(.pairingRandom(ownNonce))]
        round += 1
        if isPasskey, round < Self.rounds {
            step = .confirm
            if context.isInitiator { actions.append(nextConfirm(&random)) }
            return actions
        }
        let checks = checks(peerNonce: nonce)
        if context.method == .numericComparison {
            step = .comparison(checks, peerCheck: nil)
            let number =
                context.isInitiator
                ? SecurityToolbox.g2(pair.x, peerX, ownNonce, nonce)
                : SecurityToolbox.g2(peerX, pair.x, nonce, ownNonce)
            return actions + [.ask(.compare(number % (Passkey.last + 1)))]
        }
        step = .check(checks)
        return context.isInitiator ? [.send(.pairingDHKeyCheck(checks.own))] : actions
    }

    private mutating func checked(
        _ check: [UInt8], _ checks: Checks
    ) throws(SMPReason) -> [PairingAction] {
        guard check.isEqual(inConstantTime: checks.peer) else { throw .dhKeyCheckFailed }
        step = .done
        return context.isInitiator
            ? [.encrypt(checks.longTermKey)]
            : [.encrypt(checks.longTermKey), .send(.pairingDHKeyCheck(checks.own))]
    }

    // A confirm value of the current round, for one bit of the passkey if there is one.
    private func confirm(_ u: [UInt8], _ v: [UInt8], _ nonce: [UInt8]) -> [UInt8] {
        let bit = passkey.map { 0x80 | UInt8(truncatingIfNeeded: $0 >> UInt32(round) & 1) } ?? 0
        return SecurityToolbox.f4(u, v, nonce, bit)
    }

    // Authentication stage 2 (2.3.5.6.5).
    private func checks(peerNonce: [UInt8]) -> Checks {
        let (first, second) = context.isInitiator ? (ownNonce, peerNonce) : (peerNonce, ownNonce)
        let keys = SecurityToolbox.f5(
            secret, first, second, initiator: context.initiator, responder: context.responder)
        let r = passkey.map { Passkey.key($0).bytes } ?? SecretKey.zero.bytes
        let initiator = SecurityToolbox.f6(
            keys.macKey, first, second, r, context.request.checked, context.initiator, context.responder)
        let responder = SecurityToolbox.f6(
            keys.macKey, second, first, r, context.response.checked, context.responder, context.initiator)
        return Checks(
            own: context.isInitiator ? initiator : responder,
            peer: context.isInitiator ? responder : initiator,
            longTermKey: keys.longTermKey.masked(to: context.keySize))
    }
}
