/// The controller's settings for all its connections.
struct ConnectionSettings: Sendable {
    /// The most connections.
    let limit: Int
    /// The most bytes of an ACL packet.
    let packetLength: Int
    /// How many ACL packets the controller buffers.
    let packetCount: Int
    /// Whether the controller knows other PHYs than LE 1M.
    let isExtended: Bool
    let version: LinkVersion
    /// The features that are reported to peers.
    let features: UInt64
    /// The PHYs that the host prefers, as bits (Core Specification, Vol 4, Part E, 7.8.48).
    var defaultPHYs = LinkPHYs(sending: 7, receiving: 7)
    /// The data length that new connections begin with: bytes, and microseconds.
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
