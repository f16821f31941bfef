import MynahCore

/// An action of a connection's procedure; actions are carried out in order.
enum ConnectionAction: Hashable, Sendable {
    /// Sends a PDU.
    case send(LinkPDU)
    /// Begins a control procedure with its first PDU, after the procedures that this side has begun before.
    case begin(LinkPDU)
    /// Reports an event to the host.
    case report(UInt8, [UInt8])
    /// Reports an LE event to the host.
    case reportLE(UInt8, [UInt8])
    /// Applies new connection parameters, and reports them.
    case use(LEConnection.Parameters)
    /// Ends the connection, and tells the peer without waiting for an acknowledgement.
    case terminate(HCIStatus)
}
