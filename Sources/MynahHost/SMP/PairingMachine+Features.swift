import MynahCore

/// Phase 1 of pairing: the exchange of features (Core Specification, Vol 3, Part H, 2.3.1 to 2.3.4).
extension PairingMachine {
    /// The AuthReq field that this side sends.
    var ownAuthentication: AuthenticationRequirements {
        var requirements: AuthenticationRequirements = configuration.isBonding ? .bonding : []
        if configuration.wantsAuthentication || configuration.demands.authentication {
            requirements.insert(.mitm)
        }
        if configuration.hasSecureConnections || configuration.demands.onlySecureConnections {
            requirements.insert(.secureConnections)
        }
        return requirements
    }

    private var gives: KeyDistribution { configuration.gives.intersection(.all) }
    private var takes: KeyDistribution { configuration.takes.intersection(.all) }

    /// The features that this side sends as the initiator.
    var ownFeatures: PairingFeatures {
        PairingFeatures(
            ioCapability: configuration.ioCapability, authentication: ownAuthentication,
            maximumKeySize: UInt8(min(max(configuration.maximumKeySize, 7), 16)),
            initiatorKeys: configuration.isBonding ? gives : [],
            responderKeys: configuration.isBonding ? takes : [])
    }

    /// Handles a Pairing Request as the responder.
    mutating func acceptRequest(_ request: PairingFeatures, at now: Duration) throws(SMPReason)
        -> [PairingAction]
    {
        state = .idle
        deadline = nil
        guard configuration.isPairable else { throw .pairingNotSupported }
        guard attempts.isAllowed(at: now) else { throw .repeatedAttempts }
        var response = ownFeatures
        let isBonding = configuration.isBonding && request.authentication.isBonding
        var offered = KeyDistribution.all
        if request.authentication.intersection(ownAuthentication).contains(.secureConnections) {
            offered.remove(.encryption)
        }
        response.initiatorKeys =
            isBonding ? request.initiatorKeys.intersection(takes.intersection(offered)) : []
        response.responderKeys =
            isBonding ? request.responderKeys.intersection(gives.intersection(offered)) : []
        let context = try PairingContext(
            role: .responder, request: request, response: response, initiator: peerAddress,
            responder: ownAddress, demands: configuration.demands)
        if let old = replaced(by: context) { return refuse(weakerThan: old, at: now) }
        if configuration.asksConsent, context.method == .justWorks {
            state = .consenting(context)
            return [.ask(.agree)]
        }
        return respond(context)
    }

    /// Sends the Pairing Response as the responder, and begins phase 2.
    mutating func respond(_ context: PairingContext) -> [PairingAction] {
        [.send(.pairingResponse(context.response))] + beginExchange(context)
    }

    /// Handles the Pairing Response as the initiator, and begins phase 2.
    mutating func accepted(
        _ request: PairingFeatures, _ response: PairingFeatures, at now: Duration
    ) throws(SMPReason) -> [PairingAction] {
        let known = KeyDistribution(rawValue: 0x0F)
        guard response.initiatorKeys.intersection(known).isSubset(of: request.initiatorKeys),
            response.responderKeys.intersection(known).isSubset(of: request.responderKeys)
        else { throw .invalidParameters }
        let context = try PairingContext(
            role: .initiator, request: request, response: response, initiator: ownAddress,
            responder: peerAddress, demands: configuration.demands)
        if let old = replaced(by: context) { return refuse(weakerThan: old, at: now) }
        return beginExchange(context)
    }

    /// The peer's authenticated bond that this pairing would replace by a weaker one, or `nil` if there is
    /// none.
    private func replaced(by context: PairingContext) -> Bond? {
        guard context.isBonding, let old = kept?[peerAddress], old.isAuthenticated,
            context.security.isWeaker(than: old.security)
        else { return nil }
        return old
    }

    private mutating func beginExchange(_ context: PairingContext) -> [PairingAction] {
        if context.isSecureConnections {
            let pairing = SecureConnectionsPairing(context, &random)
            return advance(.secureConnections(pairing, context), context, pairing.start())
        }
        var pairing = LegacyPairing(context, random: &random)
        let actions = pairing.start(&random)
        return advance(.legacy(pairing, context), context, actions)
    }
}
