public import MynahCore
import MynahHCI
import MynahSupport

// The central's half: its life and its links.
extension HostRadio: CentralRadio {
    /// Starts the central's half; opens the transport and brings the controller up, unless the peripheral's half has.
    public func start(_ identity: DeviceIdentity, central sink: any CentralSink) async throws(RadioError) {
        guard centralSink == nil, state == .stopped || state == .running else {
            throw RadioError(.invalidState, "the radio has been started already")
        }
        centralSink = sink
        if state == .stopped {
            try await open(identity)
        }
        tellCentral(.stateChanged(.poweredOn))
    }

    @discardableResult
    func tellCentral(_ event: CentralEvent) -> RadioAnswer {
        centralSink?.handle(event) ?? .none
    }

    /// Everyone who waits is told, and the half is as it was before it was started.
    func endCentralHalf(_ error: RadioError) {
        failConnections(error)
        central = CentralHalf()
        centralSink = nil
    }

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
        var writer = ByteWriter(capacity: 2)
        writer.write(try link(of: peer).handle)
        let answer = try await command(.readRSSI, writer.bytes, "reading how loud a link is")
        guard answer.count >= 3, answer[2] != 127 else {
            throw RadioError(.protocolViolation, "the controller told no signal strength")
        }
        return Int8(bitPattern: answer[2])
    }

    /// The peripheral asks by L2CAP to meet more or less often (Core Specification, Vol 3, Part A, 4.20).
    func updateParameters(
        of handle: UInt16, _ minimum: UInt16, _ maximum: UInt16, _ latency: UInt16, _ timeout: UInt16
    ) -> L2CAPSignal {
        guard supportedCommands.allows(.leConnectionUpdate),
            LEConnection.Parameters.areValid(
                minimum: minimum, maximum: maximum, latency: latency, timeout: timeout)
        else { return .parameterUpdateResponse(isAccepted: false) }
        var writer = ByteWriter(capacity: 14)
        for value in [handle, minimum, maximum, latency, timeout, 0, 0] { writer.write(value) }
        let parameters = writer.bytes
        Task {
            await attempt { () throws(RadioError) in
                try await command(.leConnectionUpdate, parameters, "changing how often a link meets")
            }
        }
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
        let parameters = writer.bytes
        Task {
            await attempt { () throws(RadioError) in
                try await command(opcode, parameters, "answering how often a link shall meet")
            }
        }
    }
}
