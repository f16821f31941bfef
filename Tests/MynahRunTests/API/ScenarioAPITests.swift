import MynahSupport
import Testing

@testable import MynahControl

/// Scenarios over the API.
@Suite(.timeLimit(.minutes(15))) struct ScenarioAPITests {
    private static let scenarios =
        APIRig.lock + """

            scenarios:
              - {name: a write, steps: [{await: write, of: 2A39, value: 01}]}
              - {name: no write, steps: [{expect: write, within: 1 ms}]}
            """

    private static func wait(_ seq: JSON?) -> String {
        """
        {"match": "scenario.ended device=Lock", "since": \(seq?.text ?? "0"), "within": "10 min"}
        """
    }

    @Test func `a scenario is played, and its end is an event after the answer`() async throws {
        let rig = try await APIRig([Self.scenarios])
        let phone = try await rig.connect()
        let begun = try await rig.send("POST /v1/devices/Lock/scenarios/a%20write")
        #expect(begun.status == 202)
        #expect(begun.json["device"] == "Lock" && begun.json["scenario"] == "a write")
        let played = try await rig.send("GET /v1/devices/Lock").json["scenarios"]
        #expect(
            played?.text == #"[{"name":"a write","playing":true},{"name":"no write","playing":false}]"#)
        #expect(try await rig.send("POST /v1/devices/Lock/scenarios/no%20write").status == 409)
        try await phone.write([1])
        let end = try await rig.send("POST /v1/wait", Self.wait(begun.json["seq"]))
        #expect(end.json["events"]?.arrayValue?.first?["result"] == "pass")
        let other = try await rig.send("POST /v1/devices/Lock/scenarios/no%20write", "{}")
        let failed = try await rig.send("POST /v1/wait", Self.wait(other.json["seq"]))
        #expect(failed.json["events"]?.arrayValue?.first?["result"] == "fail")
        await rig.stop()
    }

    @Test func `a scenario that does not exist and a body that is no scenario's are refused`() async throws {
        let rig = try await APIRig([Self.scenarios])
        let unknown = try await rig.send("POST /v1/devices/Lock/scenarios/a%20wriet")
        #expect(unknown.status == 404)
        #expect(unknown.detail == "Lock has no scenario \"a wriet\"; did you mean \"a write\"?")
        #expect(try await rig.send("POST /v1/devices/Lock/scenarios/a%20write", #"{"a": 1}"#).status == 400)
        #expect(try await rig.send("GET /v1/devices/Lock/scenarios/a%20write").status == 405)
        await rig.stop()
    }

    @Test func `a reset ends a scenario, and an empty journal is no reset of the device`() async throws {
        let rig = try await APIRig([Self.scenarios])
        let begun = try await rig.send("POST /v1/devices/Lock/scenarios/a%20write")
        #expect(try await rig.send("POST /v1/reset", #"{"journal": true}"#).status == 200)
        #expect(try await rig.send("GET /v1/devices/Lock").text.contains(#""playing":true"#))
        #expect(try await rig.send("POST /v1/reset", #"{"values": true}"#).status == 200)
        let end = try await rig.send("POST /v1/wait", Self.wait(begun.json["seq"]))
        #expect(
            end.json["events"]?.arrayValue?.first?["message"]?.stringValue?.hasPrefix("the device was")
                == true)
        await rig.stop()
    }
}
