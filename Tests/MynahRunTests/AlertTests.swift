import MynahControl
import MynahEmulator
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahRun

/// Notifications of a phone, over the control API.
@Suite(.timeLimit(.minutes(5))) struct AlertTests {
    private static func profile(_ phone: String, name: String = "App") -> String {
        "mynah: 1\nname: \(name)\napp: {}\nphone: \(phone)\n"
    }

    @Test func `a notification is shown, changed and removed, by the name of an app or of its phone`()
        async throws
    {
        let rig = try await APIRig([Self.profile("{name: Anna, services: [ancs]}")])
        func send(_ name: String, _ body: String) async throws -> (status: Int, uid: Int?) {
            let answer = try await rig.send("POST /v1/devices/\(name)/alert", body)
            return (answer.status, answer.json["uid"]?.integerValue)
        }
        let bodies: [(name: String, body: String, status: Int, uid: Int?)] = [
            ("App", #"{"message": "Hello"}"#, 200, 1),
            ("Anna", #"{"title": "Hi", "app": "com.apple.MobileSMS", "flags": ["silent"]}"#, 200, 2),
            ("App", #"{"message": "Bye", "uid": 1}"#, 200, 1), ("Anna", #"{"remove": 1}"#, 200, 1),
            ("Anna", #"{"remove": 1}"#, 404, nil), ("App", #"{"message": "x", "uid": 9}"#, 404, nil),
            ("App", "{}", 400, nil), ("App", #"{"remove": 2, "message": "x"}"#, 400, nil),
            ("App", #"{"message": "x", "category": "gossip"}"#, 400, nil),
            ("App", #"{"message": "x", "uid": -1}"#, 400, nil),
            ("App", #"{"message": 1, "date": "x"}"#, 400, nil),
            ("App", #"{"massage": "x"}"#, 400, nil), ("Bob", #"{"message": "x"}"#, 404, nil),
        ]
        for each in bodies {
            let answer = try await send(each.name, each.body)
            #expect(answer.status == each.status && answer.uid == each.uid, "\(each): \(answer)")
        }
        // A reset takes away what came since the start.
        #expect(try await rig.send("POST /v1/reset", #"{"values": true}"#).status == 200)
        #expect(try await send("App", #"{"remove": 2}"#).status == 404)
        #expect(try await send("App", #"{"message": "Hello"}"#).uid == 3)
        await rig.stop()
    }

    @Test func `a phone without notifications says what it needs`() async throws {
        let rig = try await APIRig([Self.profile("{services: [ams]}")])
        let answer = try await rig.send("POST /v1/devices/App/alert", #"{"message": "Hello"}"#)
        #expect(answer.status == 409)
        #expect(answer.detail.contains("add phone: {services: [ancs]} to the profile"))
        await rig.stop()
    }

    @Test func `an app that is added cannot give services to a phone that plays without`() async throws {
        let rig = try await APIRig([Self.profile("{name: Anna}")])
        let phone = #"{"name": "Anna", "services": ["ams"]}"#
        let body = #"{"profile": {"mynah": 1, "name": "Other", "app": {}, "phone": \#(phone)}}"#
        let refused = try await rig.send("POST /v1/devices", body)
        #expect(refused.status == 409)
        #expect(refused.detail.contains("phone.services has to be in a profile that it begins with"))
        await rig.stop()
    }

    @Test func `apps of a phone agree on its services, or one has them`() throws {
        func issues(_ one: String, _ other: String) throws -> [String] {
            RunGroups(
                try RunRig.plan([Self.profile(one), Self.profile(other, name: "Other")]).profiles
            ).issues.map(\.message)
        }
        #expect(try issues("{services: [ams]}", "{services: [ams], model: x}").isEmpty)
        #expect(try issues("{name: Anna}", "{name: Anna, services: [ams]}").isEmpty)
        let found = try issues("{services: [ams]}", "{services: [ancs]}")
        #expect(found.count == 1 && found[0].hasPrefix("phone.services differs from "), "\(found)")
    }
}
