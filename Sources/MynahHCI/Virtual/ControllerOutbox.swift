import MynahSupport

/// An output of a virtual controller.
package enum ControllerOutput: Hashable, Sendable {
    /// A packet for the host.
    case host(H4Packet)
    /// A PDU for one station, or for all listening stations if `to` is `nil`.
    case air(AirPDU, to: Station?)
}

/// A controller's outputs in order, and the event masks of its host.
///
/// Every part of the controller adds its events and PDUs.
struct ControllerOutbox: Sendable {
    /// The outputs that were not collected yet.
    var outputs: [ControllerOutput] = []
    /// The generation of the host's commands, or `nil` before the first command that belongs to one.
    private(set) var generation: CommandGeneration?
    private var eventMask: UInt64 = 0x0000_1FFF_FFFF_FFFF
    private var leEventMask: UInt64 = 0x1F

    /// Whether the host uses the extended commands, and so gets the extended events.
    var isExtended: Bool { generation == .extended }

    /// Resets the state as HCI Reset does (Core Specification, Vol 4, Part E, 7.3.2); outputs stay.
    mutating func reset() {
        let pending = outputs
        self = ControllerOutbox()
        outputs = pending
    }

    // MARK: Commands

    /// Returns whether the host may use a command of a generation.
    ///
    /// The first such command determines the generation of all later ones, until a reset (3.1.1).
    mutating func admits(_ wanted: CommandGeneration) -> Bool {
        if let generation { return generation == wanted }
        generation = wanted
        return true
    }

    /// Performs Set Event Mask (7.3.1).
    mutating func setEventMask(_ reader: inout ByteReader) -> CommandAnswer? {
        guard let mask = reader.readUInt64() else { return nil }
        eventMask = mask
        return .success
    }

    /// Performs LE Set Event Mask (7.8.1).
    mutating func setLEEventMask(_ reader: inout ByteReader) -> CommandAnswer? {
        guard let mask = reader.readUInt64() else { return nil }
        leEventMask = mask
        return .success
    }

    /// Answers a command with Command Complete or Command Status.
    ///
    /// The answer is inserted before the outputs from index `place` on. No event mask suppresses these two
    /// events.
    mutating func answer(_ opcode: HCIOpcode, _ answer: CommandAnswer, isLong: Bool, at place: Int) {
        let (low, high) = (UInt8(opcode.rawValue & 0xFF), UInt8(opcode.rawValue >> 8))
        let event =
            switch answer {
            case .complete(let status, let values) where !isLong:
                HCIEvent(HCIEvent.commandComplete, [1, low, high, status.code] + values)
            case .complete(let status, _), .status(let status):
                HCIEvent(HCIEvent.commandStatus, [status.code, 1, low, high])
            }
        outputs.insert(.host(event.packet), at: place)
    }

    // MARK: Events

    /// Whether the host enabled an LE event.
    func takesLE(_ subevent: UInt8) -> Bool {
        takes(HCIEvent.leMeta) && leEventMask & 1 << UInt64(max(Int(subevent) - 1, 0)) != 0
    }

    private func takes(_ code: UInt8) -> Bool {
        // Number Of Completed Packets has a bit that means nothing.
        guard code != HCIEvent.numberOfCompletedPackets else { return true }
        let bit = Int(code) - 1
        return bit >= 64 || eventMask & 1 << UInt64(bit) != 0
    }

    /// Adds an event, if the host enabled it.
    mutating func report(_ code: UInt8, _ parameters: [UInt8]) {
        guard takes(code) else { return }
        outputs.append(.host(HCIEvent(code, parameters).packet))
    }

    /// Adds an LE event, if the host enabled it.
    mutating func reportLE(_ subevent: UInt8, _ parameters: [UInt8]) {
        guard takesLE(subevent) else { return }
        outputs.append(.host(HCIEvent(HCIEvent.leMeta, [subevent] + parameters).packet))
    }

    // MARK: Data and PDUs

    /// Adds an ACL packet for the host.
    mutating func deliver(_ packet: ACLPacket) {
        outputs.append(.host(packet.packet))
    }

    /// Adds a PDU for a station, or for all listening stations if `station` is `nil`.
    mutating func transmit(_ pdu: AirPDU, to station: Station?) {
        outputs.append(.air(pdu, to: station))
    }
}
