import MynahHCI
import MynahTestSupport
import Testing

@Suite struct H4Tests {
    private static let packets = [
        H4Packet(.command, [0x03, 0x0C, 0x00]), H4Packet(.event, [0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]),
        H4Packet(.aclData, [0x40, 0x20, 0x03, 0x00, 1, 2, 3]),
        H4Packet(.synchronousData, [0x01, 0x00, 0x01, 9]),
        H4Packet(.isochronousData, [0x01, 0x40, 0x02, 0x40, 8, 9]),
    ]

    @Test func `packets come out as they went in, however the stream is cut`() throws {
        let stream = Self.packets.flatMap(\.bytes)
        for size in 1...stream.count {
            var decoder = H4Decoder()
            var found: [H4Packet] = []
            for start in stride(from: 0, to: stream.count, by: size) {
                found += try decoder.decode(stream[start..<min(start + size, stream.count)])
            }
            #expect(found == Self.packets)
            #expect(decoder.pending == 0)
        }
    }

    @Test func `a byte that is no packet type loses the stream, and says which it was`() throws {
        var decoder = H4Decoder()
        let error = #expect(throws: H4Decoder.Lost.self) {
            try decoder.decode(Self.packets[0].bytes + [0x7F])
        }
        #expect(error?.byte == 0x7F)
    }

    @Test func `any bytes at all are taken apart or refused, and little is held`() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<2000 {
            var decoder = H4Decoder()
            let bytes = (0..<Int.random(in: 0..<600, using: &random)).map { _ in
                UInt8.random(in: Bool.random(using: &random) ? 0...255 : 1...5, using: &random)
            }
            _ = try? decoder.decode(bytes)
            #expect(decoder.pending <= 1 + 4 + 0xFFFF)
        }
    }
}
