import MynahControl
import MynahEmulator
import MynahProfiles
import MynahSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct EventsQueryTests {
    private static let journal = Events.journal(
        [
            Events.write("01"), Events.event(.read), Events.write("02"), Events.write("01"),
            Events.event(.read),
        ])

    private static func page(
        _ items: [(String, String)], _ journal: Journal = Self.journal
    ) async throws(ControlProblem) -> FoundEvents {
        try await EventsQuery(items.map { (name: $0.0, value: $0.1) }).page(of: journal)
    }

    /// The parameters, and the numbers of the events with the number to go on from.
    @Test(
        arguments: [
            ([], [1, 2, 3, 4, 5], 6), ([("since", "4")], [4, 5], 6), ([("since", "6")], [], 6),
            ([("limit", "2")], [1, 2], 3), ([("match", "write"), ("since", "2")], [3, 4], 5),
            ([("match", "write value=01")], [1, 4], 5), ([("match", "paired")], [], 1),
            ([("match", #" {"event": "write", "value": "02"}"#)], [3], 4),
            ([("limit", "1"), ("match", "read")], [2], 3), ([("last", "2")], [4, 5], 6),
            ([("last", "9")], [1, 2, 3, 4, 5], 6), ([("last", "4"), ("since", "4")], [4, 5], 6),
            ([("last", "2"), ("since", "1"), ("match", "read")], [5], 6),
        ] as [([(String, String)], [UInt64], UInt64)])
    func `a page has the events that match, and the number after the last of them`(
        items: [(String, String)], numbers: [UInt64], next: UInt64
    ) async throws {
        let page = try await Self.page(items)
        #expect(page.events.map(\.seq) == numbers)
        #expect(page.next == next)
        #expect(page.lost == 0)
    }

    @Test(
        arguments: [
            ([("sicne", "1")], "unknown query parameter \"sicne\"; did you mean \"since\"?"),
            ([("since", "1"), ("since", "2")], "the member \"since\" is repeated"),
            ([("since", "x")], "\"since\" must be a whole number, from 0 to \(Int.max), not \"x\""),
            ([("since", "7")], "there is no event 7 yet, the next event is 6"),
            ([("last", "0")], "\"last\" must be a whole number, from 1 to 10000, not 0"),
            ([("last", "1"), ("since", "7")], "there is no event 7 yet, the next event is 6"),
            ([("limit", "0")], "\"limit\" must be a whole number, from 1 to 10000, not 0"),
            ([("match", "wirte")], "match: there is no event \"wirte\"; did you mean \"write\"?"),
            ([("match", "{")], "match is not JSON: a key in quotation marks is expected at byte 1"),
            ([("match", "")], "match: it names no event"),
        ] as [([(String, String)], String)])
    func `a wrong query is refused with the reason`(items: [(String, String)], reason: String) async {
        let problem = await thrown { () async throws(ControlProblem) in _ = try await Self.page(items) }
        #expect(problem?.status == 400)
        #expect(problem?.detail.hasPrefix(reason) == true, "\(problem?.detail ?? "it was read")")
    }

    @Test func `the last events are there after a mark, and those that are not kept are not counted`()
        async throws
    {
        let journal = Events.journal((1...5).map { Events.numbered($0) }, capacity: 3)
        journal.mark("now")
        #expect(try await Self.page([("last", "4")], journal).events.map(\.seq) == [3, 4, 5])
        #expect(try await Self.page([("last", "4")], journal).lost == 0)
        journal.clear()
        #expect(try await Self.page([("last", "4")], journal).json.text == #"{"events":[],"next":6}"#)
    }

    @Test func `a page says how many events are not kept any more`() async throws {
        let journal = Events.journal((1...5).map { Events.numbered($0) }, capacity: 3)
        let page = try await Self.page([("limit", "1")], journal)
        #expect(page.json.text.hasPrefix(#"{"events":[{"seq":3,"#))
        #expect(page.json.text.hasSuffix(#"],"next":4,"lost":2}"#))
        let none = try await Self.page([("match", "write")], journal)
        #expect(none.json.text == #"{"events":[],"next":3,"lost":2}"#)
    }

    @Test func `pages follow each other without gap or repetition`() async throws {
        let journal = Events.journal((1...2500).map { Events.numbered($0) }, capacity: 3000)
        var numbers: [UInt64] = []
        var since: UInt64 = 1
        repeat {
            let page = try await Self.page([("since", "\(since)"), ("limit", "700")], journal)
            numbers += page.events.map(\.seq)
            since = page.next
        } while since <= 2500
        #expect(numbers == Array(1...2500))
    }
}

@Suite struct EventStreamFramesTests {
    private let frames = EventStreamFrames(epoch: "e")

    @Test func `an event is a frame with its number, its name and itself`() {
        let slice = Events.journal([Events.event(.read), Events.event(.paired)]).read(from: 1)
        let text = """
            id: e-1
            event: read
            data: {"seq":1,"time":"1970-01-01T00:00:00.000000Z","event":"read","device":"lock"}

            id: e-2
            event: paired
            data: {"seq":2,"time":"1970-01-01T00:00:00.000000Z","event":"paired","device":"lock"}


            """
        #expect(String(decoding: frames.frames(of: slice), as: UTF8.self) == text)
    }

    @Test func `text with line breaks stays in its frame`() {
        let event = Events.event(.warning, [("message", .string("a\r\n\nid: e-9\u{2028}\n"))])
        let text = String(decoding: frames.frames(of: Events.journal([event]).read(from: 1)), as: UTF8.self)
        #expect(text.utf8.count { $0 == UInt8(ascii: "\n") } == 4)
        #expect(!text.utf8.contains(UInt8(ascii: "\r")))
    }

    @Test func `a reader that was too slow is told how many events it has lost`() {
        let journal = Events.journal((1...5).map { Events.numbered($0) }, capacity: 3)
        let text = String(decoding: frames.frames(of: journal.read(from: 1)), as: UTF8.self)
        #expect(
            text.hasPrefix(
                "id: e-2\nevent: lost\ndata: {\"event\":\"lost\",\"count\":2}\n\n"
                    + "id: e-3\nevent: mtu.changed\n"
            ))
        journal.clear()
        let rest = String(decoding: frames.frames(of: journal.read(from: 4)), as: UTF8.self)
        #expect(rest == "id: e-5\nevent: lost\ndata: {\"event\":\"lost\",\"count\":2}\n\n")
    }

    @Test func `only events that match have frames`() throws {
        let frames = EventStreamFrames(epoch: "e", match: try EventMatch(parsing: "paired"))
        let slice = Events.journal([Events.event(.read), Events.event(.paired)]).read(from: 1)
        #expect(String(decoding: frames.frames(of: slice), as: UTF8.self).hasPrefix("id: e-2\n"))
        #expect(frames.frames(of: Events.journal([Events.event(.read)]).read(from: 1)).isEmpty)
        #expect(EventStreamFrames.keepAlive == Array(":\n\n".utf8))
    }

    @Test(
        arguments: [
            ("e-4", 5), ("e-9", 10), ("e-1", 2), ("e-0", 1), ("e-10", 3), ("f-4", 3), ("ee-4", 3), ("", 3),
            ("e-", 3),
            ("e", 3), ("4", 3), ("e-4x", 3), ("e--4", 3), ("e-+4", 3), ("e-99999999999999999999999", 3),
            ("e-٤", 3),
        ] as [(String, UInt64)])
    func `a stream goes on after the last identifier, if it is of this run`(id: String, position: UInt64) {
        #expect(frames.position(after: id, kept: 3..<10) == position)
    }
}
