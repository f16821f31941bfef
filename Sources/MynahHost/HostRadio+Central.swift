public import MynahCore
import MynahHCI
import MynahSupport

// The central's half: its life and its links.
extension HostRadio: CentralRadio {
    /// The connection parameters that an iPhone was seen to choose: 30 ms, no latency, 720 ms.
    static let centralParameters = LEConnection.Parameters()

    /// Starts the central's half; opens the transport and brings the controller up, unless the peripheral's half has.
    public func start(_ identity: DeviceIdentity, central sink: any CentralSink) async throws(RadioError) {
        guard central.sink == nil, state == .stopped || state == .running else {
            throw RadioError(.invalidState, "the radio has been started already")
        }
        central.sink = sink
        if state == .stopped {
            // Alone on the controller it may use what legacy advertising excludes.
            central.usesExtendedCommands = true
            try await open(identity)
            central.usesExtendedCommands = central.hasExtendedScanning
        }
        tellCentral(.stateChanged(.poweredOn))
    }

    @discardableResult
    func tellCentral(_ event: CentralEvent) -> RadioAnswer {
        central.sink?.handle(event) ?? .none
    }

    /// Everyone who waits is told, and the half is as it was before it was started.
    func endCentralHalf(_ error: RadioError) {
        failConnections(error)
        central = CentralHalf()
    }

    func failConnections(_ error: RadioError) {
        let all = central.connections
        central.connections = []
        for connection in all { connection.continuation.resume(returning: .failure(error)) }
    }

    // MARK: - Connecting

    /// Connects; the next one's turn comes when this one is connected or given up.
    public func connect(_ address: DeviceAddress, timeout: Duration?) async throws(RadioError) -> Peer {
        guard state == .running else { throw RadioError(.invalidState, "the radio does not run") }
        if links.values.contains(where: { $0.role == .central && $0.peer.address == address })
            || central.connections.contains(where: { $0.address == address })
        {
            throw RadioError(.invalidState, "\(address) is connected already, or about to be")
        }
        central.lastConnection += 1
        let number = central.lastConnection
        let overdue = timeout.map { timeout in
            Task {
                guard (try? await sleep(timeout)) != nil else { return }
                giveUp(number, RadioError(.timedOut, "\(address) did not answer within \(timeout)"))
            }
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                central.connections.append(
                    CentralHalf.Connection(number: number, address: address, continuation: continuation))
                initiateNext()
            }
        } onCancel: {
            Task {
                await self.giveUp(number, RadioError(.timedOut, "connecting to \(address) was cancelled"))
            }
        }
        overdue?.cancel()
        return try result.get()
    }

    private func initiateNext() {
        guard let first = central.connections.first, case .waiting = first.progress else { return }
        central.connections[0].progress = .initiating
        Task {
            do throws(RadioError) {
                try await initiate(central.privateAddresses[first.address] ?? first.address)
            } catch {
                endConnection(first.number, .failure(error))
            }
        }
    }

    private func initiate(_ address: DeviceAddress) async throws(RadioError) {
        let parameters = Self.centralParameters
        var writer = ByteWriter(capacity: 26)
        let own = ownAddress?.kindCode ?? 0
        // Listening all the time, 60 ms of 60 ms.
        let listening: [UInt16] = [0x0060, 0x0060]
        let wanted = [parameters.interval, parameters.interval, parameters.latency, parameters.timeout, 0, 0]
        if central.usesExtendedCommands {
            writer.write([0, own, address.kindCode] as [UInt8])
            writer.write(address)
            writer.write(0x01 as UInt8)
            for value in listening + wanted { writer.write(value) }
            try await command(.leExtendedCreateConnection, writer.bytes, "connecting")
        } else {
            for value in listening { writer.write(value) }
            writer.write([0, address.kindCode] as [UInt8])
            writer.write(address)
            writer.write(own)
            for value in wanted { writer.write(value) }
            try await command(.leCreateConnection, writer.bytes, "connecting")
        }
    }

    /// Nobody wants this link any more.
    private func giveUp(_ number: UInt64, _ error: RadioError) {
        guard let index = central.connections.firstIndex(where: { $0.number == number }) else { return }
        switch central.connections[index].progress {
        case .waiting: endConnection(number, .failure(error))
        case .cancelling: break
        case .initiating:
            central.connections[index].progress = .cancelling(error)
            Task {
                // What the controller says of the connection itself follows; or the link was there first.
                await attempt { () throws(RadioError) in
                    try await command(.leCreateConnectionCancel, "giving up a connection")
                }
                guard (try? await sleep(options.commandTimeout)) != nil else { return }
                endConnection(number, .failure(error))
            }
        }
    }

    private func endConnection(_ number: UInt64, _ result: Result<Peer, RadioError>) {
        guard let index = central.connections.firstIndex(where: { $0.number == number }) else { return }
        central.connections.remove(at: index).continuation.resume(returning: result)
        initiateNext()
    }

    func centralConnectionEnded(_ status: HCIStatus, _ connection: LEConnection) {
        let wanted = central.connections.first
        guard status == .success else {
            guard let wanted else { return }
            if case .cancelling(let error) = wanted.progress {
                return endConnection(wanted.number, .failure(error))
            }
            let message = "connecting to \(wanted.address) failed: status 0x\(Hex.encode([status.code]))"
            return endConnection(wanted.number, .failure(RadioError(.disconnected, message)))
        }
        guard links[connection.handle] == nil else { return }
        guard let wanted, case .initiating = wanted.progress else {
            // It came after all, and nobody waits for it.
            Task {
                await attempt { () throws(RadioError) in
                    try await end(connection.handle, .remoteUserTerminatedConnection)
                }
            }
            if let wanted, case .cancelling(let error) = wanted.progress {
                endConnection(wanted.number, .failure(error))
            }
            return
        }
        let peer = add(connection)
        tellCentral(.connected(peer))
        // As an iPhone does: before anything else is asked for.
        begin(MTUExchange(ownMTU: ATTServer().ownMTU), connection.handle)
        endConnection(wanted.number, .success(peer))
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
        guard
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
