import MynahSupport

/// Data of a link, on its way between host and controller (Core Specification, Vol 4, Part E, 5.4.2).
public struct ACLPacket: Hashable, Sendable {
    /// Where in an L2CAP PDU it stands.
    public enum Boundary: UInt16, Hashable, Sendable {
        /// The first, of a host on a link that may be flushed or not.
        case first = 0b00
        /// One that goes on.
        case continuing = 0b01
        /// The first, of a controller, or of a host where it is flushed automatically.
        case firstFlushable = 0b10
        /// A whole one, which LE does not use.
        case complete = 0b11
    }

    /// The link, 12 bits.
    public var handle: UInt16
    /// Where in a PDU it stands.
    public var boundary: Boundary
    /// Its bytes.
    public var data: [UInt8]

    /// A packet of a link.
    public init(handle: UInt16, boundary: Boundary, data: [UInt8]) {
        self.handle = handle
        self.boundary = boundary
        self.data = data
    }

    /// The packet in a body; nil: its lengths do not agree.
    public init?(_ body: [UInt8]) {
        var reader = ByteReader(body)
        guard let first = reader.readUInt16(), let length = reader.readUInt16(),
            let data = reader.readBytes(Int(length)), reader.isAtEnd,
            let boundary = Boundary(rawValue: first >> 12 & 3)
        else { return nil }
        self.init(handle: first & 0xFFF, boundary: boundary, data: data)
    }

    /// As a packet.
    public var packet: H4Packet {
        var writer = ByteWriter(capacity: 4 + data.count)
        writer.write(handle & 0xFFF | boundary.rawValue << 12)
        writer.write(UInt16(truncatingIfNeeded: data.count))
        writer.write(data)
        return H4Packet(.aclData, writer.bytes)
    }
}
