import MynahCore
import MynahSupport

/// The pairing on one link, in either role (Core Specification, Vol 3, Part H).
///
/// This state machine has no I/O: PDUs, answers and times go in, and actions come out.
struct PairingMachine: Sendable {
    /// The settings for pairing.
    struct Configuration: Hashable, Sendable {
        var ioCapability = IOCapability.noInputNoOutput
        /// Whether pairing is accepted; if not, every Pairing Request is refused.
        var isPairable = true
        /// Whether keys are exchanged for a bond.
        var isBonding = true
        /// Whether protection against man-in-the-middle attacks is requested.
        ///
        /// If `demands` requires this protection, pairing without it is refused.
        var wantsAuthentication = false
        var hasSecureConnections = true
        var demands = PairingDemands()
        /// The largest size of a key in bytes, 7 to 16.
        var maximumKeySize = 16
        /// The keys that this side distributes and accepts.
        var gives = KeyDistribution.all
        var takes = KeyDistribution.all
        /// Whether a responder asks its user for consent before Just Works.
        var asksConsent = true
    }

    enum State: Sendable {
        case idle
        /// This side, as responder, has sent a Security Request.
        case securityRequested
        /// This side, as initiator, waits for the Pairing Response.
        case requested(PairingFeatures)
        /// This side, as responder, waits for its user's consent.
        case consenting(PairingContext)
        case legacy(LegacyPairing, PairingContext)
        case secureConnections(SecureConnectionsPairing, PairingContext)
        /// The link is being encrypted with the new key.
        case encrypting(SecretKey, PairingContext)
        case exchangingKeys(KeyExchange, PairingContext)
        /// Pairing has timed out, and is not allowed again before the link ends.
        case closed
    }

    /// The time without progress after which a pairing fails (3.4).
    static let timeout = Duration.seconds(30)

    let role: PairingRole
    let configuration: Configuration
    let identity: PairingIdentity
    /// The addresses used on the air when the link was made.
    let ownAddress: DeviceAddress
    let peerAddress: DeviceAddress
    /// The peer's failed attempts, which outlive the link.
    private(set) var attempts: PairingAttempts
    /// The time for a call of `expire`, or `nil` if no pairing is in progress.
    var deadline: Duration?
    var random: SecurityRandom
    /// The bonds, which are set only during a step.
    ///
    /// A pairing checks that it does not replace an authenticated bond by a weaker one.
    var kept: BondStore?
    var state = State.idle

    init(
        _ role: PairingRole, _ configuration: Configuration = Configuration(), identity: PairingIdentity,
        own: DeviceAddress, peer: DeviceAddress, attempts: PairingAttempts = PairingAttempts(),
        random: SecurityRandom = SecurityRandom()
    ) {
        self.role = role
        self.configuration = configuration
        self.identity = identity
        self.attempts = attempts
        self.random = random
        ownAddress = own
        peerAddress = peer
    }

    /// The key that the controller requests, or `nil` if it does not request the key of the current pairing.
    func longTermKey(ediv: UInt16, rand: UInt64) -> SecretKey? {
        guard role == .responder, ediv == 0, rand == 0 else { return nil }
        return switch state {
        case .encrypting(let key, _): key
        default: nil
        }
    }

    /// Starts pairing as the initiator.
    mutating func start(at now: Duration) -> [PairingAction] {
        guard role == .initiator, case .idle = state else { return [] }
        guard attempts.isAllowed(at: now) else { return [.failed(.refused(.repeatedAttempts))] }
        let features = ownFeatures
        state = .requested(features)
        return settle([.send(.pairingRequest(features))], at: now)
    }

    /// Sends a Security Request as the responder (2.4.6).
    ///
    /// If there is a bond, the request asks only for the security of the bond; otherwise the peer would pair
    /// again each time.
    mutating func requestSecurity(by bond: Bond? = nil, at now: Duration) -> [PairingAction] {
        guard role == .responder, case .idle = state else { return [] }
        state = .securityRequested
        let requirements = bond.map { ownAuthentication.intersection($0.requirements) } ?? ownAuthentication
        return settle([.send(.securityRequest(requirements))], at: now)
    }

