/// An event of a radio's central role; events are reported in the order in which they happened.
public enum CentralEvent: Sendable {
    /// The Bluetooth state changed.
    case stateChanged(RadioState)
    /// The controller's capabilities are now known; this event precedes the state `poweredOn`.
    case capabilitiesChanged(CentralCapabilities)
    /// The controller disappeared and may come back; all links have ended.
    case lost(RadioError)
    /// The controller is back, and the radio continues its scan, if any.
    case recovered
    /// An advertising PDU was received.
    case heard(ScanReport)
    /// A peripheral is connected.
    case connected(Peer)
    /// A peripheral's name, address or bond changed.
    case peerChanged(Peer)
    /// A link to a peripheral ended, with the error, or with `nil` if this side ended it.
    case disconnected(Peer.ID, RadioError?)
    /// The ATT_MTU of a link became known or changed, in bytes.
    case mtuChanged(Peer.ID, Int)
    /// The connection parameters of a link changed, or other parameters were requested.
    case parameters(Peer.ID, ConnectionParameterReport)
    /// A peripheral paired.
    case paired(Peer.ID)
    /// Pairing requires an action of this side.
    case pairing(Peer.ID, PairingStep)
    /// A peripheral notified or indicated a value of the attribute with this handle.
    case notified(Peer.ID, AttributeHandle, [UInt8], Delivery)
    /// A peripheral indicated that services in this range of handles changed (Service Changed).
    ///
    /// The radio itself subscribes to this indication.
    case servicesChanged(Peer.ID, ClosedRange<AttributeHandle>)
    /// A link that refused a write command can accept one again.
    case readyToWrite(Peer.ID)
    /// A warning.
    case warning(RadioWarning)
}

/// The receiver of a radio's central events.
public protocol CentralSink: Sendable {
    /// Handles an event; called on the radio's executor.
    ///
    /// Returns the answer to `pairing`, or `.none` for all other events.
    func handle(_ event: CentralEvent) -> RadioAnswer
}
