import MynahCore
import MynahHCI

/// A link to a central.
struct Link {
    var handle: UInt16
    var peer: Peer
    var parameters: LEConnection.Parameters
    var server: ATTServer
    var security = LinkSecurity()
    var reassembler = L2CAPReassembler()
    /// Indications that wait for the confirmation of one that was sent.
    var indications: [(handle: UInt16, key: AttributeKey?, value: [UInt8])] = []
    /// How many indications were confirmed.
    var confirmations = 0
    /// An indication was not confirmed in time: nothing more goes over this bearer (Core Specification, Vol 3, Part F, 3.3.3).
    var isBearerDead = false
    var lastSignal: UInt8 = 0

    /// How many indications wait for one central at most.
    static let indicationLimit = 64

    /// The next identifier of a signal; never zero.
    mutating func nextSignal() -> UInt8 {
        lastSignal = lastSignal == 255 ? 1 : lastSignal + 1
        return lastSignal
    }
}
