public import MynahCore

/// Carries packets between a host and a controller.
public protocol HCITransport: Sendable {
    /// Opens it; what comes is handed to `receive` in order, and `ended` is called once when it is over, with
    /// why.
    ///
    /// Both may be called from any thread, and neither after `close` has returned.
    func open(
        receive: @escaping @Sendable (H4Packet) -> Void, ended: @escaping @Sendable (RadioError?) -> Void
    ) async throws(RadioError)

    /// Sends a packet; in order, and without waiting.
    func send(_ packet: H4Packet)

    /// Ends it.
    func close()
}
