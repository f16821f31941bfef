import MynahSupport

/// An HCI ACL Data packet (Core Specification, Vol 4, Part E, 5.4.2).
package struct ACLPacket: Hashable, Sendable {
    /// The Packet_Boundary_Flag.
    package enum Boundary: UInt16, Hashable, Sendable {
        /// The first packet of a PDU from a host; the controller may not flush the packet automatically.
        case first = 0b00
        /// A continuing packet of a PDU.
        case continuing = 0b01
        /// The first packet of a PDU from a controller, or from a host if the packet may be flushed
        /// automatically.
        case firstFlushable = 0b10
        /// A complete PDU; not used on LE.
        case complete = 0b11
    }

    /// The connection handle.
    package var handle: ConnectionHandle
    /// The Packet_Boundary_Flag.
    package var boundary: Boundary
    /// The data, after the header.
    package var data: [UInt8]

    /// Makes a packet of a link.
    package init(handle: ConnectionHandle, boundary: Boundary, data: [UInt8]) {
        self.handle = handle
        self.boundary = boundary
        self.data = data
    }

    /// Parses a packet's body; returns `nil` if its length is not the one in its header.
    package init?(_ body: [UInt8]) {
        guard let (handle, boundary, data) = Self.parts(of: body) else { return nil }
        self.init(handle: handle, boundary: boundary, data: Array(data))
    }

    /// Returns the handle, the boundary and the data of a packet's body as a slice.
    ///
    /// Returns `nil` if the length of the body is not the one in its header.
    package static func parts(
        of body: [UInt8]
    ) -> (handle: ConnectionHandle, boundary: Boundary, data: ArraySlice<UInt8>)? {
        var reader = ByteReader(body)
        guard let first = reader.readUInt16(), let length = reader.readUInt16(),
            reader.remaining == Int(length), let boundary = Boundary(rawValue: first >> 12 & 3)
        else { return nil }
        return (ConnectionHandle(rawValue: first), boundary, body[4...])
    }

    /// Whether a packet with this body continues a PDU.
    package static func continues(_ body: [UInt8]) -> Bool {
        body.count > 1 && UInt16(body[1]) >> 4 & 3 == Boundary.continuing.rawValue
    }

    /// The HCI packet on the transport.
    package var packet: H4Packet {
        var writer = ByteWriter(capacity: 4 + data.count)
        writer.write(handle.rawValue | boundary.rawValue << 12)
        writer.write(UInt16(truncatingIfNeeded: data.count))
        writer.write(data)
        return H4Packet(.aclData, writer.bytes)
    }
}
