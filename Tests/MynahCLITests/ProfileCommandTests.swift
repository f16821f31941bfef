import Foundation
import MynahTestSupport
import Testing

@Suite struct ProfileCommandTests {
    private static let templates = [
        "heart-rate", "battery", "device-information", "environmental-sensing", "everything-accessory",
        "everything-app", "health-thermometer", "nordic-uart",
    ]

    @Test(arguments: templates)
    func `each template is clean, and can be shown`(template: String) async throws {
        let printed = try await Program.run("new", template)
        #expect(printed.status == .exited(0))
        #expect(printed.error.isEmpty)
        let file = try ProfileFile(printed.output)
        let checked = try await Program.run("check", file.path)
        #expect(checked.status == .exited(0))
        #expect(checked.output.contains("\(file.path): ok: "))
        #expect(checked.error.isEmpty)
        let shown = try await Program.run("show", file.path)
        #expect(shown.status == .exited(0))
        #expect(shown.output.contains("service"))
        let list = try await Program.run("new", "--help")
        #expect(list.output.contains(template))
    }

    @Test func `a heart-rate monitor is what new prints unless told otherwise`() async throws {
        #expect(try await Program.run("new").output == Program.run("new", "heart-rate").output)
    }

    @Test func `every problem is told with its place, its line and a caret`() async throws {
        let file = try ProfileFile("mynah: 1\nname: x\nservices:\n  - uuid: hart-rate\n    primry: true\n")
        let result = try await Program.run("check", file.path)
        #expect(result.status == .exited(1))
        #expect(
            result.output == """
                \(file.path):4:11: error: unknown service "hart-rate"; did you mean "heart-rate"?
                  - uuid: hart-rate
                          ^
                \(file.path):5:5: error: unknown key "primry" in a service; did you mean "primary"?
                    primry: true
                    ^

                """)
    }

    @Test func `one bad file among good ones is a failure`() async throws {
        let good = "\(repository)/profiles/battery.yaml"
        let bad = try ProfileFile("mynah: 2\nname: x\n")
        let result = try await Program.run("check", good, bad.path, "/nonexistent.yaml", good)
        #expect(result.status == .exited(1))
        #expect(result.output.components(separatedBy: "\(good): ok").count == 3)
        #expect(result.output.contains("\(bad.path):1:8: error: "))
        #expect(result.output.contains("/nonexistent.yaml: error: cannot be read"))
    }

    @Test func `a profile may be JSON`() async throws {
        let good = try ProfileFile(
            #"{"mynah": 1, "name": "J", "services": [{"uuid": "180F", "characteristics": [{"uuid": "2A19", "properties": ["read"], "value": {"hex": "64"}}]}]}"#
        )
        #expect(try await Program.run("check", good.path).status == .exited(0))
        let bad = try ProfileFile(#"{"mynah": 1, "name": "J", "services": [{"uuid": "18"}]}"#)
        let result = try await Program.run("check", bad.path)
        #expect(result.status == .exited(1))
        #expect(result.output.contains(":1:49: error: "))
    }

    @Test func `what BlueZ cannot do is a warning, and an error where BlueZ is chosen`() async throws {
        let file = try ProfileFile(
            """
            mynah: 1
            name: x
            services:
              - uuid: 180F
                characteristics:
                  - {uuid: 2A19, properties: [read], errors: {read: 0x05}}
            """)
        let warned = try await Program.run("check", file.path)
        #expect(warned.status == .exited(0))
        #expect(warned.output.contains(":6:57: warning: "))
        let refused = try await Program.run("check", "--radio", "bluez", file.path)
        #expect(refused.status == .exited(1))
        #expect(refused.output.contains(":6:57: error: "))
        #expect(!refused.output.contains(": ok"))
        let virtual = try await Program.run("check", "--radio", "virtual", file.path)
        #expect(virtual.status == .exited(0))
        #expect(!virtual.output.contains("warning"))
    }

    @Test(arguments: [
        ("virtual", "02010605030D180F180A094D796E61682048524D", ""),
        ("bluez", "05030D180F18020106", "0A094D796E61682048524D"),
    ])
    func `the JSON of show says what is on the air, and every attribute`(
        radio: String, data: String, response: String
    ) async throws {
        let profile = "\(repository)/profiles/heart-rate.yaml"
        let result = try await Program.run("show", profile, "--radio", radio, "--format", "json")
        #expect(result.status == .exited(0))
        let shown = try json(result.output)
        #expect(shown["profile"] as? String == "Heart rate monitor")
        let advertising = try #require(shown["advertising"] as? [String: Any])
        #expect(advertising["on"] as? Bool == true)
        #expect(advertising["intervalMilliseconds"] as? Double == 100)
        #expect(advertising["data"] as? String == data)
        #expect(advertising["scanResponse"] as? String == response)
        #expect((advertising["omitted"] as? [Any])?.isEmpty == true)
        let services = try #require(shown["services"] as? [[String: Any]])
        #expect(services.compactMap { $0["uuid"] as? String } == ["180D", "180F"])
        let characteristics = try #require(services.first?["characteristics"] as? [[String: Any]])
        #expect(characteristics.first?["uuid"] as? String == "2A37")
        #expect(characteristics.first?["properties"] as? [String] == ["read", "notify"])
    }

    @Test func `what cannot be shown is told as check tells it`() async throws {
        let file = try ProfileFile("mynah: 1\nname: x\nservice: []\n")
        let result = try await Program.run("show", file.path)
        #expect(result.status == .exited(1))
        #expect(result.output.isEmpty)
        #expect(result.error.contains("\(file.path):3:1: error: "))
    }
}
