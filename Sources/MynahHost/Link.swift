import MynahCore
import MynahHCI

/// A link to a central, or to a peripheral.
struct Link {
    /// How far a link is known to its user.
    enum Stage: Hashable {
        /// It was asked for by a request, and is reported when the peripheral is heard on it.
        case unheard(Connector.Request)
        case reported
        /// Its request was given up before the peripheral was heard on it: it is never reported.
        case givenUp
    }

    var handle: ConnectionHandle
    var stage = Stage.reported
    /// This side's role.
    var role = LEConnection.Role.peripheral
    var peer: Peer
    var parameters: LEConnection.Parameters
    var reassembler = L2CAPReassembler()
    var meter = LinkMeter()

    /// Whether the link is not reported yet.
    var isUnheard: Bool {
        if case .unheard = stage { true } else { false }
    }
}
