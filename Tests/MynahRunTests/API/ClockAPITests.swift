import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahControl
@testable import MynahRun

/// The requests about the clock of a run.
@Suite(.timeLimit(.minutes(15))) struct ClockAPITests {
    @Test func `a run with the machine's time names its clock, and refuses to advance it`() async throws {
        let rig = try await APIRig([])
        let clock = try await rig.send("GET /v1/clock")
        #expect(clock.json["clock"] == "real")
        #expect(try await rig.send("GET /v1").json["clock"] == "real")
        let now = clock.json["now"]?.stringValue ?? ""
        #expect(now > "2026-01-01T00:00:01" && now.hasSuffix("Z"))
        let advance = try await rig.send("POST /v1/clock/advance", #"{"by": "10 s"}"#)
        #expect(advance.status == 409)
        #expect(
            advance.detail == """
                the clock is real, whose time moves by itself; start the run with --clock manual to advance it
                """)
        let reset = try await rig.send("POST /v1/reset", #"{"seed": 7}"#)
        #expect(reset.status == 409)
        #expect(
            reset.detail == "\"seed\" begins a new history, which needs --clock manual, and the clock is real"
        )
        await rig.stop()
    }

    @Test func `an advance answers with the time, and how far it came`() async throws {
        let rig = try await ManualRig([ManualRig.strap])
        try await rig.send("POST /v1/reset", #"{"values": true}"#)
        let begin = try await rig.send("GET /v1/clock").json
        #expect(begin.text == #"{"clock":"manual","now":"2026-01-01T00:00:00.000000Z"}"#)
        let answer = try await rig.send("POST /v1/clock/advance", #"{"by": "1.5 s"}"#)
        #expect(
            answer.json.text
                == #"{"clock":"manual","now":"2026-01-01T00:00:01.500000Z","advanced":"1500 ms"}"#)
        let zero = try await rig.send("POST /v1/clock/advance", #"{"by": "0 s"}"#)
        #expect(zero.status == 200 && zero.json["advanced"] == "0 s" && rig.now == .milliseconds(1500))
        let instance = try await rig.send("GET /v1").json
        #expect(instance["clock"] == "manual" && instance["now"] == "2026-01-01T00:00:01.500000Z")
        await rig.end()
    }

    @Test(arguments: [
        ("", "\"by\" is missing, as in {\"by\": \"15 min\"}"),
        (#"{"by": 5}"#, "\"by\" must be text, not 5"),
        (#"{"by": "soon"}"#, "\"by\" must be a duration such as 100 ms, not \"soon\""),
        (#"{"by": "-5 s"}"#, "\"by\" is -5 s, and time does not go back"),
        (#"{"by": "600000 min"}"#, "\"by\" is longer than a year; the maximum is 8784 h"),
        (#"{"to": "5 s"}"#, "unknown member \"to\"; known are by"),
    ])
    func `an advance that is no time is refused`(body: String, problem: String) async throws {
        let rig = try await ManualRig()
        let answer = try await rig.send("POST /v1/clock/advance", body)
        #expect(answer.status == 400)
        #expect(answer.detail == problem)
        #expect(rig.now == .zero)
        await rig.end()
    }

    @Test func `an advance that takes too long says how far it came, and another goes on`() async throws {
        let rig = try await ManualRig([ManualRig.strap])
        let api = ControlAPI(
            rig.run.session, Journal(epoch: "e"), version: "1", clock: rig.time.clock,
            requestLimit: .milliseconds(50))
        let request = HTTPRequest(
            method: "POST", path: ["v1", "clock", "advance"], body: Array(#"{"by": "500000 min"}"#.utf8))
        let response = await api.answer(request)
        guard case .bytes(let bytes) = response.body else { return }
        let answer = try JSON(parsing: bytes)
        let schema = try #require(Route.clock.last?.answers[408]?.schema)
        #expect(response.status == 408 && SchemaCheck.faults(of: answer, in: schema) == [])
        let detail = answer["detail"]?.stringValue ?? ""
        #expect(detail.hasPrefix("the clock advanced by "), "\(detail)")
        #expect(
            detail.hasSuffix(" of 500000 min, because it took 50 ms of real time; advance again to go on"),
            "\(detail)")
        let advanced = try DurationText.parse(answer["advanced"]?.stringValue ?? "")
        #expect(advanced > .zero && advanced == rig.now)
        try await rig.advance("1 s")
        await rig.end()
    }

    @Test func `a wait that takes too long ends, so that others get their turn`() async throws {
        let rig = try await ManualRig([ManualRig.strap])
        let api = ControlAPI(
            rig.run.session, Journal(), version: "1", clock: rig.time.clock, requestLimit: .milliseconds(50))
        let request = HTTPRequest(
            method: "POST", path: ["v1", "wait"],
            body: Array(#"{"match": "write", "within": "24 h"}"#.utf8))
        let response = await api.answer(request)
        guard case .bytes(let bytes) = response.body else { return }
        let answer = try JSON(parsing: bytes)
        #expect(response.status == 408)
        #expect(
            answer["detail"]?.stringValue
                == "no event matched write in 50 ms of real time; wait again to go on")
        #expect(rig.now > .zero && rig.now < .seconds(86_400))
        await rig.end()
    }

    @Test func `at the end of time only a new history is left`() async throws {
        let rig = try await ManualRig()
        let time = try #require(rig.time.clock.manual)
        _ = await time.carryOut { await time.advance(by: VirtualTime.end - .seconds(86_400)) }
        for line in ["POST /v1/clock/advance", "GET /v1/devices", "POST /v1/wait"] {
            let answer = try await rig.send(line)
            #expect(answer.status == 409)
            #expect(
                answer.detail
                    == "virtual time is at its end, 290 years after its beginning; begin a new history: "
                    + "mynah ctl reset")
        }
        #expect(try await rig.send("GET /v1/health").status == 200)
        #expect(try await rig.send("POST /v1/reset").status == 200)
        try await rig.advance("1 s")
        #expect(rig.now == .seconds(1))
        await rig.end()
    }

    @Test func `a seed has 64 bits, as text where a number has no room`() async throws {
        let rig = try await ManualRig()
        for seed in ["7", #""7""#, #""9223372036854775808""#, #""18446744073709551615""#] {
            #expect(try await rig.send("POST /v1/reset", #"{"seed": \#(seed)}"#).status == 200, "\(seed)")
        }
        for seed in ["-1", "1.5", #""""#, #""+1""#, #""18446744073709551616""#, "9223372036854775808", "[]"] {
            let answer = try await rig.send("POST /v1/reset", #"{"seed": \#(seed)}"#)
            #expect(answer.status == 400, "\(seed)")
            #expect(
                answer.detail.hasPrefix(
                    "\"seed\" must be a whole number from 0 to 18446744073709551615, as text from "
                        + "9223372036854775808 on, not "), "\(answer.detail)")
        }
        await rig.end()
    }

    @Test func `a wait takes at most a day, and with the machine's time ten minutes`() async throws {
        func within(_ text: String) -> String { #"{"match": "read", "within": "\#(text)"}"# }
        let rig = try await ManualRig()
        #expect(try await rig.send("POST /v1/wait", within("1440 min")).status == 408)
        #expect(rig.now == .seconds(86_400))
        let long = try await rig.send("POST /v1/wait", within("1441 min"))
        #expect(long.status == 400)
        #expect(long.detail == "\"within\" is 1441 min; at most a day is allowed")
        await rig.end()
        let real = try await APIRig([])
        let answer = try await real.send("POST /v1/wait", within("11 min"))
        #expect(answer.detail == "\"within\" is 11 min; at most 10 min are allowed")
        await real.stop()
    }

    @Test func `a stream gets a comment when the clock has moved without an event`() async throws {
        let rig = try await ManualRig()
        let api = try #require(rig.run.session.api)
        let response = await api.answer(HTTPRequest(method: "GET", path: ["v1", "events"]))
        guard case .stream(let body) = response.body else { return }
        let written = Mailbox<String>("pieces of the stream")
        let task = Task {
            await body(
                HTTPStreamWriter { bytes in
                    written.put(String(decoding: bytes, as: UTF8.self))
                    return true
                })
        }
        #expect(try await written.take() == [":\n\n"])
        try await rig.advance("1 s")
        #expect(try await written.take() == [": changed\n\n"])
        await rig.end()
        await task.value
    }
}
