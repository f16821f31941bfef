import MynahCore
import MynahHCI

/// A link to a central or a peripheral.
struct Link {
    /// The stage of a link, which may be reported later than it begins.
    enum Stage: Hashable {
        /// The link was made for a connection request, and the peripheral has not sent a packet yet.
        ///
        /// The link is reported when the peripheral has sent one.
        case unheard(Connector.Request)
        case reported
        /// The request was withdrawn before the link was reported; the link is being ended and is never
        /// reported.
        case givenUp
    }

    /// The roles of this radio that use a link.
    struct Halves: OptionSet {
        let rawValue: UInt8

        static let peripheral = Halves(rawValue: 1)
        static let central = Halves(rawValue: 2)
    }

    var handle: ConnectionHandle
    /// The roles to which the link was reported.
    ///
    /// One link can serve both roles, because there is never a second link between two devices (Core
    /// Specification, Vol 6, Part B, 4.5).
    var halves: Halves = []
    var stage = Stage.reported
    /// This side's role in the Link Layer.
    var role = LEConnection.Role.peripheral
    var peer: Peer
    var parameters: LEConnection.Parameters
    var reassembler = L2CAPReassembler()
    var meter = LinkMeter()

    /// Whether the peripheral has not sent anything yet.
    var isUnheard: Bool {
        if case .unheard = stage { true } else { false }
    }
}