    /// Handles a PDU of the Security Manager's channel.
    mutating func receive(_ bytes: [UInt8], at now: Duration) -> [PairingAction] {
        if case .closed = state { return [] }
        if let deadline, now >= deadline { return expire(at: now) }
        do {
            guard let pdu = try SMPPDU.decode(bytes) else { return [] }
            if case .pairingFailed(let reason) = pdu { return failedByPeer(reason, at: now) }
            return settle(try handle(pdu, at: now), at: now)
        } catch {
            // Without a pairing in progress, only requests are answered: two devices could otherwise answer
            // each other without end.
            if case .idle = state, !Self.isRequest(bytes) { return [] }
            if case .securityRequested = state, !Self.isRequest(bytes) { return [] }
            return fail(error, at: now)
        }
    }

    /// Handles the user's answer to the last question.
    mutating func answer(_ answer: PairingAnswer, at now: Duration) -> [PairingAction] {
        do {
            switch state {
            case .consenting(let context):
                switch answer {
                case .agreed: return settle(respond(context), at: now)
                case .declined: return fail(.unspecifiedReason, at: now)
                case .passkey: return []
                }
            case .legacy(var pairing, let context):
                let actions = try pairing.answer(answer)
                return settle(advance(.legacy(pairing, context), context, actions), at: now)
            case .secureConnections(var pairing, let context):
                let actions = try pairing.answer(answer, &random)
                return settle(advance(.secureConnections(pairing, context), context, actions), at: now)
            default:
                return []
            }
        } catch {
            return fail(error, at: now)
        }
    }

    /// Handles the controller's report about the encryption of the link.
    mutating func encryptionChanged(_ isEncrypted: Bool, at now: Duration) -> [PairingAction] {
        switch state {
        case .securityRequested:
            // A bond was used for the encryption, so no pairing is needed.
            if isEncrypted { state = .idle }
            return settle([], at: now)
        case .encrypting(let key, let context):
            guard isEncrypted else { return end(.encryptionFailed, at: now) }
            var exchange = KeyExchange(
                context, longTermKey: key, own: identity, isSimulated: random.isSimulated)
            let actions = [.secured(context.security)] + exchange.start(&random)
            return settle(exchanged(exchange, context, actions, at: now), at: now)
        default:
            return []
        }
    }

    /// Ends the pairing if its deadline has passed.
    mutating func expire(at now: Duration) -> [PairingAction] {
        guard let deadline, now >= deadline else { return [] }
        let wasAsked = if case .securityRequested = state { true } else { false }
        if !wasAsked { attempts.failed(at: now) }
        state = .closed
        self.deadline = nil
        return [.failed(.timedOut)]
    }
}

extension PairingMachine {
    private mutating func handle(_ pdu: SMPPDU, at now: Duration) throws(SMPReason) -> [PairingAction] {
        switch (state, pdu) {
        case (.idle, .pairingRequest(let request)), (.securityRequested, .pairingRequest(let request)):
            guard role == .responder else { throw .commandNotSupported }
            return try acceptRequest(request, at: now)
        case (.idle, .securityRequest(let requirements)):
            guard role == .initiator else { throw .commandNotSupported }
            return [.securityRequested(requirements)]
        case (.idle, _), (.securityRequested, _), (.closed, _):
            return []
        // The Security Request and this side's Pairing Request were sent at the same time (2.4.6).
        case (_, .securityRequest) where role == .initiator:
            return []
        // This side does not request such notifications, but ignores them.
        case (.legacy, .pairingKeypressNotification), (.secureConnections, .pairingKeypressNotification):
            return []
        case (.requested(let request), .pairingResponse(let response)):
            return try accepted(request, response, at: now)
        case (.legacy(var pairing, let context), _):
            let actions = try pairing.receive(pdu)
            return advance(.legacy(pairing, context), context, actions)
        case (.secureConnections(var pairing, let context), _):
            let actions = try pairing.receive(pdu, &random)
            return advance(.secureConnections(pairing, context), context, actions)
        case (.exchangingKeys(var exchange, let context), _):
            let actions = try exchange.receive(pdu, &random)
            return exchanged(exchange, context, actions, at: now)
        case (.requested, _), (.consenting, _), (.encrypting, _):
            throw .unspecifiedReason
        }
    }

