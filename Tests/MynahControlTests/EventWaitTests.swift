import MynahControl
import MynahEmulator
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct EventWaitTests {
    // MARK: The body

    @Test func `a body may leave out everything but the match`() throws {
        let wait = try EventWait(parsing: Array(#"{"match": {"event": "write", "value": "01"}}"#.utf8))
        #expect(wait.count == 1)
        #expect(wait.within == .seconds(2))
        #expect(wait.since == nil)
        #expect(wait.match.matches(Events.write("01")))
        #expect(!wait.match.matches(Events.write("02")))
    }

    @Test(arguments: [
        (#""500 ms""#, Duration.milliseconds(500)), (#""0 s""#, .zero), (#""10 min""#, .seconds(600)),
        (#""1.5s""#, .milliseconds(1500)),
    ])
    func `a body has a match in either form, a count, a time and a start`(
        text: String, within: Duration
    ) throws {
        let body = #"{"match": "write value=01 ..", "count": 3, "within": \#(text), "since": 7}"#
        let wait = try EventWait(parsing: Array(body.utf8))
        #expect(wait == EventWait(wait.match, count: 3, within: within, since: 7))
        #expect(wait.match.text == "write value=01 ..")
    }

    @Test(arguments: [
        ("", "\"match\" is missing"), ("{}", "\"match\" is missing"), ("[]", "the body is not a JSON object"),
        ("{", "the body is not JSON: a key in quotation marks is expected at byte 1"),
        (#"{"match": "write", "cuont": 1}"#, "unknown member \"cuont\"; did you mean \"count\"?"),
        (#"{"match": "write", "x": 1}"#, "unknown member \"x\"; known are match, count, within, since"),
        (#"{"match": "write", "match": "read"}"#, "the member \"match\" is repeated"),
        (#"{"match": "wirte"}"#, "match: there is no event \"wirte\"; did you mean \"write\"?"),
        (#"{"match": {"event": "wirte"}}"#, "match: there is no event \"wirte\"; did you mean \"write\"?"),
        (#"{"match": 1}"#, "match: a match is an object"),
        (#"{"match": "write", "count": 0}"#, "\"count\" must be a whole number, from 1 to 10000, not 0"),
        (#"{"match": "write", "count": "1"}"#, "must be a whole number, from 1 to 10000, not \"1\""),
        (#"{"match": "write", "count": 10001}"#, "\"count\" must be a whole number"),
        (#"{"match": "write", "within": 2}"#, "\"within\" must be text, not 2"),
        (
            #"{"match": "write", "within": "2"}"#,
            "\"within\" has no unit; write 2 us, 2 ms, 2 s, 2 min or 2 h"
        ),
        (#"{"match": "write", "within": "11 min"}"#, "\"within\" is 11 min; at most 10 min are allowed"),
        (
            #"{"match": "write", "since": -1}"#,
            "\"since\" must be a whole number, from 0 to \(Int.max), not -1"
        ),
        (
            #"{"match": "write", "since": 9223372036854775808}"#,
            "\"since\" must be a whole number, from 0 to \(Int.max), not 9223372036854775808"
        ),
        (
            #"{"match": "write", "since": null}"#,
            "\"since\" must be a whole number, from 0 to \(Int.max), not null"
        ),
    ])
    func `a wrong body is refused with the reason`(body: String, reason: String) async {
        let problem = await thrown { () throws(ControlProblem) in
            _ = try EventWait(parsing: Array(body.utf8))
        }
        #expect(problem?.status == 400)
        #expect(problem?.detail.contains(reason) == true, "\(problem?.detail ?? "it was read")")
    }

    @Test(arguments: [
        "{\"match\": \"write \(String(repeating: "a=1 ", count: 200_000))\"}",
        "{\"match\": {\"event\": \"write\"\((0..<50_000).map { ", \"a\($0)\": 1" }.joined())}}",
    ])
    func `a match that is too long is refused`(body: String) async {
        let problem = await thrown { () throws(ControlProblem) in
            _ = try EventWait(parsing: Array(body.utf8))
        }
        #expect(problem?.detail == "match: a match has at most 4096 bytes")
    }

    // MARK: The answer

    private let clock = ManualClock()

    /// The answer of a wait that need not wait.
    private func answer(
        _ text: String, count: Int = 1, since: UInt64? = nil, of journal: Journal
    ) async throws -> FoundEvents {
        try await EventWait(try EventMatch(parsing: text), count: count, since: since)
            .answer(from: journal, clock: clock)
    }

    @Test func `a wait finds what has happened, and the next one goes on after it`() async throws {
        let journal = Events.journal(["01", "02", "01", "03"].map { Events.write($0) })
        let first = try await answer("write value=01", of: journal)
        #expect(first.events.map(\.seq) == [1])
        #expect(first.next == 2)
        let second = try await answer("write value=01", since: first.next, of: journal)
        #expect(second.events.map(\.seq) == [3])
        #expect(second.next == 4)
        #expect(try await answer("write", count: 3, of: journal).events.map(\.seq) == [1, 2, 3])
        let start =
            #"{"events":[{"seq":1,"time":"1970-01-01T00:00:00.000000Z","event":"write","device":"lock""#
        #expect(first.json.text.hasPrefix(start))
        #expect(first.json.text.hasSuffix(#"],"next":2}"#))
    }

    @Test func `a wait begins with the last mark`() async throws {
        let journal = Events.journal([Events.write("01")])
        journal.mark("m")
        journal.append(Events.write("01"))
        #expect(try await answer("write", of: journal).events.map(\.seq) == [2])
        #expect(try await answer("write", since: 1, of: journal).events.map(\.seq) == [1])
    }

    @Test func `a wait that begins before what is kept says how many events were lost`() async throws {
        let journal = Events.journal((1...5).map { Events.numbered($0) }, capacity: 3)
        let found = try await answer("mtu.changed", of: journal)
        #expect(found.lost == 2)
        #expect(found.json["lost"] == .integer(2))
        #expect(found.events.map(\.seq) == [3])
        let gone = try EventMatch(parsing: "mtu.changed mtu=1")
        let problem = await thrown { () async throws(ControlProblem) in
            _ = try await EventWait(gone, within: .zero)
                .answer(from: journal, clock: clock)
        }
        #expect(problem?["lost"] == .integer(2))
    }

    @Test func `a wait is answered by the events that come after it was set`() async throws {
        let journal = Events.journal([Events.write("01")])
        let clock = clock
        async let answer = EventWait(try EventMatch(parsing: "write value=02"), count: 2)
            .answer(from: journal, clock: clock)
        try await until("it waits") { journal.waiterCount == 1 }
        for value in ["02", "01", "03"] { journal.append(Events.write(value)) }
        try await until("it waits again") { journal.waiterCount == 1 }
        journal.append(Events.write("02"))
        #expect(try await answer.events.map(\.seq) == [2, 5])
        #expect(journal.waiterCount == 0)
        #expect(clock.sleeperCount == 0)
    }

    @Test func `a wait in vain ends with its time, and says what came nearest`() async throws {
        let journal = Events.journal([Events.write("02"), Events.event(.read), Events.event(.read)])
        let match = try EventMatch(parsing: "write value=01 characteristic=2A39")
        let clock = clock
        let task = Task {
            await thrown { () async throws(ControlProblem) in
                _ = try await EventWait(match, within: .seconds(5)).answer(from: journal, clock: clock)
            }
        }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5) - .nanoseconds(1))
        journal.append(Events.write("03", of: "2A38"))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .nanoseconds(1))
        let problem = try #require(await task.value)
        #expect(problem.status == 408)
        #expect(problem.detail == "no event matched write value=01 characteristic=2A39 within 5 s")
        #expect(problem["seen"]?.text == #"{"read":2,"write":2}"#)
        let nearest = try #require(problem["nearest"]?.arrayValue)
        #expect(nearest.map { $0["seq"] } == [.integer(1), .integer(4)])
        #expect(nearest.map { $0["differs"]?.text } == [#"["value"]"#, #"["value","characteristic"]"#])
        #expect(nearest.first?["event"] == .string("write"))
        #expect(problem["lost"] == nil)
        #expect(journal.waiterCount == 0)
    }

    @Test func `a wait of no time looks once`() async throws {
        let journal = Events.journal([Events.write("01")])
        let problem = await thrown { () async throws(ControlProblem) in
            _ = try await EventWait(Events.anyWrite, count: 2, within: .zero)
                .answer(from: journal, clock: clock)
        }
        #expect(problem?.detail.hasPrefix("1 of 2 events matched write within 0 s") == true)
        #expect(clock.sleeperCount == 0)
    }

    @Test func `the end of the run and a client that goes end a wait`() async throws {
        let journal = Journal()
        let clock = clock
        func wait() -> Task<ControlProblem?, Never> {
            Task {
                await thrown { () async throws(ControlProblem) in
                    _ = try await EventWait(Events.anyWrite).answer(from: journal, clock: clock)
                }
            }
        }
        let cancelled = wait()
        try await until("it waits") { journal.waiterCount == 1 }
        cancelled.cancel()
        #expect(await cancelled.value?.detail.contains("before the wait was cancelled") == true)
        #expect(journal.waiterCount == 0)
        let ended = wait()
        try await until("it waits") { journal.waiterCount == 1 }
        journal.end()
        #expect(await ended.value?.detail.contains("before the run ended") == true)
        #expect(clock.sleeperCount == 0)
    }

    @Test func `a wait from a number that does not exist yet is refused`() async throws {
        let problem = await thrown { () async throws(ControlProblem) in
            _ = try await EventWait(Events.anyWrite, since: 2).answer(from: Journal(), clock: clock)
        }
        #expect(problem?.status == 400)
    }
}
