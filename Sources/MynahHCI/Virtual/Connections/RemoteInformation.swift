import MynahSupport

/// A Link Layer's version, company identifier and subversion (Core Specification, Vol 6, Part B, 2.4.2.13).
struct LinkVersion: Hashable, Sendable {
    var version: UInt8
    var company: UInt16
    var subversion: UInt16

    /// LL_VERSION_IND.
    func pdu(isAnswer: Bool) -> LinkPDU {
        .version(version: version, company: company, subversion: subversion, isAnswer: isAnswer)
    }
}

/// The version exchange procedure of a connection: each side sends its version once (Core Specification, Vol
/// 6, Part B, 5.1.5).
struct VersionExchange: Sendable {
    private var peer: LinkVersion?
    private var isSent = false
    /// Whether the host waits for the peer's version.
    private var isRequested = false

    /// Reports the peer's version to the host, or requests it from the peer first if it is not known.
    mutating func read(
        _ own: LinkVersion, _ endpoints: ConnectionEndpoints, _ actions: inout [ConnectionAction]
    ) {
        isRequested = true
        if peer != nil { return report(endpoints, &actions) }
        guard !isSent else { return }
        isSent = true
        actions.append(.begin(own.pdu(isAnswer: false)))
    }

    /// Notes the peer's version, and answers with this side's version unless that was sent before.
    mutating func receive(
        _ version: LinkVersion, isAnswer: Bool, own: LinkVersion, _ endpoints: ConnectionEndpoints,
        _ actions: inout [ConnectionAction]
    ) {
        peer = version
        if !isAnswer, !isSent {
            isSent = true
            actions.append(.send(own.pdu(isAnswer: true)))
        }
        if isRequested { report(endpoints, &actions) }
    }

    private mutating func report(_ endpoints: ConnectionEndpoints, _ actions: inout [ConnectionAction]) {
        guard let peer else { return }
        isRequested = false
        var writer = ByteWriter()
        writer.write(0 as UInt8)
        writer.write(endpoints.handle)
        writer.write(peer.version)
        writer.write(peer.company)
        writer.write(peer.subversion)
        actions.append(.report(HCIEvent.readRemoteVersionInformationComplete, writer.bytes))
    }
}

/// The feature exchange procedure of a connection (Core Specification, Vol 6, Part B, 5.1.4).
struct FeatureExchange: Sendable {
    private var isRequested = false

    /// Asks the peer for its features, unless a request is waiting for its answer.
    mutating func read(_ own: UInt64, _ actions: inout [ConnectionAction]) -> HCIStatus {
        guard !isRequested else { return .commandDisallowed }
        isRequested = true
        actions.append(.begin(.featureRequest(own)))
        return .success
    }

    /// Answers a request of the peer with the features that both sides have.
    func receiveRequest(_ features: UInt64, own: UInt64, _ actions: inout [ConnectionAction]) {
        actions.append(.send(.featureResponse(features & own)))
    }

    /// Reports the features in the peer's answer.
    mutating func receiveResponse(
        _ features: UInt64, _ endpoints: ConnectionEndpoints, _ actions: inout [ConnectionAction]
    ) {
        guard isRequested else { return }
        isRequested = false
        var writer = ByteWriter()
        writer.write(HCIStatus.success.code)
        writer.write(endpoints.handle)
        writer.write(features)
        actions.append(.reportLE(HCIEvent.LESubevent.readRemoteFeaturesComplete, writer.bytes))
    }
}
