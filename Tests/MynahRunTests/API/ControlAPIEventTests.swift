import MynahEmulator
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahControl
@testable import MynahRun

/// Past and future events.
@Suite(.timeLimit(.minutes(15))) struct ControlAPIEventTests {
    @Test func `a wait finds an event that has happened, and goes on from its next`() async throws {
        let rig = try await APIRig()
        let phone = try await rig.connect()
        try await phone.write([1])
        try await phone.write([2])
        let first = try await rig.send("POST /v1/wait", #"{"match": "write value=01"}"#)
        #expect(first.json["events"]?.arrayValue?.compactMap { $0["value"] } == ["01"])
        let next = try #require(first.json["next"]?.integerValue)
        let second = try await rig.send(
            "POST /v1/wait",
            #"{"match": {"event": "write", "device": "lock-file"}, "since": \#(next), "within": "10 min"}"#)
        #expect(second.json["events"]?.arrayValue?.compactMap { $0["value"] } == ["02"])
        await rig.stop()
    }

    @Test func `a wait ends with an event that comes later`() async throws {
        let rig = try await APIRig()
        let phone = try await rig.connect()
        async let answer = rig.send("POST /v1/wait", #"{"match": "write value=07", "within": "10 min"}"#)
        try await phone.write([7])
        #expect(try await answer.json["events"]?.arrayValue?.count == 1)
        await rig.stop()
    }

    @Test func `a wait in vain says what came nearest and what was seen`() async throws {
        let rig = try await APIRig()
        let phone = try await rig.connect()
        try await phone.write([1])
        let answer = try await rig.send("POST /v1/wait", #"{"match": "write value=02", "within": "0 s"}"#)
        #expect(answer.status == 408)
        #expect(answer.json["nearest"]?.arrayValue?.first?["differs"] == .array(["value"]))
        #expect(answer.json["seen"]?["write"] == .integer(1))
        await rig.stop()
    }

    @Test func `a verification counts what has happened since the last mark`() async throws {
        let rig = try await APIRig()
        let phone = try await rig.connect()
        try await phone.write([1])
        let mark = try await rig.send("POST /v1/mark", #"{"name": "second"}"#)
        try await phone.write([2])
        let one = try await rig.send("POST /v1/verify", #"{"match": "write", "exactly": 1}"#)
        #expect(one.json.text == #"{"count":1}"#)
        let never = try await rig.send("POST /v1/verify", #"{"match": "write", "never": true}"#)
        #expect(never.status == 422)
        #expect(never.json["timeline"]?.arrayValue?.count == 1)
        let all = try await rig.send(
            "POST /v1/verify",
            #"{"order": ["write value=01", {"event": "write", "value": "02"}], "since": 1}"#)
        #expect(all.status == 200)
        let page = try await rig.send("GET /v1/events?match=write&since=1&limit=1")
        #expect(page.json["events"]?.arrayValue?.count == 1)
        let rest = try await rig.send("GET /v1/events")
        #expect(rest.json["events"]?.arrayValue?.first?["seq"] == mark.json["seq"])
        await rig.stop()
    }

    /// A change of the MTU to this number, which tells it from others.
    private func numbered(_ number: Int) -> DeviceEvent {
        DeviceEvent(
            time: WallTime(microseconds: 0), name: .mtuChanged, fields: [.init("mtu", .integer(number))])
    }

    @Test func `events that are not kept any more are counted in every answer`() async throws {
        let run = RunRig.unplayed
        let journal = Journal(capacity: 2, epoch: "e")
        for number in 1...5 { journal.append(numbered(number)) }
        let api = ControlAPI(run, journal, version: "1")
        func answer(_ operation: Operation, _ body: String) async throws -> JSON {
            let route = try #require(Route.all.first { $0.operation == operation })
            let path = route.segments.map { if case .literal(let text) = $0 { text } else { "" } }
            let response = await api.answer(
                HTTPRequest(
                    method: route.method, path: path, headers: [HTTPField("Accept", "application/json")],
                    body: Array(body.utf8)))
            guard case .bytes(let bytes) = response.body else { return .null }
            let json = try JSON(parsing: bytes)
            let schema = route.answers[response.status]?.schema ?? .named("Problem")
            #expect(SchemaCheck.faults(of: json, in: schema) == [], "\(operation)")
            return json
        }
        let match = #""match": "mtu.changed mtu=5", "since": 1"#
        #expect(try await answer(.listEvents, "")["lost"] == .integer(3))
        #expect(try await answer(.wait, "{\(match)}")["lost"] == .integer(3))
        #expect(
            try await answer(.wait, #"{"match": "read", "since": 1, "within": "0 s"}"#)["lost"] == .integer(3)
        )
        #expect(try await answer(.verify, "{\(match)}")["lost"] == .integer(3))
        #expect(try await answer(.verify, "{\(match), \"never\": true}")["lost"] == .integer(3))
        _ = journal.mark("end")
        for number in 6...9 { journal.append(numbered(number)) }
        #expect(try await answer(.getReport, "")["lost"] == .integer(2))
    }
}
