import MynahCore
import MynahHCI

/// A link to a central, or to a peripheral.
struct Link {
    /// Takes the answer to a signal, or `nil` if there will be none.
    typealias Answered = @Sendable (isolated HostRadio, L2CAPSignal?) -> Void

    var handle: UInt16
    /// The request for the link until the peripheral is heard on it, and `nil` from then on: only then is the link reported.
    var request: Connector.Request?
    /// What this side is on it.
    var role = LEConnection.Role.peripheral
    var peer: Peer
    var parameters: LEConnection.Parameters
    var reassembler = L2CAPReassembler()
    var lastSignal: UInt8 = 0
    /// What takes the answer to a signal, by its identifier.
    var asked: [UInt8: Answered] = [:]

    /// The next identifier of a signal; never zero.
    mutating func nextSignal() -> UInt8 {
        lastSignal = lastSignal == 255 ? 1 : lastSignal + 1
        return lastSignal
    }
}
