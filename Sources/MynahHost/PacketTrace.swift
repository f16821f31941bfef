import Logging
import MynahHCI
import MynahSupport

extension Logger {
    /// Logs a packet at the level trace, without the keys in it.
    ///
    /// `channel` returns the L2CAP channel of a link's incomplete PDU, to which a continuing packet belongs.
    func trace(_ message: Message, _ packet: H4Packet, _ channel: (ConnectionHandle) -> UInt16?) {
        trace(
            message,
            metadata: ["type": "\(packet.type)", "body": "\(packet.visibleBody(continuing: channel))"])
    }
}

extension H4Packet {
    /// The commands that contain a key.
    private static let secretCommands: Set<HCIOpcode> = [
        .leEncrypt, .leEnableEncryption, .leLongTermKeyRequestReply, .leAddDeviceToResolvingList,
    ]

    /// The body in hexadecimal for a log, without any keys.
    ///
    /// `channel` returns the L2CAP channel of a link's incomplete PDU, to which a continuing packet belongs.
    func visibleBody(continuing channel: (ConnectionHandle) -> UInt16?) -> String {
        var shown = body.count
        switch type {
        case .command:
            if let command = HCICommand(body), Self.secretCommands.contains(command.opcode) { shown = 3 }
        case .aclData:
            guard let data = ACLPacket(body) else { break }
            if data.boundary == .continuing {
                // Only a peer's PDU can be split; this host's SMP PDUs all fit into one packet.
                if channel(data.handle) == L2CAPFrame.Channel.securityManager { shown = 4 }
            } else if data.data.dropFirst(2).prefix(2) == [6, 0] {
                // The bytes up to and including the SMP code.
                shown = 9
            }
        case .event, .synchronousData, .isochronousData: break
        }
        let bytes = Hex.encode(body.prefix(shown))
        return shown < body.count ? bytes + " (secret)" : bytes
    }
}