    // Phase 2 ends when it has made its key.
    mutating func advance(
        _ next: State, _ context: PairingContext, _ actions: [PairingAction]
    ) -> [PairingAction] {
        state = next
        for case .encrypt(let key) in actions { state = .encrypting(key, context) }
        return actions
    }

    private mutating func exchanged(
        _ exchange: KeyExchange, _ context: PairingContext, _ actions: [PairingAction], at now: Duration
    ) -> [PairingAction] {
        // The peer may have distributed its identity only now. This side's keys were not sent yet, or are
        // useless to the peer.
        if let old = context.isBonding ? kept?.stronger(than: exchange.bond) : nil {
            return refuse(weakerThan: old, at: now)
        }
        guard exchange.isDone else {
            state = .exchangingKeys(exchange, context)
            return actions
        }
        state = .idle
        attempts.succeeded()
        return actions + (context.isBonding ? [.bonded(exchange.bond), .paired] : [.paired])
    }

    private mutating func failedByPeer(_ reason: SMPReason, at now: Duration) -> [PairingAction] {
        if case .idle = state { return [] }
        return end(.refusedByPeer(reason), at: now)
    }

    private mutating func fail(_ reason: SMPReason, at now: Duration) -> [PairingAction] {
        if case .idle = state, role == .initiator || reason == .commandNotSupported {
            return [.send(.pairingFailed(reason))]
        }
        return [.send(.pairingFailed(reason))] + end(.refused(reason), at: now)
    }

    /// Ends a pairing whose bond would replace a stronger, authenticated one.
    mutating func refuse(weakerThan old: Bond, at now: Duration) -> [PairingAction] {
        [.send(.pairingFailed(.authenticationRequirements))] + end(.weakerThanBond(old.identity), at: now)
    }

    private mutating func end(_ failure: PairingFailure, at now: Duration) -> [PairingAction] {
        switch state {
        case .legacy, .secureConnections, .encrypting, .exchangingKeys: attempts.failed(at: now)
        // Nothing was tried yet that an attacker could guess.
        case .idle, .securityRequested, .requested, .consenting, .closed: break
        }
        state = .idle
        deadline = nil
        return [.failed(failure)]
    }

    // The timer restarts with each PDU that is sent, and ends with the pairing (3.4).
    private mutating func settle(_ actions: [PairingAction], at now: Duration) -> [PairingAction] {
        switch state {
        case .idle, .closed:
            deadline = nil
        default:
            let hasSent = actions.contains { if case .send = $0 { true } else { false } }
            if hasSent || deadline == nil { deadline = now + Self.timeout }
        }
        return actions
    }

    private static func isRequest(_ bytes: [UInt8]) -> Bool {
        bytes.first == SMPPDU.Code.pairingRequest.rawValue
            || bytes.first == SMPPDU.Code.securityRequest.rawValue
    }
}

extension PairingMachine: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name of the state, without secrets.
    var description: String {
        switch state {
        case .idle: "no pairing"
        case .securityRequested: "security requested"
        case .requested: "pairing requested"
        case .consenting: "waiting for consent"
        case .legacy: "LE legacy pairing"
        case .secureConnections: "LE Secure Connections pairing"
        case .encrypting: "waiting for encryption"
        case .exchangingKeys: "exchanging keys"
        case .closed: "timed out"
        }
    }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
