package import MynahCore

/// A transport that shows each packet to a closure before it passes it on.
package struct TappedTransport: HCITransport {
    /// Records a packet, and whether the controller sends it.
    package typealias Tap = @Sendable (_ packet: H4Packet, _ isFromController: Bool) -> Void

    private let inner: any HCITransport
    private let tap: Tap

    /// A transport that passes on the packets of `inner`, and calls `tap` with each.
    package init(_ inner: any HCITransport, tap: @escaping Tap) {
        self.inner = inner
        self.tap = tap
    }

    /// Opens the transport inside.
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

    /// Closes the transport inside.
    package func close() { inner.close() }
}
