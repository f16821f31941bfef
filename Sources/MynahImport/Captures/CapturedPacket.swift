package import MynahHCI

/// A captured HCI packet, as it was sent between a host and its controller.
package struct CapturedPacket: Hashable, Sendable {
    /// The number of the controller in the capture, which is that of an interface or an adapter.
    package var source: Int
    /// The time of the record, in microseconds since 1970.
    ///
    /// An impossible time is replaced by the nearest possible one.
    package var time: Int64
    /// Whether the controller sent the packet.
    package var isFromController: Bool
    package var packet: H4Packet

    /// The latest possible time: later than any capture, but small enough for subtractions.
    private static let latest: Int64 = 1 << 60

    package init(source: Int = 0, time: Int64, isFromController: Bool, packet: H4Packet) {
        self.source = source
        self.time = min(max(time, -Self.latest), Self.latest)
        self.isFromController = isFromController
        self.packet = packet
    }
}
