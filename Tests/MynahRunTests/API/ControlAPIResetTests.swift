import Dispatch
import Mynah
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahControl
@testable import MynahRun

/// The reset of all devices.
@Suite(.timeLimit(.minutes(15))) struct ControlAPIResetTests {
    @Test func `a reset brings everything back, and numbers of events go on`() async throws {
        let rig = try await APIRig([APIRig.lock, APIRig.app])
        let phone = try await rig.connect()
        try await phone.write([1])
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
        await rig.stop()
    }

    @Test func `a reset passes over a device that does not play yet`() async throws {
        let plan = try RunRig.plan([RunRig.lock], isControlled: true)
        let folder = try TemporaryDirectory()
        let run = RunRig(plan, radios: try RunRig.missingController(in: folder))
        let rig = try await APIRig(playing: run)
        try await until("the device starts") { !run.session.devices.isEmpty }
        let answer = try await rig.send("POST /v1/reset")
        #expect(answer.status == 200, "\(answer.text)")
        await rig.stop()
    }

    @Test func `the events of a reset are gone too if they waited for a file`() async throws {
        let folder = try TemporaryDirectory()
        let directory = try StateDirectory(path: folder.path + "/state")
        let rig = try await APIRig(state: directory)
        let phone = try await rig.connect()
        let disk = DispatchSemaphore(value: 0)
        directory.writer.replace(KeptFile(path: folder.path + "/slow")) {
            disk.wait()
            return []
        } failed: { _ in
        }
        async let answer = rig.send("POST /v1/reset")
        try await until("the link has ended") { !phone.isConnected }
        disk.signal()
        #expect(try await answer.status == 200)
        #expect(try await rig.send("GET /v1/events").json["events"] == .array([]))
        await rig.stop()
    }

    @Test(arguments: ["values", "bonds", "connections", "journal"])
    func `a part that is reset leaves the others as they are`(part: String) async throws {
        let rig = try await APIRig()
        let phone = try await rig.connect()
        try await phone.write([1])
        #expect(try await rig.send("POST /v1/reset", "{\"\(part)\": true}").status == 200)
        let value = try await rig.send("GET /v1/devices/Lock/values/2A39").json["value"]
        #expect(value == (part == "values" ? "00" : "01"))
        let centrals = try await rig.send("GET /v1/devices/Lock").json["centrals"]?.arrayValue?.count
        #expect(centrals == (part == "connections" ? 0 : 1))
        let events = try await rig.send("GET /v1/events").json["events"]?.arrayValue ?? []
        #expect(events.contains { $0["event"] == "write" } == (part != "journal"))
        await rig.stop()
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
        let phone = try await rig.connect()
        try await phone.write([1])
        #expect(try await rig.send("POST /v1/reset", body).status == 200)
        let value = try await rig.send("GET /v1/devices/Lock/values/2A39").json["value"]
        #expect(value == (values ? "00" : "01"))
        let centrals = try await rig.send("GET /v1/devices/Lock").json["centrals"]?.arrayValue?.count
        #expect(centrals == (connections ? 0 : 1))
        let events = try await rig.send("GET /v1/events").json["events"]?.arrayValue ?? []
        #expect(events.contains { $0["event"] == "write" })
        await rig.stop()
    }
}
