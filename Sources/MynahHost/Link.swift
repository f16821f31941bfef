import MynahCore
import MynahHCI

/// A link to a central, or to a peripheral.
struct Link {
    var handle: UInt16
    /// The request for the link until the peripheral is heard on it, and `nil` from then on: only then is the link reported.
    var request: Connector.Request?
    /// What this side is on it.
    var role = LEConnection.Role.peripheral
    var peer: Peer
    var parameters: LEConnection.Parameters
    var reassembler = L2CAPReassembler()
}
