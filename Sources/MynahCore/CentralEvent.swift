/// An event that a radio reports of its central role, in the order in which events happened.
public enum CentralEvent: Sendable {
    /// The Bluetooth state changed.
    case stateChanged(RadioState)
    /// The controller's capabilities became known. This event precedes the state `poweredOn`.
    case capabilitiesChanged(CentralCapabilities)
    /// The radio is gone, and will be back by itself if it can; its links are not.
    case lost(RadioError)
    /// It is back, and listens again if it did.
    case recovered
    /// An advertising PDU was heard.
    case heard(ScanReport)
    /// A peripheral is connected.
    case connected(Peer)
    /// A peripheral's name, address or bond changed.
    case peerChanged(Peer)
    /// A peripheral is disconnected, with the reason; `nil` if this side asked for it.
    case disconnected(Peer.ID, RadioError?)
    /// The ATT_MTU of a link became known or changed, in bytes.
    case mtuChanged(Peer.ID, Int)
    /// A peripheral paired.
    case paired(Peer.ID)
    /// Pairing wants something of this side.
    case pairing(Peer.ID, PairingStep)
    /// A peripheral sent a value by itself, of the attribute with this handle.
    case notified(Peer.ID, AttributeHandle, [UInt8], Delivery)
    /// A peripheral's services in this range of handles changed; the radio subscribes to that by itself.
    case servicesChanged(Peer.ID, ClosedRange<AttributeHandle>)
    /// After `writeWithoutResponse` found no room: there is some again.
    case readyToWrite
    /// A warning.
    case warning(RadioWarning)
}

/// The receiver of a radio's central events.
public protocol CentralSink: Sendable {
    /// Called on the radio's executor; `pairing` takes an answer, everything else `.none`.
    func handle(_ event: CentralEvent) -> RadioAnswer
}
