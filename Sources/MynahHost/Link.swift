import MynahCore
import MynahHCI

/// A link to a central, or to a peripheral.
struct Link {
    /// A signal that wants an answer.
    struct Question {
        var overdue: Task<Void, Never>
        var then: @Sendable (isolated HostRadio, L2CAPSignal?) -> Void
    }

    /// Who waits for a link to a peripheral, and whom it was to be with.
    struct Wish {
        var number: UInt64
        var address: DeviceAddress
    }

    var handle: UInt16
    /// Nobody is told of a link that a central's controller has begun before the peripheral is heard on it; nil: it was.
    var wish: Wish?
    /// What this side is on it.
    var role = LEConnection.Role.peripheral
    var peer: Peer
    var parameters: LEConnection.Parameters
    var server: ATTServer
    var security = LinkSecurity()
    var pairing: LinkPairing
    var reassembler = L2CAPReassembler()
    /// Indications that wait for the confirmation of one that was sent.
    var indications: [(handle: UInt16, key: AttributeKey?, value: [UInt8])] = []
    /// Notifications that go out in one PDU when the controller has room.
    var collected: [(handle: UInt16, value: [UInt8])] = []
    /// It was said that it does not carry a value which others have.
    var isToldTooShort = false
    /// When the indication that is under way has to be confirmed by, in the radio's time.
    var confirmedBy = Duration.zero
    /// Looks at that while there are any.
    var confirmationWatch: Task<Void, Never>?
    /// An indication was not confirmed in time: nothing more goes over this bearer (Core Specification, Vol 3, Part F, 3.3.3).
    var isBearerDead = false
    var lastSignal: UInt8 = 0
    /// Who waits for the answer to a signal, by its identifier.
    var asked: [UInt8: Question] = [:]
    /// What this side asks of the other; both ends of it are one bearer.
    var client = ATTClient()
    /// When the request that is under way has to be answered by, in the radio's time.
    var deadline = Duration.zero
    /// Looks at the deadline while requests are under way.
    var watch: Task<Void, Never>?

    /// How many indications wait for one central at most.
    static let indicationLimit = 64

    /// The next identifier of a signal; never zero.
    mutating func nextSignal() -> UInt8 {
        lastSignal = lastSignal == 255 ? 1 : lastSignal + 1
        return lastSignal
    }
}
