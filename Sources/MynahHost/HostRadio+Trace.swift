import Logging
import MynahCore
import MynahHCI
import MynahSupport

// Every packet can be seen, but for the keys in them.
extension HostRadio {
    /// Commands that carry a key.
    private static let secretCommands: Set<HCIOpcode> = [
        .leEncrypt, .leEnableEncryption, .leLongTermKeyRequestReply, .leAddDeviceToResolvingList,
    ]

    func transmit(_ packet: H4Packet) {
        logger.trace("sent", metadata: ["type": "\(packet.type)", "body": "\(visible(packet))"])
        environment.transport.send(packet)
    }

    /// A packet's bytes, as far as anybody may see them.
    func visible(_ packet: H4Packet) -> String {
        var shown = packet.body.count
        switch packet.type {
        case .command:
            if let command = HCICommand(packet.body), Self.secretCommands.contains(command.opcode) {
                shown = 3
            }
        case .aclData:
            guard let data = ACLPacket(packet.body) else { break }
            if data.boundary == .continuing {
                // Ours all fit into one packet.
                if links[data.handle]?.reassembler.channel == L2CAPFrame.Channel.securityManager { shown = 4 }
            } else if data.data.dropFirst(2).prefix(2) == [6, 0] {
                // As far as the code.
                shown = 9
            }
        case .event, .synchronousData, .isochronousData: break
        }
        let bytes = Hex.encode(packet.body.prefix(shown))
        return shown < packet.body.count ? bytes + " (secret)" : bytes
    }
}
