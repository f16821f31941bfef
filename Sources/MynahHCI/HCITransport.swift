public import MynahCore

/// Carries packets between a host and a controller.
public protocol HCITransport: Sendable {
    /// Opens the transport. It calls `receive` with each packet in order, and `ended` once at the end, with
    /// the reason.
    ///
    /// Both may be called from any thread, and neither after `close` has returned.
    func open(
        receive: @escaping @Sendable (H4Packet) -> Void, ended: @escaping @Sendable (RadioError?) -> Void
    ) async throws(RadioError)

    /// Sends a packet, after the packets that were sent before, and without waiting.
    func send(_ packet: H4Packet)

    /// Closes the transport.
    func close()
}
