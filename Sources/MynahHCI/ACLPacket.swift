import MynahSupport

/// Data of a link, on its way between host and controller (Core Specification, Vol 4, Part E, 5.4.2).
package struct ACLPacket: Hashable, Sendable {
    /// Where in an L2CAP PDU it stands.
    package enum Boundary: UInt16, Hashable, Sendable {
        /// The first, of a host on a link that may be flushed or not.
        case first = 0b00
        /// One that goes on.
        case continuing = 0b01
        /// The first, of a controller, or of a host where it is flushed automatically.
        case firstFlushable = 0b10
        /// A whole one, which LE does not use.
        case complete = 0b11
    }

    /// The link.
    package var handle: ConnectionHandle
    /// Where in a PDU it stands.
    package var boundary: Boundary
    /// Its bytes.
    package var data: [UInt8]

    /// A packet of a link.
    package init(handle: ConnectionHandle, boundary: Boundary, data: [UInt8]) {
        self.handle = handle
        self.boundary = boundary
        self.data = data
    }

    /// The packet in a body; nil: its lengths do not agree.
    package init?(_ body: [UInt8]) {
        guard let (handle, boundary, data) = Self.parts(of: body) else { return nil }
        self.init(handle: handle, boundary: boundary, data: Array(data))
    }

    /// The link, the place in a PDU and the bytes of the packet in a body, where they are; nil: its lengths
    /// do not agree.
    package static func parts(
        of body: [UInt8]
    ) -> (handle: ConnectionHandle, boundary: Boundary, data: ArraySlice<UInt8>)? {
        var reader = ByteReader(body)
        guard let first = reader.readUInt16(), let length = reader.readUInt16(),
            reader.remaining == Int(length), let boundary = Boundary(rawValue: first >> 12 & 3)
        else { return nil }
        return (ConnectionHandle(rawValue: first), boundary, body[4...])
    }

    /// As a packet.
    package var packet: H4Packet {
        var writer = ByteWriter(capacity: 4 + data.count)
        writer.write(handle.rawValue | boundary.rawValue << 12)
        writer.write(UInt16(truncatingIfNeeded: data.count))
        writer.write(data)
        return H4Packet(.aclData, writer.bytes)
    }
}
