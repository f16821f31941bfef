package import MynahCore

/// A transport that passes every packet to a closure before it passes the packet on.
package struct TappedTransport: HCITransport {
    /// The closure that receives every packet; `isFromController` is `true` if the controller sent it.
    package typealias Tap = @Sendable (_ packet: H4Packet, _ isFromController: Bool) -> Void

    private let inner: any HCITransport
    private let tap: Tap

    /// Makes a transport that passes on the packets of `inner`, and calls `tap` with each of them.
    package init(_ inner: any HCITransport, tap: @escaping Tap) {
        self.inner = inner
        self.tap = tap
    }

    /// Opens the inner transport.
    package func open(
        receive: @escaping @Sendable (H4Packet) -> Void, ended: @escaping @Sendable (RadioError?) -> Void
    ) async throws(RadioError) {
        try await inner.open(
            receive: { [tap] packet in
                tap(packet, true)
                receive(packet)
            }, ended: ended)
    }

    /// Sends a packet to the controller.
    package func send(_ packet: H4Packet) {
        tap(packet, false)
        inner.send(packet)
    }

    /// Closes the inner transport.
    package func close() { inner.close() }
}
