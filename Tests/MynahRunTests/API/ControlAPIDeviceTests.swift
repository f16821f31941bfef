import Glibc
import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahControl
@testable import MynahRun

/// The instance and its devices; the rig compares each answer with the route's schema.
@Suite(.timeLimit(.minutes(15))) struct ControlAPIDeviceTests {
    @Test func `the instance, its health and its document are answered`() async throws {
        let rig = try await APIRig([APIRig.lock, APIRig.lock])
        let instance = try await rig.send("GET /v1")
        #expect(
            instance.json.text.hasPrefix(
                #"{"mynah":"1.2.3","radios":["virtual radio"],"devices":["Lock","Lock~2"],"clock":"#))
        #expect(try await rig.send("GET /v1/health").json.text == #"{"status":"ok","devices":2}"#)
        #expect(
            try await rig.send("GET /v1/openapi.json").json.text == OpenAPI.document(version: "1.2.3").text)
        await rig.stop()
    }

    @Test func `a device is found by its name and by its file's`() async throws {
        let rig = try await APIRig([APIRig.lock, APIRig.app])
        for name in ["Lock", "lock-file", "App", "app-file"] {
            #expect(try await rig.send("GET /v1/devices/\(name)").status == 200)
        }
        let list = try await rig.send("GET /v1/devices").json["devices"]?.arrayValue ?? []
        #expect(list.map { $0["device"] } == ["Lock", "App"])
        #expect(list.map { $0["app"]?["state"] } == [nil, "foreground"])
        await rig.stop()
    }

    @Test func `a device's name in events goes before the name of another device's file`() async throws {
        let other = APIRig.lock.replacing("name: Lock", with: "name: lock-file")
        let rig = try await APIRig([APIRig.lock, other])
        let answer = try await rig.send("GET /v1/devices/lock-file")
        #expect(answer.json["device"]?.stringValue == "lock-file")
        await rig.stop()
    }

    @Test func `a device with a connected central has everything that is known of it`() async throws {
        let rig = try await APIRig()
        let phone = try await rig.connect()
        let mtu = try await phone.exchangeMTU()
        try await phone.subscribe("2A37")
        let device = try await rig.send("GET /v1/devices/Lock").json
        let central = device["centrals"]?.arrayValue?.first
        #expect(central?["mtu"] == .integer(mtu) && central?["subscriptions"] == .array(["180D/2A37"]))
        await rig.stop()
    }

    @Test func `a device is added as an object, and removed`() async throws {
        let rig = try await APIRig()
        let profile = """
            {"profile": {"mynah": 1, "name": "Lock", "services": [{"uuid": "180F", "characteristics":
            [{"uuid": "2A19", "properties": ["read"], "value": {"hex": "64"}}]}]}, "seed": 7}
            """
        let added = try await rig.send("POST /v1/devices", profile, isUnixSocket: false)
        #expect(added.status == 201)
        #expect(added.json["device"] == "Lock~2")
        #expect(
            try await rig.send("GET /v1/devices/Lock~2/values/2A19").json.text
                == #"{"value":"64","fields":{"level":100}}"#)
        #expect(try await rig.send("DELETE /v1/devices/Lock~2").status == 200)
        #expect(try await rig.send("DELETE /v1/devices/Lock~2").status == 404)
        #expect(rig.run.session.devices.map(\.label) == ["Lock"])
        await rig.stop()
    }

    // MARK: Profiles' files

    @Test func `a file is named over a Unix socket, and over TCP only in the directory of profiles`()
        async throws
    {
        let (inside, outside) = (try TemporaryDirectory(), try TemporaryDirectory())
        for directory in [inside, outside] { try directory.write(APIRig.lock, to: "lock.yaml") }
        let linked = symlink("\(outside.path)/lock.yaml", "\(inside.path)/link.yaml") == 0
        try #require(linked)
        let rig = try await APIRig([], directory: inside.path)
        let name = outside.path.split(separator: "/").last.map(String.init) ?? ""
        for path in [
            "\(outside.path)/lock.yaml", "link.yaml", "\(inside.path)/link.yaml", "../\(name)/lock.yaml",
            "\(inside.path)/../\(name)/lock.yaml", "missing.yaml", "/nowhere/lock.yaml", "", ".", "..",
        ] {
            let answer = try await rig.send(
                "POST /v1/devices", #"{"profile": "\#(path)"}"#, isUnixSocket: false)
            #expect(answer.status == 403, "\(path)")
            // It does not tell whether the file is there.
            #expect(!answer.detail.contains("mynah-state") && !answer.detail.contains("No such"))
        }
        #expect(rig.run.session.devices.isEmpty)
        for path in ["lock.yaml", "\(inside.path)/lock.yaml", "./lock.yaml"] {
            let answer = try await rig.send(
                "POST /v1/devices", #"{"profile": "\#(path)"}"#, isUnixSocket: false)
            #expect(answer.status == 201, "\(path)")
        }
        let trusted = try await rig.send("POST /v1/devices", #"{"profile": "\#(outside.path)/lock.yaml"}"#)
        #expect(trusted.status == 201)
        await rig.stop()
    }

    @Test func `without a directory of profiles no file is named over TCP`() async throws {
        let rig = try await APIRig([])
        for path in ["/etc/passwd", "lock.yaml", "/"] {
            let answer = try await rig.send(
                "POST /v1/devices", #"{"profile": "\#(path)"}"#, isUnixSocket: false)
            #expect(answer.status == 403, "\(path)")
        }
    }
}
