public import MynahCore
import MynahHCI
import MynahSupport

// The central's half: its life and its links.
extension HostRadio {
    static func disconnection(_ reason: HCIStatus) -> RadioError? {
        switch reason {
        case .connectionTerminatedByLocalHost: nil
        case .remoteUserTerminatedConnection: RadioError(.disconnected, "the peripheral ended the link")
        case .connectionTimeout: RadioError(.disconnected, "the peripheral was not heard any more")
        case .connectionFailedToBeEstablished: RadioError(.disconnected, "the link did not come about")
        default: RadioError(.disconnected, "the link ended: reason 0x\(Hex.encode([reason.code]))")
        }
    }

    // MARK: - Links

    func link(of peer: Peer.ID) throws(RadioError) -> Link {
        guard let link = links.values.first(where: { $0.peer.id == peer }) else {
            throw RadioError(.disconnected, "the peripheral is not connected")
        }
        return link
    }

    /// How loud the other is now, in dBm.
    public func readRSSI(of peer: Peer.ID) async throws(RadioError) -> Int8 {
        let handle = try link(of: peer).handle
        let answer = try await command(HCICommand(.readRSSI, handle: handle), "reading the RSSI of a link")
        guard answer.count >= 3, answer[2] != 127 else {
            throw RadioError(.protocolViolation, "the controller told no signal strength")
        }
        return Int8(bitPattern: answer[2])
    }

    /// The peripheral asks by L2CAP to meet more or less often (Core Specification, Vol 3, Part A, 4.20).
    func updateParameters(
        of handle: UInt16, _ minimum: UInt16, _ maximum: UInt16, _ latency: UInt16, _ timeout: UInt16
    ) -> L2CAPSignal {
        guard controller.profile.supportedCommands.allows(.leConnectionUpdate),
            LEConnection.Parameters.areValid(
                minimum: minimum, maximum: maximum, latency: latency, timeout: timeout)
        else { return .parameterUpdateResponse(isAccepted: false) }
        var writer = ByteWriter(capacity: 14)
        for value in [handle, minimum, maximum, latency, timeout, 0, 0] { writer.write(value) }
        send(HCICommand(.leConnectionUpdate, writer.bytes), "changing the parameters of a connection")
        return .parameterUpdateResponse(isAccepted: true)
    }

    /// The other side asks by the link layer, and its controller waits for an answer (Vol 4, Part E, 7.7.65.6).
    func answerParameterRequest(
        _ handle: UInt16, _ minimum: UInt16, _ maximum: UInt16, _ latency: UInt16, _ timeout: UInt16
    ) {
        var writer = ByteWriter(capacity: 14)
        writer.write(handle)
        let opcode: HCIOpcode
        if LEConnection.Parameters.areValid(
            minimum: minimum, maximum: maximum, latency: latency, timeout: timeout)
        {
            opcode = .leRemoteConnectionParameterRequestReply
            for value in [minimum, maximum, latency, timeout, 0, 0] { writer.write(value) }
        } else {
            opcode = .leRemoteConnectionParameterRequestNegativeReply
            writer.write(HCIStatus.unacceptableConnectionParameters.code)
        }
        send(HCICommand(opcode, writer.bytes), "answering a request for connection parameters")
    }
}
