import MynahControl
import Testing

@Suite struct ServerSentEventTests {
    @Test func `events are found however the stream is cut`() throws {
        let stream =
            "\u{FEFF}: hello\r\nid: 1\r\ndata: a\r\ndata:b\r\n\r\nevent: x\rdata\r\rdata: c\n\nretry: 5\n\n"
        let expected = [
            ServerSentEvent(id: "1", data: "a\nb"), ServerSentEvent(id: "1", event: "x", data: ""),
            ServerSentEvent(id: "1", data: "c"),
        ]
        let bytes = Array(stream.utf8)
        for size in [1, 2, 3, 7, bytes.count] {
            var parser = ServerSentEventParser()
            var found: [ServerSentEvent] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                found += try parser.decode(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
            #expect(found == expected)
        }
    }

    @Test func `an event without end is an error`() {
        var parser = ServerSentEventParser(limit: 100)
        #expect(throws: ServerSentEventParser.TooLong.self) {
            for _ in 0..<200 { _ = try parser.decode("data: 123456\n".utf8) }
        }
        var line = ServerSentEventParser(limit: 100)
        #expect(throws: ServerSentEventParser.TooLong.self) {
            try line.decode([UInt8](repeating: 58, count: 101))
        }
    }
}
