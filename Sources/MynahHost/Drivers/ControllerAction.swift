import MynahCore
import MynahHCI

/// A packet of the controller that is for a driver other than the controller's own.
enum ReceivedPacket {
    /// A packet of ACL data.
    case data([UInt8])
    case completed([HCIEventContent.CompletedPackets])
    case advertising([LEAdvertisingReport])
    case periodic(LEPeriodicReport)
    /// An event about a link.
    case event(HCIEventContent)
}

/// An action of the controller's driver, which other drivers carry out.
enum ControllerAction {
    /// The controller is ready; configure the links for its buffers and capabilities.
    case configure(ControllerProfile)
    /// The address on the air has changed.
    case addressChanged
    /// The advertiser has no unanswered command.
    case advertiserSettled
    /// The controller cannot make the connections of these requests.
    case connectionsFailed([UInt64], RadioError)
    /// The controller refused a command about a link.
    case refused(ControllerSession.LinkCommand, ConnectionHandle, Peer.ID)
    /// Stop waiting for the end of links, which the controller will not report any more.
    case stopWaitingForEnd
    /// The controller is lost, and with it all links; calls that wait fail with this error.
    case lost(RadioError)
    /// Report room to refused senders, after the new Bluetooth state was reported.
    case reportRoom
}

/// The callbacks of a transport to the radio's executor.
struct ControllerInlet {
    /// Handles a packet of the transport that was opened with an epoch number.
    var receive: @Sendable (H4Packet, _ epoch: Int) -> Void
    /// Handles the end of the transport that was opened with an epoch number.
    var ended: @Sendable (RadioError?, _ epoch: Int) -> Void
    /// Searches for a controller that was lost.
    var recover: @Sendable () async -> Void
}
