import Logging
import MynahCore
import MynahHCI

/// Sends and receives the ACL data of the links.
///
/// The radio's drivers share it. It is confined to the radio's executor.
final class ACLDriver {
    private let environment: Environment
    private let controller: ControllerDriver
    /// The links, each with the incomplete PDU received on it.
    var table = LinkTable()
    /// The packets and values that wait until the controller has room.
    var outbound: Outbound

    init(_ environment: Environment, _ controller: ControllerDriver) {
        self.environment = environment
        self.controller = controller
        outbound = Outbound(limit: environment.options.queueLimit)
    }

    /// Clears all queues when the radio stops.
    func reset() { outbound = Outbound(limit: environment.options.queueLimit) }

    /// The L2CAP channel of a link's incomplete received PDU, or `nil` if there is none.
    func channel(of handle: ConnectionHandle) -> UInt16? { table[handle]?.reassembler.channel }

    /// Queues a PDU, unless too many wait on the link.
    func queue(_ frame: L2CAPFrame, to handle: ConnectionHandle) {
        guard !outbound.send(frame, to: handle) else { return }
        environment.logger.debug(
            "dropped, because too many PDUs wait for the link", metadata: ["link": "\(handle)"])
    }

    /// Sends packets until the controller has no more room.
    func transmit() {
        while let packet = outbound.takeNext() {
            table.sent(packet)
            controller.transmit(packet) { channel(of: $0) }
        }
    }
}
