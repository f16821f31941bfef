import MynahSupport

/// The HCI packet indicator, which precedes each packet on a UART (Core Specification, Vol 4, Part A, 2).
///
/// Sockets with the same framing use it too.
public enum H4PacketType: UInt8, Hashable, Sendable, CaseIterable {
    /// HCI Command.
    case command = 0x01
    /// HCI ACL Data.
    case aclData = 0x02
    /// HCI Synchronous Data.
    case synchronousData = 0x03
    /// HCI Event.
    case event = 0x04
    /// HCI ISO Data.
    case isochronousData = 0x05
}

/// A packet between a host and a controller: its type, and the bytes after the type.
public struct H4Packet: Hashable, Sendable {
    /// The packet's type.
    public var type: H4PacketType
    /// The bytes after the type.
    public var body: [UInt8]

    /// Makes a packet.
    public init(_ type: H4PacketType, _ body: [UInt8]) {
        self.type = type
        self.body = body
    }

    /// The packet as bytes on the transport.
    package var bytes: [UInt8] { [type.rawValue] + body }
}

/// Splits a stream of bytes into packets.
///
/// After a byte that is not a packet type, decoding fails, because the length of the following data is not
/// known.
package struct H4Decoder: Sendable {
    /// The error for a stream that is not H4, or in which a byte was lost.
    package struct Lost: Error, Hashable, Sendable {
        /// The byte that was received instead of a packet type.
        package var byte: UInt8
    }

    private var buffer: [UInt8] = []
    private var start = 0

    /// Makes a decoder at the beginning of a stream.
    package init() {}

    /// The number of bytes of an incomplete packet that the decoder holds.
    package var pending: Int { buffer.count - start }

    /// Decodes received bytes, and returns the packets that are now complete.
    package mutating func decode(_ bytes: some Sequence<UInt8>) throws(Lost) -> [H4Packet] {
        buffer += bytes
        var packets: [H4Packet] = []
        while let (packet, length) = try next() {
            packets.append(packet)
            start += length
        }
        // The remaining bytes are moved once for many packets, and not once for each packet.
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        return packets
    }

    private func next() throws(Lost) -> (H4Packet, Int)? {
        guard start < buffer.count else { return nil }
        guard let type = H4PacketType(rawValue: buffer[start]) else { throw Lost(byte: buffer[start]) }
        let header = type.headerLength
        guard buffer.count - start > header else { return nil }
        let first = start + 1
        let length: Int =
            switch type {
            case .command, .synchronousData: Int(buffer[first + 2])
            case .event: Int(buffer[first + 1])
            case .aclData: Int(buffer[first + 2]) | Int(buffer[first + 3]) << 8
            case .isochronousData: (Int(buffer[first + 2]) | Int(buffer[first + 3]) << 8) & 0x3FFF
            }
        let end = first + header + length
        guard buffer.count >= end else { return nil }
        return (H4Packet(type, Array(buffer[first..<end])), end - start)
    }
}

extension H4PacketType {
    /// The length of the header, in bytes, whose last bytes contain the length of the data.
    var headerLength: Int {
        switch self {
        case .command, .synchronousData: 3
        case .event: 2
        case .aclData, .isochronousData: 4
        }
    }
}
