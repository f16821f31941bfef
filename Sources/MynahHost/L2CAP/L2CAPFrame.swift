package import MynahHCI
import MynahSupport

/// A PDU of a logical channel (Core Specification, Vol 3, Part A, 3.1).
package struct L2CAPFrame: Hashable, Sendable {
    /// The fixed channels of an LE link (2.1).
    package enum Channel {
        package static let attribute: UInt16 = 0x0004
        package static let signalling: UInt16 = 0x0005
        package static let securityManager: UInt16 = 0x0006
        /// The channel identifiers of LE credit-based channels.
        static let dynamic: ClosedRange<UInt16> = 0x0040...0x007F
    }

    package var channel: UInt16
    package var payload: [UInt8]

    /// The confirmation of an indication (Vol 3, Part F, 3.4.7.3).
    static let confirmation = L2CAPFrame(
        channel: Channel.attribute, payload: [ATTOpcode.handleValueConfirmation])

    /// Whether the frame contains a request from this side, or gives credits to the peer.
    ///
    /// Requests are ATT requests, requests on the signalling channel (4), and the first PDU of a pairing (Vol
    /// 3, Part H, 3.3).
    var isRequest: Bool {
        guard let code = payload.first else { return false }
        switch channel {
        case Channel.attribute:
            return !ATTClient.takes(code) && !ATTOpcode.isCommand(code) && self != .confirmation
        case Channel.signalling: return [0x06, 0x12, 0x14, 0x16].contains(code)
        case Channel.securityManager:
            return [SMPPDU.Code.pairingRequest, .securityRequest].contains { $0.rawValue == code }
        default: return false
        }
    }

    /// The frame as a single ACL packet; the controller must accept packets of this length.
    func whole(for handle: ConnectionHandle) -> H4Packet {
        var writer = ByteWriter(capacity: 8 + payload.count)
        writer.write(handle)
        writer.write(UInt16(truncatingIfNeeded: 4 + payload.count))
        writer.write(UInt16(truncatingIfNeeded: payload.count))
        writer.write(channel)
        writer.write(payload)
        return H4Packet(.aclData, writer.bytes)
    }

    /// The frame as ACL packets with at most `size` bytes of data.
    func packets(for handle: ConnectionHandle, of size: Int) -> [ACLPacket] {
        var writer = ByteWriter(capacity: 4 + payload.count)
        writer.write(UInt16(truncatingIfNeeded: payload.count))
        writer.write(channel)
        writer.write(payload)
        let bytes = writer.bytes
        return stride(from: 0, to: bytes.count, by: max(1, size)).map { start in
            ACLPacket(
                handle: handle, boundary: start == 0 ? .first : .continuing,
                data: Array(bytes[start..<min(start + max(1, size), bytes.count)]))
        }
    }
}

/// Reassembles the PDUs of one link.
///
/// Packets out of order are dropped, as the specification requires for flushed data: a first packet within
/// another PDU, a continuation without a first packet, or more data than announced.
package struct L2CAPReassembler: Sendable {
    private var buffer: [UInt8] = []
    private var needed = 0

    /// Makes a reassembler for a link that has not received data yet.
    package init() {}

    /// The number of buffered bytes, which all belong to one PDU.
    var pending: Int { buffer.count }

    /// The channel of the incomplete PDU, or `nil` if there is none or its header is incomplete.
    var channel: UInt16? {
        buffer.count < 4 ? nil : UInt16(buffer[2]) | UInt16(buffer[3]) << 8
    }

    /// Adds a packet; returns the PDU that is now complete, or `nil` if there is none.
    package mutating func add(_ packet: ACLPacket) -> L2CAPFrame? {
        add(packet.data[...], packet.boundary)
    }

    /// Adds a packet's bytes; returns the PDU that is now complete, or `nil` if there is none.
    package mutating func add(_ bytes: ArraySlice<UInt8>, _ boundary: ACLPacket.Boundary) -> L2CAPFrame? {
        switch boundary {
        case .first, .firstFlushable, .complete:
            needed = 0
            let start = bytes.startIndex
            if bytes.count >= 4, bytes.count == 4 + (Int(bytes[start]) | Int(bytes[start + 1]) << 8) {
                // Most PDUs arrive in one packet.
                buffer = []
                return L2CAPFrame(
                    channel: UInt16(bytes[start + 2]) | UInt16(bytes[start + 3]) << 8,
                    payload: Array(bytes[(start + 4)...]))
            }
            buffer = Array(bytes)
        case .continuing:
            guard !buffer.isEmpty else { return nil }
            buffer += bytes
        }
        if needed == 0 {
            guard buffer.count >= 4 else { return nil }
            needed = 4 + (Int(buffer[0]) | Int(buffer[1]) << 8)
        }
        guard buffer.count >= needed else { return nil }
        defer {
            buffer = []
            needed = 0
        }
        guard buffer.count == needed else { return nil }
        return L2CAPFrame(channel: UInt16(buffer[2]) | UInt16(buffer[3]) << 8, payload: Array(buffer[4...]))
    }
}
