import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahControl

/// The reset of all devices.
@Suite(.timeLimit(.minutes(15))) struct ControlAPIResetTests {
    @Test func `a reset brings everything back, and numbers of events go on`() async throws {
        let rig = try await APIRig([APIRig.lock, APIRig.app])
        try await rig.connect()
        try await rig.write([1])
        try await rig.send("POST /v1/devices/Lock/advertise", #"{"localName": "Ned"}"#)
        try await rig.send("POST /v1/devices/App/app", #"{"state": "quit"}"#)
        let before =
            try await rig.send("POST /v1/mark", #"{"name": "before"}"#).json["seq"]?.integerValue ?? 0
        #expect(try await rig.send("POST /v1/reset").json == .object([]))
        #expect(
            try await rig.send("GET /v1/devices/Lock/values/2A39").json.text
                == #"{"value":"00","fields":{"command":0}}"#)
        let lock = try await rig.send("GET /v1/devices/Lock").json
        #expect(lock["centrals"] == .array([]) && lock["advertising"]?["on"] == .bool(true))
        #expect(try await rig.send("GET /v1/devices/App").json["app"]?["state"] == "foreground")
        #expect(try await rig.send("GET /v1/events").json["events"] == .array([]))
        let after = try await rig.send("POST /v1/mark", #"{"name": "after"}"#).json["seq"]?.integerValue ?? 0
        #expect(after > before)
        await rig.run.stop()
    }

    @Test func `a reset passes over a device that does not play yet`() async throws {
        let rig = try await APIRig(on: FakeRun(holdsStarting: true))
        let radio = try rig.radio()
        try await until("the device starts") { await radio.heldCount == 1 }
        let answer = try await rig.send("POST /v1/reset")
        #expect(answer.status == 200, "\(answer.text)")
        await radio.release()
        try await until("the device plays") { try await rig.send("GET /v1/devices/Lock").status == 200 }
        await rig.run.stop()
    }

    @Test func `the events of a reset are gone too if they waited for a file`() async throws {
        let rig = try await APIRig()
        try await rig.connect()
        rig.run.holdEvents()
        #expect(try await rig.send("POST /v1/reset").status == 200)
        await rig.run.awaitEvents()
        #expect(try await rig.send("GET /v1/events").json["events"] == .array([]))
        await rig.run.stop()
    }

    @Test(arguments: ["values", "bonds", "connections", "journal"])
    func `a part that is reset leaves the others as they are`(part: String) async throws {
        let rig = try await APIRig()
        try await rig.connect()
        try await rig.write([1])
        #expect(try await rig.send("POST /v1/reset", "{\"\(part)\": true}").status == 200)
        let value = try await rig.send("GET /v1/devices/Lock/values/2A39").json["value"]
        #expect(value == (part == "values" ? "00" : "01"))
        let centrals = try await rig.send("GET /v1/devices/Lock").json["centrals"]?.arrayValue?.count
        #expect(centrals == (part == "connections" ? 0 : 1))
        let events = try await rig.send("GET /v1/events").json["events"]?.arrayValue ?? []
        #expect(events.contains { $0["event"] == "write" } == (part != "journal"))
        await rig.run.stop()
    }

    @Test(arguments: [
        (#"{"values": false, "journal": false}"#, false, true),
        (#"{"values": false, "connections": true}"#, false, true),
        (#"{"values": true, "connections": false}"#, true, false),
        (#"{"values": false, "bonds": false, "connections": false, "journal": false}"#, false, false),
    ])
    func `a reset without a true part resets all but the false ones`(
        body: String, values: Bool, connections: Bool
    ) async throws {
        let rig = try await APIRig()
        try await rig.connect()
        try await rig.write([1])
        #expect(try await rig.send("POST /v1/reset", body).status == 200)
        let value = try await rig.send("GET /v1/devices/Lock/values/2A39").json["value"]
        #expect(value == (values ? "00" : "01"))
        let centrals = try await rig.send("GET /v1/devices/Lock").json["centrals"]?.arrayValue?.count
        #expect(centrals == (connections ? 0 : 1))
        let events = try await rig.send("GET /v1/events").json["events"]?.arrayValue ?? []
        #expect(events.contains { $0["event"] == "write" })
        await rig.run.stop()
    }
}
