import MynahCore
import MynahHCI

/// A packet of the controller for other drivers than its own.
enum ReceivedPacket {
    /// A packet of ACL data.
    case data([UInt8])
    case completed([HCIEventContent.CompletedPackets])
    case advertising([LEAdvertisingReport])
    /// An event about a link.
    case event(HCIEventContent)
}

/// An action of the controller's driver that other drivers carry out.
enum ControllerAction {
    /// The controller is ready, with these buffers and capabilities.
    case configure(ControllerProfile)
    /// The address on the air has changed.
    case addressChanged
    /// The advertiser has nothing under way.
    case advertiserSettled
    /// The controller cannot make the connections of these requests.
    case connectionsFailed([UInt64], RadioError)
    /// The controller refused a command about a link.
    case refused(ControllerSession.LinkCommand, ConnectionHandle, Peer.ID)
    /// The controller will not report the end of links any more.
    case stopWaitingForEnd
    /// The controller is gone, and all links with it; the error is for calls that wait.
    case lost(RadioError)
    /// The new state was reported, and refused senders are told of the room that there is now.
    case reportRoom
}

/// How a transport gets back to the radio's executor.
struct ControllerInlet {
    /// Handles a packet of the transport that was opened at an epoch.
    var receive: @Sendable (H4Packet, _ epoch: Int) -> Void
    /// Handles the end of that transport.
    var ended: @Sendable (RadioError?, _ epoch: Int) -> Void
    /// Looks for a controller that was lost.
    var recover: @Sendable () async -> Void
}
