import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport

/// A controller that answers what every controller answers, and lets a test play what it hears and tells.
final class ScriptedController: HCITransport {
    struct State {
        var receive: (@Sendable (H4Packet) -> Void)?
        var ended: (@Sendable (RadioError?) -> Void)?
        var commands: [HCICommand] = []
        var data: [ACLPacket] = []
        var silent: Set<UInt16> = []
        var refused: [UInt16: UInt8] = [:]
        /// Done once, after a command has come and before it is answered.
        var beforeAnswer: [UInt16: @Sendable () -> Void] = [:]
        var isAdvertising = false
        var isClosed = false
        var hasPublicAddress = true
        var completesData = true
        var endsLinks = true
        /// The return parameter of Read Local Supported Commands.
        var supportedCommands: [UInt8] = []
        /// The status of a peripheral's controller for the request for its features.
        var featureStatus: UInt8? = 0
        var waiters: [(@Sendable (State) -> Bool, Waiter<Void>)] = []
    }

    let state = Lock(State())

    func open(
        receive: @escaping @Sendable (H4Packet) -> Void, ended: @escaping @Sendable (RadioError?) -> Void
    ) async throws(RadioError) {
        state.withLock {
            $0.receive = receive
            $0.ended = ended
            $0.isClosed = false
        }
    }

    func send(_ packet: H4Packet) {
        switch packet.type {
        case .command:
            guard let command = HCICommand(packet.body) else { return }
            let (isSilent, before) = change { state in
                state.commands.append(command)
                return (
                    state.silent.contains(command.opcode.rawValue),
                    state.beforeAnswer.removeValue(forKey: command.opcode.rawValue)
                )
            }
            before?()
            if !isSilent { answer(command) }
        case .aclData:
            guard let data = ACLPacket(packet.body) else { return }
            let completes = change { state in
                state.data.append(data)
                return state.completesData
            }
            if completes { complete(data.handle) }
        default: break
        }
    }

    func close() {
        state.withLock { $0.isClosed = true }
    }

    private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, ready) = state.withLock { state in
            let result = body(&state)
            let now = state
            state.waiters.removeAll { $0.0(now) }
            return (result, now.waiters.filter { $0.0(now) }.map(\.1))
        }
        for waiter in ready { waiter.resume() }
        return result
    }

    /// Waits until `condition`, which `awaited` says in words, holds for what the host did.
    func wait(_ awaited: String, until condition: @escaping @Sendable (State) -> Bool) async throws {
        try await waiting(for: awaited) { waiter in
            let isReady = state.withLock { state in
                if condition(state) { return true }
                state.waiters.append((condition, waiter))
                return false
            }
            if isReady { waiter.resume() }
        }
    }

    func tell(_ event: HCIEvent) {
        state.withLock { $0.receive }?(event.packet)
    }

    func end(_ error: RadioError? = nil) {
        state.withLock { $0.ended }?(error)
    }

    private func answer(_ command: HCICommand) {
        if let code = state.withLock({ $0.refused[command.opcode.rawValue] }) {
            return complete(command.opcode, [code])
        }
        switch command.opcode {
        case .leSetAdvertisingEnable:
            state.withLock { $0.isAdvertising = command.parameters == [1] }
            complete(command.opcode, [0])
        case .leSetAdvertisingParameters:
            // Not while advertising is on (Vol 4, Part E, 7.8.5).
            complete(command.opcode, [state.withLock { $0.isAdvertising } ? 0x0C : 0])
        case .leReadLocalSupportedFeatures: complete(command.opcode, [0] + Array(repeating: 0xFF, count: 8))
        case .readLocalSupportedCommands:
            complete(command.opcode, [0] + state.withLock { $0.supportedCommands })
        case .leReadBufferSize: complete(command.opcode, [0, 27, 0, 4])
        case .readBDADDR:
            let address: [UInt8] =
                state.withLock { $0.hasPublicAddress } ? [1, 2, 3, 4, 5, 6] : [0, 0, 0, 0, 0, 0]
            complete(command.opcode, [0] + address)
        case .disconnect:
            tell(HCIEvent(HCIEvent.commandStatus, [0, 1] + Self.bytes(command.opcode.rawValue)))
            guard state.withLock({ $0.endsLinks }) else { return }
            tell(HCIEvent(HCIEvent.disconnectionComplete, [0] + command.parameters.prefix(2) + [0x16]))
        case .leReadRemoteFeatures:
            tell(HCIEvent(HCIEvent.commandStatus, [0, 1] + Self.bytes(command.opcode.rawValue)))
            guard let status = state.withLock({ $0.featureStatus }) else { return }
            tell(
                HCIEvent(
                    HCIEvent.leMeta,
                    [0x04, status] + command.parameters.prefix(2) + Array(repeating: 0, count: 8))
            )
        default: complete(command.opcode, [0])
        }
    }

    private func complete(_ opcode: HCIOpcode, _ parameters: [UInt8]) {
        tell(HCIEvent(HCIEvent.commandComplete, [1] + Self.bytes(opcode.rawValue) + parameters))
    }

    func complete(_ handle: ConnectionHandle, _ count: UInt16 = 1) {
        tell(HCIEvent(HCIEvent.numberOfCompletedPackets, [1] + handle.littleEndianBytes + Self.bytes(count)))
    }

    static func bytes(_ value: UInt16) -> [UInt8] {
        [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
    }

    // MARK: A central

    func connect(
        _ handle: ConnectionHandle = 0x40, _ address: [UInt8] = [0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0]
    ) {
        state.withLock { $0.isAdvertising = false }
        tell(
            HCIEvent(
                HCIEvent.leMeta,
                [0x01, 0] + handle.littleEndianBytes + [1, 1] + address + [0x18, 0, 0, 0, 0x48, 0, 0]))
    }

    func disconnect(_ handle: ConnectionHandle = 0x40, reason: UInt8 = 0x13) {
        tell(HCIEvent(HCIEvent.disconnectionComplete, [0] + handle.littleEndianBytes + [reason]))
    }

    /// An L2CAP PDU of the central, cut into packets of 27 bytes.
    func receive(_ payload: [UInt8], on channel: UInt16 = 4, of handle: ConnectionHandle = 0x40) {
        let bytes = Self.bytes(UInt16(payload.count)) + Self.bytes(channel) + payload
        for start in stride(from: 0, to: bytes.count, by: 27) {
            let packet = ACLPacket(
                handle: handle, boundary: start == 0 ? .firstFlushable : .continuing,
                data: Array(bytes[start..<min(start + 27, bytes.count)]))
            state.withLock { $0.receive }?(packet.packet)
        }
    }
}

extension ScriptedController.State {
    /// The L2CAP payloads that were sent to a central, in hexadecimal, with their channel before them.
    func sent(to handle: ConnectionHandle = 0x40) -> [String] {
        var payloads: [String] = []
        var buffer: [UInt8] = []
        for packet in data where packet.handle == handle {
            if packet.boundary != .continuing { buffer = [] }
            buffer += packet.data
            guard buffer.count >= 4, buffer.count == 4 + Int(buffer[0]) + Int(buffer[1]) * 256 else {
                continue
            }
            payloads.append("\(buffer[2]):" + Hex.encode(buffer[4...]))
        }
        return payloads
    }

    func parameters(of opcode: HCIOpcode) -> [[UInt8]] {
        commands.filter { $0.opcode == opcode }.map(\.parameters)
    }
}
