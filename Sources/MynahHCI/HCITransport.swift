public import MynahCore

/// A transport of packets between a host and a controller.
public protocol HCITransport: Sendable {
    /// Opens the transport, which calls `receive` with each packet in order, and `ended` once at the end.
    ///
    /// `ended` gets the error that ended the transport, or `nil`. Both closures may be called on any thread,
    /// but not after `close` has returned.
    func open(
        receive: @escaping @Sendable (H4Packet) -> Void, ended: @escaping @Sendable (RadioError?) -> Void
    ) async throws(RadioError)

    /// Sends a packet after all packets that were sent earlier; the call does not wait.
    func send(_ packet: H4Packet)

    /// Closes the transport.
    func close()
}
