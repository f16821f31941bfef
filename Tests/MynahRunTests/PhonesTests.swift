import Glibc
import Mynah
import MynahControl
import MynahEmulator
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahRun

/// Runs with several phones, whose names are in the profiles of their apps.
@Suite(.timeLimit(.minutes(5))) struct PhonesTests {
    /// An app that advertises, and finds and reads the app of another phone.
    private static func profile(of phone: String, name: String = "App") -> String {
        """
        mynah: 1
        name: \(name)
        phone: {name: \(phone)}
        app:
          backgroundModes: [bluetooth-peripheral, bluetooth-central]
          restoreIdentifier: identifier
        advertising: {localName: \(phone), serviceUUIDs: [1810]}
        services:
          - uuid: 1810
            characteristics:
              - {uuid: 2A19, properties: [read], permissions: {read: encrypted}, value: {hex: 64}}
        central:
          restoreIdentifier: central
          scan: {services: [1810]}
          peripherals: [{name: Friend, match: {services: [1810]}, read: [1810/2A19]}]
        """
    }

    private static var both: [String] { [profile(of: "Anna"), profile(of: "Bob")] }

    @Test func `apps of two phones find and pair with each other, each by its own radio`() async throws {
        let log = try await RunRig.playFast(Self.both)
        #expect(log.devices(.ready) == ["App", "App~2"])
        #expect(log.address(of: "App") != log.address(of: "App~2"))
        for event in [DeviceEvent.Name.peripheralConnected, .centralConnected, .paired, .valueRead] {
            #expect(Set(log.devices(event)) == ["App", "App~2"], "\(event)")
        }
        #expect(log.values("phone", of: .ready) == ["Anna", "Bob"])
    }

    @Test func `one phone is turned off while the other plays on`() async throws {
        let log = try await RunRig.playFast(Self.both, actions: ["10s=Anna:poweredOff"])
        #expect(log.values("state", of: .stateChanged) == ["poweredOn", "poweredOn", "poweredOff"])
        #expect(log.devices(.stateChanged) == ["App", "App~2", "App"])
        #expect(log.devices(.advertisingStopped) == ["App", "App~2"])
        // Bob's link to Anna is gone, and his app is still there at the end of the run.
        #expect(log.devices(.peripheralDisconnected).contains("App~2"))
    }

    @Test func `each phone has an app on its screen`() async throws {
        let other = Self.profile(of: "Anna", name: "Other")
        let log = try await RunRig.playFast(Self.both + [other], actions: ["5s=Other:foreground"])
        let warnings = log.events(.warning).filter { $0.string("code") == "startsInBackground" }
        #expect(warnings.map { $0.string("device") } == ["Other"])
        #expect(log.devices(.appForeground).suffix(1) == ["Other"])
        #expect(!log.devices(.appBackground).contains("App~2"))
    }

    @Test func `the state of a phone is in its own folder, and restored from there`() async throws {
        let folder = try TemporaryDirectory()
        let first = try await RunRig.playFast(Self.both, in: folder)
        #expect(first.devices(.appRestored) == [])
        #expect(folder.files == ["lock", "phone+Anna", "phone+Bob"])
        for phone in ["Anna", "Bob"] {
            #expect(
                Set(folder.files(of: "phone+\(phone)")) == [
                    "app+App.json", "attribute-tables.json", "bonds-phone.json", "central+App+central.json",
                    "known-peripherals.json",
                    "lock",
                    "peripheral+App+identifier.json",
                ])
        }
        let second = try await RunRig.playFast(Self.both, in: folder)
        #expect(second.devices(.appRestored) == ["App", "App", "App~2", "App~2"])
        // One phone stops before the other, and their link is in the state of both.
        let connected = second.events(.appRestored).compactMap { $0["peripherals"]?.arrayValue }
        #expect(connected.map(\.count) == [1, 1])
        #expect(second.devices(.paired) == [])
        #expect(Set(second.devices(.valueRead)) == ["App", "App~2"])
        // Bob alone finds what Bob had, also under another label.
        let third = try await RunRig.playFast([Self.profile(of: "Bob")], seconds: 1, in: folder)
        #expect(third.devices(.appRestored).count == 2)
    }

    @Test func `any name has one folder, and none leads out of the directory`() throws {
        let folder = try TemporaryDirectory()
        let directory = try StateDirectory(path: folder.path)
        let names = [
            "..", "/etc", "a/b", "a", "A", "Zoë", "%2F", "/", "\"", "phone+a",
            String(repeating: "é", count: 32),
        ]
        let made = try names.map { try directory.folder(ofPhone: $0) }
        #expect(folder.files.count == names.count + 1)
        #expect(folder.files.allSatisfy { $0 == "lock" || $0.hasPrefix("phone+") && $0.utf8.count < 250 })
        #expect(try directory.folder(ofPhone: "..") === made[0])
    }

    @Test func `apps that are added join their phone, or bring it along`() async throws {
        let folder = try TemporaryDirectory()
        let rig = try await APIRig([], state: try StateDirectory(path: folder.path))
        for phone in ["Anna", "Bob"] { try await rig.add(Self.profile(of: phone)) }
        try await rig.add(Self.profile(of: "Anna", name: "Other"))
        try await rig.add(RunRig.app.replacing("name: App", with: "name: Nobody's"))
        let devices = rig.run.session.devices
        #expect(devices.map(\.names.label) == ["App", "Other", "App~2", "Nobody's"])
        #expect(devices[0].emulator === devices[1].emulator)
        #expect(devices[0].emulator !== devices[2].emulator && devices[2].emulator !== devices[3].emulator)
        let snapshot = try await rig.send("GET /v1/devices/App~2")
        #expect(snapshot.json["phone"] == "Bob")
        #expect(try await rig.send("GET /v1/devices/Nobody's").json["phone"] == nil)
        // Nobody removes what another phone has.
        for device in ["App", "Other"] { try await rig.send("DELETE /v1/devices/\(device)") }
        #expect(rig.run.session.devices.map(\.names.label) == ["App~2", "Nobody's"])
        // Its folder is free for the phone that comes back.
        try await rig.add(Self.profile(of: "Anna"))
        #expect(rig.run.session.devices.map(\.names.phone) == ["Bob", nil, "Anna"])
        #expect(folder.files == ["bonds-phone.json", "lock", "phone+Anna", "phone+Bob"])
        await rig.stop()
    }

    @Test func `a request turns a phone off by its name, and all its apps see it`() async throws {
        let rig = try await APIRig([
            Self.profile(of: "Anna"), Self.profile(of: "Anna", name: "Other"), Self.profile(of: "Bob"),
            RunRig.lock,
        ])
        func send(_ device: String, _ state: String) async throws -> APIRig.Answer {
            try await rig.send("POST /v1/devices/\(device)/app", #"{"state": "\#(state)"}"#)
        }
        func states() async throws -> [String] {
            try await rig.send("GET /v1/devices").json["devices"]?.arrayValue?.map {
                $0["state"]?.stringValue ?? ""
            } ?? []
        }
        #expect(try await send("Anna", "poweredOff").json["device"] == "App")
        #expect(try await states() == ["poweredOff", "poweredOff", "poweredOn", "poweredOn"])
        // An app's name is its phone's there, and an accessory has power too.
        #expect(try await send("Other", "poweredOn").json["device"] == "Other")
        #expect(try await send("Lock", "poweredOff").status == 200)
        #expect(try await states() == ["poweredOn", "poweredOn", "poweredOn", "poweredOff"])
        #expect(try await send("Bob", "openAlert").status == 200)
        let refused = try await send("Anna", "background")
        #expect(refused.status == 409)
        #expect(refused.detail == #""Anna" is a phone, and background is for an app on it, such as "App""#)
        #expect(try await send("Lock", "openAlert").detail == "Lock is an accessory: no app plays it")
        #expect(try await send("Zoe", "poweredOff").status == 404)
        await rig.stop()
    }

    @Test func `an app that describes its phone otherwise is not added to it`() async throws {
        let rig = try await APIRig([Self.profile(of: "Anna")])
        func body(_ phone: String) -> String {
            #"{"profile": {"mynah": 1, "name": "Other", "phone": {"name": "\#(phone)"}, "app": {"iOS": 16}}}"#
        }
        let refused = try await rig.send("POST /v1/devices", body("Anna"))
        #expect(refused.status == 409)
        #expect(refused.detail.contains("iOS is 16 here and 17 (the default) in app-file.yaml"))
        #expect(try await rig.send("POST /v1/devices", body("Bob")).status == 201)
        #expect(rig.run.session.devices.map(\.names.label) == ["App", "Other"])
        await rig.stop()
    }
}

extension RunLog {
    /// The texts of a field in the events of a name.
    func values(_ field: String, of name: DeviceEvent.Name) -> [String] {
        events(name).map { $0.string(field) ?? "" }
    }
}

extension TemporaryDirectory {
    /// The names of what is in a folder of it, sorted.
    func files(of folder: String) -> [String] {
        (Directory.names(in: "\(path)/\(folder)") ?? []).filter { $0 != "." && $0 != ".." }.sorted()
    }
}
