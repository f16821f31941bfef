import MynahControl
import MynahTestSupport
import Testing

@Suite struct ServerSentEventTests {
    @Test func `an event is written as fields and an empty line`() {
        let event = ServerSentEvent(id: "7f-12", event: "write", data: #"{"seq":12}"#)
        #expect(
            String(decoding: event.bytes, as: UTF8.self) == "id: 7f-12\nevent: write\ndata: {\"seq\":12}\n\n")
    }

    @Test(arguments: [
        ("", "data: \n\n"), ("a\nb", "data: a\ndata: b\n\n"),
        ("a\r\nb\rc\n", "data: a\ndata: b\ndata: c\ndata: \n\n"),
    ])
    func `each line of the data is a field`(data: String, text: String) {
        #expect(String(decoding: ServerSentEvent(data: data).bytes, as: UTF8.self) == text)
    }

    @Test func `an id cannot add fields`() {
        let event = ServerSentEvent(id: "1\ndata: x", event: "a\r\rb", data: "y")
        #expect(String(decoding: event.bytes, as: UTF8.self) == "id: 1 data: x\nevent: a  b\ndata: y\n\n")
    }

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
                found += try parser.take(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
            #expect(found == expected)
        }
    }

    @Test func `an event that is written is read again`() throws {
        var random = SeededGenerator(seed: 14)
        for _ in 0..<500 {
            let letters = Array("ab:\n é{\"")
            let data = String(
                (0..<Int.random(in: 0..<20, using: &random)).map { _ in
                    letters.randomElement(using: &random) ?? "a"
                })
            let event = ServerSentEvent(id: "\(data.count)", event: "e", data: data)
            var parser = ServerSentEventParser()
            #expect(try parser.take(event.bytes) == [event])
        }
    }

    @Test func `an event without end is an error`() {
        var parser = ServerSentEventParser(limit: 100)
        #expect(throws: ServerSentEventParser.TooLong.self) {
            for _ in 0..<200 { _ = try parser.take("data: 123456\n".utf8) }
        }
        var line = ServerSentEventParser(limit: 100)
        #expect(throws: ServerSentEventParser.TooLong.self) {
            try line.take([UInt8](repeating: 58, count: 101))
        }
    }
}
