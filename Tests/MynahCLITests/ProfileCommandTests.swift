import Foundation
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct ProfileCommandTests {
    private static let templates = [
        "heart-rate", "battery", "device-information", "eddystone", "environmental-sensing",
        "everything-accessory",
        "everything-app", "flaky-heart-rate", "health-thermometer", "mcumgr", "nordic-dfu", "nordic-uart",
        "hid-keyboard", "hid-mouse", "hid-gamepad", "midi",
    ]

    @Test(arguments: templates)
    func `each template is clean, and can be shown`(template: String) async throws {
        let printed = try await VirtualStage.play("new", template)
        #expect(printed.status == .exited(0))
        #expect(printed.error.isEmpty)
        let file = try ProfileFile(printed.output)
        let checked = try await VirtualStage.play("check", file.path)
        #expect(checked.status == .exited(0))
        #expect(checked.output.contains("\(file.path): ok: "))
        #expect(checked.error.isEmpty)
        let shown = try await VirtualStage.play("show", file.path)
        #expect(shown.status == .exited(0))
        #expect(shown.output.contains(template == "eddystone" ? "set tlm" : "service"))
        let list = try await VirtualStage.play("new", "--help")
        #expect(list.output.contains(template))
    }

    @Test func `a heart-rate monitor is what new prints unless told otherwise`() async throws {
        #expect(try await VirtualStage.play("new").output == VirtualStage.play("new", "heart-rate").output)
    }

    @Test func `every problem is told with its place, its line and a caret`() async throws {
        let file = try ProfileFile("mynah: 1\nname: x\nservices:\n  - uuid: hart-rate\n    primry: true\n")
        let result = try await VirtualStage.play("check", file.path)
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
        let result = try await VirtualStage.play("check", good, bad.path, "/nonexistent.yaml", good)
        #expect(result.status == .exited(1))
        #expect(result.output.components(separatedBy: "\(good): ok").count == 3)
        #expect(result.output.contains("\(bad.path):1:8: error: "))
        #expect(result.output.contains("/nonexistent.yaml: error: cannot be read"))
    }

    @Test func `a profile may be JSON`() async throws {
        let good = try ProfileFile(
            #"""
            {"mynah": 1, "name": "J", "services": [{"uuid": "180F", "characteristics": [{"uuid": "2A19",\#
             "properties": ["read"], "value": {"hex": "64"}}]}]}
            """#
        )
        #expect(try await VirtualStage.play("check", good.path).status == .exited(0))
        let bad = try ProfileFile(#"{"mynah": 1, "name": "J", "services": [{"uuid": "18"}]}"#)
        let result = try await VirtualStage.play("check", bad.path)
        #expect(result.status == .exited(1))
        #expect(result.output.contains(":1:49: error: "))
    }

    @Test func `each limit of BlueZ is a line of its own, and an error if BlueZ is chosen`() async throws {
        let file = try ProfileFile(
            """
            mynah: 1
            name: x
            services:
              - uuid: 180F
                characteristics:
                  - {uuid: 2A19, properties: [read], errors: {read: 0x05}}
            """)
        let summary = try await VirtualStage.play("check", file.path)
        #expect(summary.status == .exited(0))
        #expect(
            summary.output == """
                \(file.path): ok: 1 service, 1 characteristic
                \(file.path): BlueZ 5.66 would play 1 thing differently; --radio bluez lists it

                """)
        let refused = try await VirtualStage.play("check", "--radio", "bluez", file.path)
        #expect(refused.status == .exited(1))
        #expect(refused.output.contains(":6:57: error: "))
        #expect(!refused.output.contains(": ok"))
        let virtual = try await VirtualStage.play("check", "--radio", "virtual", file.path)
        #expect(virtual.status == .exited(0))
        #expect(!virtual.output.contains("warning"))
    }

    @Test func `an interval that BlueZ may ignore is a warning, with what to do`() async throws {
        let result = try await VirtualStage.play("check", RunTests.profile, "--radio", "bluez")
        #expect(result.status == .exited(0))
        #expect(
            result.output.contains("\(RunTests.profile):14:13: warning: BlueZ 5.66 advertises at its own")
        )
        #expect(result.output.contains("5.77"))
        #expect(result.output.contains("--experimental"))
    }

    @Test func `the shipped profiles are checked in two lines each at most`() async throws {
        let files = Self.templates.map { "\(repository)/profiles/\($0).yaml" }
        let result = try await VirtualStage.play(["check"] + files)
        #expect(result.status == .exited(0))
        for file in files {
            let lines = result.output.split(separator: "\n").filter { $0.hasPrefix("\(file):") }
            #expect(lines.count <= 2 && lines.first?.contains(": ok: ") == true)
        }
        #expect(result.output.split(separator: "\n").count <= 2 * files.count)
    }

    @Test func `a file name is printed without what a terminal acts on`() async throws {
        let folder = try TemporaryDirectory()
        let name = "a\u{1B}[2Jb.yaml"
        try folder.write("mynah: 1\nname: x\n", to: name)
        let good = try await VirtualStage.play("check", "\(folder.path)/\(name)")
        #expect(good.status == .exited(0))
        #expect(good.output.contains("/a\u{FFFD}[2Jb.yaml: ok: "))
        try folder.write("mynah: 2\nname: x\n", to: name)
        let bad = try await VirtualStage.play("check", "\(folder.path)/\(name)")
        #expect(bad.status == .exited(1))
        #expect(bad.output.contains("/a?[2Jb.yaml:1:8: error: "))
        for result in [good, bad] { #expect(!(result.output + result.error).contains("\u{1B}")) }
    }

    @Test func `a trailing comma in a .json file is an error`() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(#"{"mynah": 1, "name": "x",}"#, to: "p.json")
        let result = try await VirtualStage.play("check", "\(folder.path)/p.json")
        #expect(result.status == .exited(1))
        #expect(result.output.contains("/p.json:1:25: error: this is not JSON: there is a comma before }"))
    }

    static let twins = """
        mynah: 1
        name: Twins
        services:
          - uuid: 180F
            characteristics: [{uuid: 2A19, properties: [read], value: {hex: 0A}}]
          - uuid: 180F
            characteristics:
              - {uuid: 2A19, properties: [read], value: {hex: 14}}
              - uuid: 2A19
                properties: [read]
                value: {hex: 1E}
                descriptors: [{uuid: 2904, value: {hex: 01}}, {uuid: 2904, value: {hex: 02}}]
          - {uuid: 180D, includes: [180F~2]}
        """

    @Test func `show prints the name that leads to each attribute`() async throws {
        let file = try ProfileFile(Self.twins)
        let text = try await VirtualStage.play("show", file.path)
        for line in [
            "primary service 180F~1 battery\n", "primary service 180F~2 battery\n",
            "  2A19~2 battery-level  ",
            "    2904~1 characteristic-presentation-format",
            "service 180D heart-rate  includes 180F~2 battery\n",
        ] { #expect(text.output.contains(line)) }
        // Where there is one alone, it has no number.
        #expect(text.output.contains("  2A19 battery-level  "))
        let shown = try json(try await VirtualStage.play("show", file.path, "--format", "json").output)
        let services = try #require(shown["services"] as? [[String: Any]])
        #expect(services.compactMap { $0["path"] as? String } == ["180F~1", "180F~2", "180D"])
        #expect(services.compactMap { $0["uuid"] as? String } == ["180F", "180F", "180D"])
        #expect(services[2]["includes"] as? [String] == ["180F~2"])
        let characteristics = try #require(services[1]["characteristics"] as? [[String: Any]])
        #expect(characteristics.compactMap { $0["path"] as? String } == ["180F~2/2A19~1", "180F~2/2A19~2"])
        let descriptors = try #require(characteristics[1]["descriptors"] as? [[String: Any]])
        #expect(
            descriptors.compactMap { $0["path"] as? String } == [
                "180F~2/2A19~2/2904~1", "180F~2/2A19~2/2904~2",
            ])
    }

    @Test(arguments: [
        (
            "{interval: {min: 7.5 ms, max: 30 ms}, latency: 4, timeout: 4 s, after: 500 ms}",
            "connection  every 7.5 ms to 30 ms, latency 4, timeout 4 s, "
                + "requested 500 ms after the connection began",
            [7.5, 30, 4, 4000, 500] as [Double]
        ),
        (
            "{interval: 1 s, timeout: 6 s}",
            "connection  every 1 s, latency 0, timeout 6 s, requested 1 s after the connection began",
            [1000, 1000, 0, 6000, 1000] as [Double]
        ),
    ])
    func `show prints the connection parameters`(section: String, line: String, numbers: [Double])
        async throws
    {
        let file = try ProfileFile(
            "mynah: 1\nname: Strap\nconnection: \(section)\nservices: [{uuid: battery}]\n")
        let text = try await VirtualStage.play("show", file.path).output
        #expect(text.split(separator: "\n").contains(line[...]), "\(text)")
        let shown = try json(try await VirtualStage.play("show", file.path, "--format", "json").output)
        let connection = try #require(shown["connection"] as? [String: Any])
        let names = [
            "intervalMilliseconds", "intervalMaximumMilliseconds", "latency",
            "supervisionTimeoutMilliseconds", "afterMilliseconds",
        ]
        #expect(names.map { connection[$0] as? Double } == numbers && connection.count == names.count)
    }

    @Test func `show prints the fields of a value beside its bytes`() async throws {
        let file = try ProfileFile(
            """
            mynah: 1
            name: Strap
            advertising: {manufacturerData: {0x004C: 02 15}}
            services:
              - uuid: 180D
                characteristics:
                  - {uuid: 2A37, properties: [notify], value: {hex: 06 48}}
                  - {uuid: 2A38, properties: [read], value: {hex: 01 02}}
                  - {uuid: 2A24, properties: [read], value: {text: My}}
              - uuid: 6D790001-0000-4000-8000-6D796E616800
                characteristics:
                  - uuid: 6D790002-0000-4000-8000-6D796E616800
                    properties: [read]
                    value: {layout: [{speed: uint16}], fields: {speed: 7}}
            """)
        let text = try await VirtualStage.play("show", file.path).output
        for part in [
            "notify  = 0648  72 bpm, contact\n", "read  = 0102\n", "read  = 4D79 \"My\"\n",
            "read  = 0700  speed 7\n",
            "05FF4C000215", " Manufacturer Specific Data: Apple, Inc. (0x004C)\n",
        ] { #expect(text.contains(part), "\(text)") }
        let json = try await VirtualStage.play("show", file.path, "--format", "json").output
        let values = json.matches(of: /"(value|fields)": ?(\{[^}]*\}|"[^"]*")/).map { String($0.2) }
        #expect(
            values == [
                "\"0648\"", #"{"heartRate":72,"contact":true}"#, "\"0102\"", "\"4D79\"",
                #"{"modelNumber":"My"}"#, "\"0700\"", #"{"speed":7}"#,
            ])
    }

    @Test(arguments: [
        ("virtual", "02010605030D180F180A094D796E61682048524D", ""),
        ("bluez", "05030D180F18020106", "0A094D796E61682048524D"),
    ])
    func `the JSON of show says what is on the air, and every attribute`(
        radio: String, data: String, response: String
    ) async throws {
        let profile = "\(repository)/profiles/heart-rate.yaml"
        let result = try await VirtualStage.play("show", profile, "--radio", radio, "--format", "json")
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

    private static let app = """
        mynah: 1
        name: Monitor
        app: {backgroundModes: [bluetooth-peripheral], state: background}
        advertising: {localName: uynguyen, serviceUUIDs: [2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6, FD64, C007]}
        """

    @Test(arguments: [
        ([], "background"), (["--state", "foreground"], "foreground"),
        (["--state", "suspended"], "suspended"),
    ])
    func `the JSON of an app is that of the state it starts in, or of --state`(
        arguments: [String], state: String
    ) async throws {
        let file = try ProfileFile(Self.app)
        let result = try await VirtualStage.play(["show", file.path, "--format", "json"] + arguments)
        #expect(result.status == .exited(0))
        let shown = try json(result.output)
        #expect(shown["state"] as? String == state)
        let air = try #require(shown["advertising"] as? [String: Any])
        let mask = "14FF4C000100000000100000000000080000000000"
        let omitted = (air["omitted"] as? [[String: String]])?.compactMap { $0["item"] }
        if state == "foreground" {
            #expect(
                air["data"] as? String == "02011A1107A6FFA91B91F4F2AD0F4A6DCF5444232F" + "050364FD07C0")
            #expect(air["scanResponse"] as? String == "0909" + "75796E677579656E")
            #expect(air["intervalMilliseconds"] as? Double == 30)
            #expect((air["intervalSource"] as? String)?.hasPrefix("assumed") == true)
        } else {
            #expect(air["data"] as? String == "02011A")
            #expect(air["scanResponse"] as? String == mask)
            #expect(air["intervalMilliseconds"] as? Double == 181.25)
            #expect(air["intervalMaximumMilliseconds"] as? Double == 187.5)
            #expect((air["intervalSource"] as? String)?.hasPrefix("measured") == true)
            #expect(omitted == ["localName", "serviceUUIDs[0]", "serviceUUIDs[1]", "serviceUUIDs[2]"])
        }
    }

    @Test func `the text of an app has every state, one below the other`() async throws {
        let file = try ProfileFile(Self.app)
        let all = try await VirtualStage.play("show", file.path)
        #expect(all.status == .exited(0))
        let lines = all.output.split(separator: "\n").map(String.init)
        let heads = ["Monitor", "foreground", "background, suspended"]
        #expect(lines.filter { heads.contains($0) } == heads)
        #expect(all.output.contains("every 30 ms (assumed"))
        #expect(all.output.contains("every 181.25 ms to 187.5 ms (measured on one iPhone 6 with iOS 11)"))
        #expect(
            all.output.contains(
                """
                Apple's overflow area: 2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6 (bit 83), FD64 (bit 83), \
                C007 (bit 36)
                """
            ))
        let one = try await VirtualStage.play("show", file.path, "--state", "suspended")
        #expect(one.output.contains("\nsuspended\n"))
        #expect(!one.output.contains("foreground"))
    }

    @Test(arguments: [
        ("", "every 30 ms (assumed: Apple has published no figure)"),
        ("foregroundInterval: 40 ms", "every 40 ms"),
    ])
    func `a Live Activity has the interval of the foreground in the background, and its source`(
        key: String, line: String
    ) async throws {
        let file = try ProfileFile(
            """
            mynah: 1
            name: Live
            app:
              backgroundModes: [bluetooth-peripheral]
              iOS: 26
              liveActivity: true
              \(key)
            advertising: {serviceUUIDs: [180D]}
            """)
        let shown = try await VirtualStage.play("show", file.path, "--state", "background")
        #expect(shown.output.split(separator: "\n").contains { $0.hasSuffix(line) }, "\(shown.output)")
    }

    @Test func `an app of the foreground only is silent elsewhere, and says why`() async throws {
        let file = try ProfileFile(
            "mynah: 1\nname: x\napp: {}\nadvertising: {localName: Fred, serviceUUIDs: [C007]}\n")
        let result = try await VirtualStage.play("show", file.path, "--state", "suspended")
        #expect(result.output.contains("\nsuspended\n  not advertised\n"))
        #expect(
            result.output.contains(
                """
                  omitted: localName, serviceUUIDs[0] (C007): a background app cannot advertise without \
                the background mode bluetooth-peripheral
                """
            ))
        let shown = try json(
            try await VirtualStage.play("show", file.path, "--state", "background", "--format", "json").output
        )
        #expect((shown["advertising"] as? [String: Any])?["on"] as? Bool == false)
    }

    @Test func `bluetoothd's bytes for an app are the nearest to an iPhone's, and what differs is named`()
        async throws
    {
        let file = try ProfileFile(Self.app)
        let result = try await VirtualStage.play(
            "show", file.path, "--radio", "bluez", "--state", "background", "--format", "json")
        let air = try #require(try json(result.output)["advertising"] as? [String: Any])
        #expect(air["data"] as? String == "14FF4C000100000000100000000000080000000000" + "020106")
        #expect(air["scanResponse"] as? String == "")
        let items = (air["omitted"] as? [[String: String]])?.compactMap { $0["item"] } ?? []
        #expect(Set(items).isSuperset(of: ["localName", "flags", "scanResponse"]))
    }

    @Test func `check and show say that BlueZ cannot play an app that is a central`() async throws {
        let file = try ProfileFile(
            """
            mynah: 1\nname: x\napp: {}\ncentral: {scan: {services: [180D]}, peripherals: [{name: S, \
            match: {services: [180D]}}]}\n
            """
        )
        let checked = try await VirtualStage.play("check", file.path)
        #expect(checked.status == .exited(0))
        #expect(
            checked.output.contains(
                ": BlueZ cannot play an app that is a central; --radio bluez says what to choose\n"))
        let shown = try await VirtualStage.play("show", file.path, "--radio", "bluez")
        #expect(shown.status == .exited(0))
        #expect(shown.output.contains("omitted: central: BlueZ cannot play an app that is a central\n"))
        #expect(!shown.output.contains("scanning"))
        let virtual = try await VirtualStage.play("show", file.path)
        #expect(virtual.output.contains("scanning for 180D") && !virtual.output.contains("omitted: central"))
    }

    @Test func `a part of an app's advertisement that BlueZ has no room for is a warning`() async throws {
        let file = try ProfileFile(
            """
            mynah: 1
            name: x
            app: {}
            advertising:
              serviceUUIDs: [2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6, 428132AF-4746-42D3-801E-4572D65BFD9B]
            """)
        let result = try await VirtualStage.play("check", file.path, "--radio", "bluez")
        #expect(result.status == .exited(0))
        #expect(result.output.contains(":5:17: warning: "))
        #expect(result.output.contains("does not send all of it in the foreground: overflowArea: "))
        #expect(
            try await !VirtualStage.play("check", file.path, "--radio", "virtual").output.contains("warning"))
    }

    @Test func `an accessory has no states to show`() async throws {
        let result = try await VirtualStage.play(
            "show", "\(repository)/profiles/battery.yaml", "--state", "background")
        #expect(result.status == .exited(64))
        #expect(result.output.isEmpty)
        #expect(result.error.contains("is an accessory"))
        #expect(result.error.contains("Usage: mynah show"))
    }

    @Test func `a profile that cannot be shown is reported as by check`() async throws {
        let file = try ProfileFile("mynah: 1\nname: x\nservice: []\n")
        let result = try await VirtualStage.play("show", file.path)
        #expect(result.status == .exited(1))
        #expect(result.output.isEmpty)
        #expect(result.error.contains("\(file.path):3:1: error: "))
    }
}
