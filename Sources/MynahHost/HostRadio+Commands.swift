import MynahCore
import MynahHCI
import MynahSupport

/// Why a command came to nothing.
enum HCICommandError: Error {
    case refused(HCIStatus)
    case timedOut
    case ended
}

/// Which commands a controller is given for advertising, scanning and initiating; beside the ones it refuses the others
/// until it is reset (Core Specification, Vol 4, Part E, 3.1.1).
enum CommandStyle {
    case legacy
    case extended
}

// Commands and their answers.
extension HostRadio {
    /// Sends a command, and returns what the controller returns behind the status.
    @discardableResult
    func command(_ opcode: HCIOpcode, _ doing: String) async throws(RadioError) -> [UInt8] {
        try await command(opcode, [], doing)
    }

    /// As above, with parameters.
    @discardableResult
    func command(_ opcode: HCIOpcode, _ parameters: [UInt8], _ doing: String) async throws(RadioError)
        -> [UInt8]
    {
        guard state.isAttached else {
            throw RadioError(.lost, "the radio was stopped while \(doing)")
        }
        switch await exchange(HCICommand(opcode, parameters)) {
        case .success(let parameters): return parameters
        case .failure(let failure): throw error(of: failure, opcode, doing)
        }
    }

    /// What a user is told of a command that failed; `doing` completes "while …".
    func error(of failure: HCICommandError, _ opcode: HCIOpcode, _ doing: String) -> RadioError {
        switch failure {
        case .refused(.unknownCommand) where opcode == .leReadLocalSupportedFeatures:
            hasNoLE("it does not know LE commands")
        case .refused(let status):
            RadioError(
                .protocolViolation,
                "\(options.controller) refused \(doing): status 0x\(Hex.encode([status.code]))")
        case .timedOut:
            RadioError(
                .timedOut,
                "\(options.controller) did not answer within \(options.commandTimeout) while \(doing)")
        case .ended:
            endedWhileStarting
                ?? RadioError(.lost, "\(options.controller) is gone: its transport was closed while \(doing)")
        }
    }

    /// Sends a command, and returns what the controller returns after the status, or why nothing was returned.
    func exchange(_ command: HCICommand) async -> Result<[UInt8], HCICommandError> {
        guard state.isAttached else { return .failure(.ended) }
        let number = commands.add(command)
        let run = run
        let timeout = Task {
            guard (try? await sleep(options.commandTimeout)) != nil else { return }
            self.timeOut(number, run)
        }
        defer { timeout.cancel() }
        return await withCheckedContinuation { continuation in
            waiters[number] = continuation
            sendCommands()
        }
    }

    private func sendCommands() {
        for command in commands.takeReady() { transmit(command.packet) }
    }

    private func timeOut(_ number: UInt64, _ run: Int) {
        guard run == self.run else { return }
        commands.forget(number)
        waiters.removeValue(forKey: number)?.resume(returning: .failure(.timedOut))
        // One that says nothing any more is no controller.
        lose(
            RadioError(.lost, "\(options.controller) did not answer within \(options.commandTimeout)"), run)
    }

    /// A command was answered: with what it returns, or with a status alone.
    func answered(_ opcode: HCIOpcode, credits: Int, _ result: Result<[UInt8], HCICommandError>) {
        if let number = commands.answered(opcode, credits: credits) {
            waiters.removeValue(forKey: number)?.resume(returning: result)
        }
        sendCommands()
    }

    /// How to advertise, scan and initiate, which is settled by what is done first.
    ///
    /// A central hears more by the extended commands. A peripheral alone has nothing of them, and every controller knows the
    /// legacy ones.
    func chooseStyle() -> CommandStyle {
        if let commandStyle { return commandStyle }
        let chosen: CommandStyle = hasExtendedCommands && centralSink != nil ? .extended : .legacy
        commandStyle = chosen
        return chosen
    }

    // MARK: Bringing up

    /// Resets the controller, learns what it has and says what is to be told (Core Specification, Vol 6, Part D, 2.1).
    func bringUp() async throws(RadioError) {
        try await command(.reset, "resetting it")
        let features = try await leFeatures()
        supportedCommands = .unlisted
        await attempt { () throws(RadioError) in
            let octets = try await command(.readLocalSupportedCommands, "reading its supported commands")
            supportedCommands = HCISupportedCommands(octets) ?? .unlisted
        }
        try await command(
            .setEventMask, [0xFF, 0xFF, 0xFB, 0xFF, 0x07, 0xF8, 0xBF, 0x3D], "setting its event mask")
        hasExtendedCommands = features[1] & 0x10 != 0
        commandStyle = nil
        // Besides what every controller has, extended advertising reports and the end of a scan.
        let extended: [UInt8] = hasExtendedCommands ? [0x10, 0x01] : [0, 0]
        try await command(
            .leSetEventMask, [0x7F, 0x06 | extended[0], extended[1], 0, 0, 0, 0, 0],
            "setting its LE event mask")
        try await learnBuffers()
        if features[0] & 0x20 != 0 {
            // As long as a link takes them, 251 bytes of 2,120 µs: else packets stay at 27 where the peer does not ask.
            await attempt { () throws(RadioError) in
                try await command(
                    .leWriteSuggestedDefaultDataLength, [251, 0, 0x48, 0x08], "suggesting longer packets")
            }
        }
        var reader = ByteReader(try await command(.readBDADDR, "reading its address"))
        let publicAddress = reader.readAddress(kind: 0)
        try await chooseAddress(publicAddress)
        advertiser.began(ownAddress)
    }

    private func leFeatures() async throws(RadioError) -> [UInt8] {
        let features = try await command(.leReadLocalSupportedFeatures, "reading its LE features")
        guard features.count >= 8 else { throw hasNoLE("it tells no LE features") }
        return features
    }

    private func hasNoLE(_ why: String) -> RadioError {
        RadioError(
            .noAdapter, "\(options.controller) has no LE: \(why)",
            remedy: "use a controller for Bluetooth 4.0 or later")
    }

    private func learnBuffers() async throws(RadioError) {
        var reader = ByteReader(try await command(.leReadBufferSize, "reading its LE buffers"))
        guard let size = reader.readUInt16(), let count = reader.readUInt8() else {
            throw RadioError(.protocolViolation, "\(options.controller) told no LE buffer size")
        }
        if size > 0, count > 0 { return data.configure(size: Int(size), capacity: Int(count)) }
        // Zero: the buffers are shared with BR/EDR (Vol 4, Part E, 7.8.2).
        reader = ByteReader(try await command(.readBufferSize, "reading its buffers"))
        guard let size = reader.readUInt16(), reader.readUInt8() != nil, let count = reader.readUInt16()
        else {
            throw RadioError(.protocolViolation, "\(options.controller) told no buffer size")
        }
        data.configure(size: Int(size), capacity: Int(count))
    }
}
