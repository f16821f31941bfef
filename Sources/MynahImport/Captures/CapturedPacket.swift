package import MynahHCI

/// A packet of a capture, as it crossed the line between a host and its controller.
package struct CapturedPacket: Hashable, Sendable {
    /// The controller among those of the capture: the number of an interface or of an adapter.
    package var source: Int
    /// The time of the record, in microseconds since 1970.
    ///
    /// An impossible time is replaced by the nearest possible one.
    package var time: Int64
    /// Whether the controller sent it.
    package var isFromController: Bool
    /// The packet.
    package var packet: H4Packet

    /// A limit for times: later than any capture, and small enough that times can be subtracted.
    private static let latest: Int64 = 1 << 60

    package init(source: Int = 0, time: Int64, isFromController: Bool, packet: H4Packet) {
        self.source = source
        self.time = min(max(time, -Self.latest), Self.latest)
        self.isFromController = isFromController
        self.packet = packet
    }
}
