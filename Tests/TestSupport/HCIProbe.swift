package import MynahCore
package import MynahHCI
import MynahSupport

/// A host that a test controls, on any transport: commands as bytes, and all packets as they come.
package final class HCIProbe: Sendable {
    /// The controller refused a command, or an answer was no answer.
    package struct Refusal: Error {
        /// The command.
        package var opcode: HCIOpcode
        /// The return parameters after the status.
        package var values: [UInt8]
    }

    private struct Taker {
        /// Returns whether the packet is what it waits for, or whether it no longer waits.
        var offer: @Sendable (H4Packet) -> Offer
    }

    private enum Offer { case taken, notWanted, over }

    private struct State {
        var packets: [H4Packet] = []
        var waiters: [Taker] = []
        var ended: [RadioError?] = []
        var buffers: [ConnectionHandle: [UInt8]] = [:]
    }

    /// The transport.
    package let transport: any HCITransport
    private let state = Lock(State())

    /// A host that has not opened its transport.
    package init(_ transport: any HCITransport) {
        self.transport = transport
    }

    /// Opens the transport, resets the controller and lets it tell everything.
    package func open() async throws {
        try await transport.open(
            receive: { [weak self] in self?.receive($0) },
            ended: { [weak self] error in self?.state.withLock { $0.ended.append(error) } })
        try await command(.reset)
        try await command(.setEventMask, "FFFFFFFFFFFFFFFF")
        try await command(.leSetEventMask, "FFFFFFFFFFFFFFFF")
    }

    /// With what the transport ended, each time it said so.
    package var ended: [RadioError?] { state.withLock { $0.ended } }

    private func receive(_ packet: H4Packet) {
        state.withLock { state in
            var isTaken = false
            state.waiters.removeAll { waiter in
                guard !isTaken else { return false }
                let offer = waiter.offer(packet)
                isTaken = offer == .taken
                return offer != .notWanted
            }
            if isTaken { return }
            state.packets.append(packet)
            if state.packets.count > 1000 { state.packets.removeFirst(500) }
        }
    }

    /// The first packet that fits, of those that came and were not taken, or of those that come.
    package func take<Value: Sendable>(
        _ awaited: String, _ match: @escaping @Sendable (H4Packet) -> Value?
    ) async throws -> Value {
        try await waiting(for: awaited) { waiter in
            state.withLock { state in
                for (index, packet) in state.packets.enumerated() {
                    guard let value = match(packet) else { continue }
                    state.packets.remove(at: index)
                    waiter.resume(returning: value)
                    return
                }
                state.waiters.append(
                    Taker { packet in
                        guard let value = match(packet) else { return .notWanted }
                        return waiter.resume(returning: value) ? .taken : .over
                    })
            }
        }
    }

    /// The first event that fits, as `take` for packets.
    package func event<Value: Sendable>(
        _ awaited: String, _ match: @escaping @Sendable (HCIEventContent) -> Value?
    ) async throws -> Value {
        try await take(awaited) { packet in
            guard packet.type == .event else { return nil }
            return HCIEvent(packet.body).flatMap { HCIEventContent($0) }.flatMap(match)
        }
    }

    /// Whether an event that fits has come and was not taken.
    package func hasEvent(_ fits: (HCIEventContent) -> Bool) -> Bool {
        state.withLock { $0.packets }.contains { packet in
            guard packet.type == .event else { return false }
            return HCIEvent(packet.body).flatMap { HCIEventContent($0) }.map(fits) ?? false
        }
    }

    /// Sends a command, and returns its return parameters after the status.
    @discardableResult
    package func command(_ opcode: HCIOpcode, _ hex: String = "") async throws -> [UInt8] {
        transport.send(HCICommand(opcode, Hex.decode(hex) ?? []).packet)
        let values = try await event("the answer to the command \(opcode)") { content -> [UInt8]? in
            switch content {
            case .commandComplete(opcode, _, let values): values
            case .commandStatus(opcode, _, let status): [status.code]
            default: nil
            }
        }
        guard values.first == 0 else { throw Refusal(opcode: opcode, values: values) }
        return Array(values.dropFirst())
    }

    // MARK: - A phone

    /// Scans until an advertisement fits, and stops.
    package func scan(until match: @escaping @Sendable (LEAdvertisingReport) -> Bool) async throws
        -> LEAdvertisingReport
    {
        try await command(.leSetScanParameters, "01 1000 1000 00 00")
        try await command(.leSetScanEnable, "01 00")
        let report = try await event("an advertising report that fits") { content in
            guard case .advertisingReports(let reports) = content else { return nil as LEAdvertisingReport? }
            return reports.first(where: match)
        }
        try await command(.leSetScanEnable, "00 00")
        return report
    }

    /// Connects, and returns the link's handle.
    ///
    /// `isPatient`: the link survives a silence of half a minute, as a busy machine may cause one; else it
    /// ends after 180 ms before the other side was heard, and 720 ms then. `parameters`: others than these,
    /// as in LE Create Connection.
    package func connect(
        to address: DeviceAddress, isPatient: Bool = false, parameters: String? = nil
    ) async throws -> ConnectionHandle {
        var writer = ByteWriter()
        writer.write(address)
        let kind = Hex.encode([address.kindCode])
        try await command(
            .leCreateConnection,
            "1000 1000 00 \(kind) \(Hex.encode(writer.bytes)) 00 "
                + (parameters
                    ?? (isPatient ? "800C 800C 0000 800C 0000 0000" : "1800 1800 0000 4800 0000 0000")))
        return try await event("a connection to \(address)") { content in
            guard case .connectionComplete(let status, let link) = content, status == .success else {
                return nil
            }
            return link.handle
        }
    }

    /// Sends a PDU of L2CAP, in pieces of 27 bytes.
    package func send(_ payload: [UInt8], on channel: UInt16 = 4, of handle: ConnectionHandle) {
        var writer = ByteWriter()
        writer.write(UInt16(payload.count))
        writer.write(channel)
        writer.write(payload)
        let bytes = writer.bytes
        for start in stride(from: 0, to: bytes.count, by: 27) {
            let piece = Array(bytes[start..<min(start + 27, bytes.count)])
            transport.send(
                ACLPacket(handle: handle, boundary: start == 0 ? .first : .continuing, data: piece).packet)
        }
    }

    /// The next PDU of L2CAP on a channel.
    package func receive(on channel: UInt16 = 4, of handle: ConnectionHandle) async throws -> [UInt8] {
        while true {
            let packet = try await take("data of the link \(handle)") { packet -> ACLPacket? in
                guard packet.type == .aclData, let data = ACLPacket(packet.body), data.handle == handle
                else { return nil }
                return data
            }
            let whole = self.state.withLock { state -> [UInt8]? in
                if packet.boundary != .continuing { state.buffers[handle] = [] }
                state.buffers[handle, default: []] += packet.data
                guard let buffer = state.buffers[handle], buffer.count >= 4,
                    buffer.count == 4 + Int(buffer[0]) + Int(buffer[1]) * 256
                else { return nil }
                state.buffers[handle] = nil
                return buffer
            }
            guard let whole, UInt16(whole[2]) | UInt16(whole[3]) << 8 == channel else { continue }
            return Array(whole[4...])
        }
    }

    /// Sends a request of ATT, and returns the answer, both in hexadecimal.
    package func exchange(_ hex: String, of handle: ConnectionHandle) async throws -> String {
        send(Hex.decode(hex) ?? [], of: handle)
        return Hex.encode(try await receive(of: handle))
    }
}
