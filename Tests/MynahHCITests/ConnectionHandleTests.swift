import MynahHCI
import MynahSupport
import Testing

@Suite struct ConnectionHandleTests {
    @Test(
        arguments: [
            ([0x40, 0x00], 0x0040, "0x0040"), ([0xFF, 0x0E], 0x0EFF, "0x0EFF"),
            // Bits above the 12 belong to the packet, or are not used.
            ([0x40, 0x20], 0x0040, "0x0040"), ([0xFF, 0xFF], 0x0FFF, "0x0FFF"),
        ] as [([UInt8], UInt16, String)])
    func `a handle is read as 12 bits, and written as it is`(bytes: [UInt8], number: UInt16, text: String) {
        var reader = ByteReader(bytes + [7])
        let handle = reader.readConnectionHandle()
        #expect(handle == ConnectionHandle(rawValue: number) && handle?.rawValue == number)
        #expect(handle?.description == text && reader.remaining == 1)
        var writer = ByteWriter()
        writer.write(ConnectionHandle(rawValue: number))
        #expect(writer.bytes == [bytes[0], bytes[1] & 0x0F])
    }

    @Test func `half a handle is none`() {
        var reader = ByteReader([0x40])
        #expect(reader.readConnectionHandle() == nil)
    }

    @Test func `handles are in the order of their numbers`() {
        let handles: [ConnectionHandle] = [0x0041, .last, 0x0040, 0x0000]
        #expect(handles.sorted() == [0x0000, 0x0040, 0x0041, .last])
        #expect(Set(handles + [0x0040]).count == 4)
    }

    @Test(arguments: ACLPacket.Boundary.all)
    func `the boundary of a packet is no part of its handle`(boundary: ACLPacket.Boundary) throws {
        let packet = ACLPacket(handle: 0x0EFF, boundary: boundary, data: [1, 2])
        let body = packet.packet.body
        #expect(body[0] == 0xFF && body[1] == 0x0E | UInt8(boundary.rawValue) << 4)
        #expect(ACLPacket(body) == packet)
        let parts = try #require(ACLPacket.parts(of: body))
        #expect(parts.handle == .last && parts.boundary == boundary && parts.data == [1, 2])
    }
}

extension ACLPacket.Boundary {
    fileprivate static let all: [Self] = [.first, .continuing, .firstFlushable, .complete]
}
