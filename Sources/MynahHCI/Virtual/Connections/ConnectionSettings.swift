/// The controller's settings for all its connections.
struct ConnectionSettings: Sendable {
    /// The maximum number of connections.
    let limit: Int
    /// The largest length of an ACL packet, in bytes.
    let packetLength: Int
    /// The number of ACL packets that the controller can buffer.
    let packetCount: Int
    /// Whether the controller supports PHYs other than LE 1M.
    let isExtended: Bool
    let version: LinkVersion
    /// The features that are reported to peers.
    let features: UInt64
    /// The PHYs that the host prefers, as bits (Core Specification, Vol 4, Part E, 7.8.48).
    var defaultPHYs = LinkPHYs(sending: 7, receiving: 7)
    /// The initial data length of new connections, in bytes and in microseconds.
    var suggestedLength = (octets: UInt16(27), time: UInt16(328))

    init(_ configuration: ControllerConfiguration) {
        limit = configuration.linkCount
        packetLength = configuration.packetLength
        packetCount = configuration.packetCount
        isExtended = configuration.isExtended
        version = configuration.version
        features = configuration.featuresForPeer
    }
}
