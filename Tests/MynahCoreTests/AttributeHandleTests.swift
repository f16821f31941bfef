import MynahCore
import MynahSupport
import Testing

@Suite struct AttributeHandleTests {
    @Test(
        arguments: [
            ([0x00, 0x00], .none), ([0x01, 0x00], .first), ([0x34, 0x12], 0x1234), ([0xFF, 0xFF], .last),
        ] as [([UInt8], AttributeHandle)])
    func `a handle is two bytes, the lower one first`(bytes: [UInt8], handle: AttributeHandle) {
        var reader = ByteReader(bytes + [7])
        #expect(reader.readAttributeHandle() == handle && reader.remaining == 1)
        var writer = ByteWriter()
        writer.write(handle)
        #expect(writer.bytes == bytes)
        #expect(reader.readUInt8() == 7 && reader.readAttributeHandle() == nil)
    }

    @Test func `handles are in the order of their numbers`() {
        let handles: [AttributeHandle] = [0x0100, .last, .none, 0x00FF, .first]
        #expect(handles.sorted() == [.none, .first, 0x00FF, 0x0100, .last])
        #expect(Set(handles + [0x0001]).count == 5)
        #expect(AttributeHandle.all.contains(0x0001) && !AttributeHandle.all.contains(.none))
    }

    @Test func `the last handle has none after it`() {
        #expect(AttributeHandle.none.next == .first)
        #expect((AttributeHandle.last - 1).next == .last)
        #expect(AttributeHandle.last.next == nil)
    }

    @Test func `handles are counted on and back`() {
        #expect(AttributeHandle.first + 0xFFFE == .last && AttributeHandle.last - 0xFFFE == .first)
        #expect((0x0100 as AttributeHandle) - 1 == 0x00FF)
    }

    @Test func `a handle is shown by its decimal number, as in names`() {
        #expect("@\(0x0012 as AttributeHandle)" == "@18")
        #expect(JSON.handle(0x0012).text == "18")
    }

    @Test(arguments: [(JSON.integer(1), 1), (.integer(0xFFFF), .last)] as [(JSON, AttributeHandle)])
    func `a handle is read from its number`(json: JSON, handle: AttributeHandle) {
        #expect(json.handleValue == handle)
    }

    @Test(arguments: [JSON.integer(0), .integer(0x10000), .integer(-1), .string("1"), .null])
    func `a number that no attribute can have is not a handle`(json: JSON) {
        #expect(json.handleValue == nil)
    }
}
