import MynahCore
import MynahHCI

/// A link to a central, or to a peripheral.
struct Link {
    /// The stages of a link, from its request to its report.
    enum Stage: Hashable {
        /// The link was made for a request, and is reported once the peripheral has answered on it.
        case unheard(Connector.Request)
        case reported
        /// The request was withdrawn before the peripheral answered, so the link is never reported.
        case givenUp
    }

    /// The roles of a radio that use a link.
    struct Halves: OptionSet {
        let rawValue: UInt8

        static let peripheral = Halves(rawValue: 1)
        static let central = Halves(rawValue: 2)
    }

    var handle: ConnectionHandle
    /// The roles that the link was reported to.
    ///
    /// One link serves both roles: there is never a second link between two devices (Core Specification, Vol
    /// 6, Part B, 4.5).
    var halves: Halves = []
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
