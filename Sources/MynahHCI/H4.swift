import MynahSupport

/// The HCI packet indicator before each packet on a UART transport, or on a socket with the same framing
/// (Core Specification, Vol 4, Part A, 2).
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

/// A packet between a host and a controller: its type, and the bytes after it.
public struct H4Packet: Hashable, Sendable {
    /// The packet's type.
    public var type: H4PacketType
    /// The bytes after the type.
    public var body: [UInt8]

    /// A packet.
    public init(_ type: H4PacketType, _ body: [UInt8]) {
        self.type = type
        self.body = body
    }

    /// The bytes on the transport.
    package var bytes: [UInt8] { [type.rawValue] + body }
}

/// Cuts a stream of bytes into packets.
///
/// A byte that is no packet type cannot be skipped: what follows it has no known length, and the stream is
/// lost.
package struct H4Decoder: Sendable {
    /// The stream is no H4, or not any more.
    package struct Lost: Error, Hashable, Sendable {
        /// The byte where a packet type was expected.
        package var byte: UInt8
    }

    private var buffer: [UInt8] = []
    private var start = 0

    /// A decoder at the beginning of a stream.
    package init() {}

    /// How many bytes of a packet that is not complete are held; never more than one packet has.
    package var pending: Int { buffer.count - start }

    /// Decodes received bytes, and returns the packets that are complete now.
    package mutating func decode(_ bytes: some Sequence<UInt8>) throws(Lost) -> [H4Packet] {
        buffer += bytes
        var packets: [H4Packet] = []
        while let (packet, length) = try next() {
            packets.append(packet)
            start += length
        }
        // Moving the rest once for many packets, not once for each.
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
    /// The length of the header in bytes.
    ///
    /// The last bytes of the header are the length of the data.
    var headerLength: Int {
        switch self {
        case .command, .synchronousData: 3
        case .event: 2
        case .aclData, .isochronousData: 4
        }
    }
}
