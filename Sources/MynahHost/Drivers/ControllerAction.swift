import MynahCore
import MynahHCI

/// A packet from the controller that a driver other than `ControllerDriver` handles.
enum ReceivedPacket {
    /// A packet of ACL data.
    case data([UInt8])
    case completed([HCIEventContent.CompletedPackets])
    case advertising([LEAdvertisingReport])
    case periodic(LEPeriodicReport)
    /// An event about a link.
    case event(HCIEventContent)
}

/// An action of the controller's driver that other drivers carry out.
enum ControllerAction {
    /// The controller is ready; configure the links for its buffers and capabilities.
    case configure(ControllerProfile)
    /// The own address on the air has changed.
    case addressChanged
    /// No command of the advertiser waits for its answer.
    case advertiserSettled
    /// The connections of these requests have failed.
    case connectionsFailed([UInt64], RadioError)
    /// The controller refused a command about a link.
    case refused(ControllerSession.LinkCommand, ConnectionHandle, Peer.ID)
    /// Stop waiting for the end of links, which the controller will no longer report.
    case stopWaitingForEnd
    /// The controller and all links are lost; waiting calls fail with this error.
    case lost(RadioError)
    /// Report to the `RadioSink` and the `CentralSink` that there is room to send again.
    ///
    /// The new Bluetooth state was reported before.
    case reportRoom
}

/// The callbacks of a transport, which run on the radio's executor.
struct ControllerInlet {
    /// Handles a packet of a transport.
    ///
    /// `epoch` is the number of the transport's opening, by which late packets are recognized.
    var receive: @Sendable (H4Packet, _ epoch: Int) -> Void
    /// Handles the end of a transport.
    ///
    /// `epoch` is the number of the transport's opening, by which a late end is recognized.
    var ended: @Sendable (RadioError?, _ epoch: Int) -> Void
    /// Searches for a controller that was lost.
    var recover: @Sendable () async -> Void
}
