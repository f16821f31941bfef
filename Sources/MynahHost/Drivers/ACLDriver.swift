import Logging
import MynahCore
import MynahHCI

/// Sends and receives the ACL data of the links.
///
/// The radio's drivers share it. It is confined to the radio's executor.
final class ACLDriver {
    private let environment: Environment
    private let controller: ControllerDriver
    /// The links, with what each has received of its next PDU.
    var table = LinkTable()
    /// Packets and values that wait for room.
    var outbound: Outbound

    init(_ environment: Environment, _ controller: ControllerDriver) {
        self.environment = environment
        self.controller = controller
        outbound = Outbound(limit: environment.options.queueLimit)
    }

    /// Clears everything that waits, when the radio stops.
    func reset() { outbound = Outbound(limit: environment.options.queueLimit) }

    /// The L2CAP channel of the PDU whose first packets a link has received, or `nil` if there is none.
    func channel(of handle: ConnectionHandle) -> UInt16? { table[handle]?.reassembler.channel }

    /// Queues a PDU, unless too many wait for the link.
    func queue(_ frame: L2CAPFrame, to handle: ConnectionHandle) {
        guard !outbound.send(frame, to: handle) else { return }
        environment.logger.debug(
            "dropped, because too many PDUs wait for the link", metadata: ["link": "\(handle)"])
    }

    /// Sends the packets that the controller has room for.
    func transmit() {
        while let packet = outbound.takeNext() {
            table.sent(packet)
            controller.transmit(packet) { channel(of: $0) }
        }
    }
}
