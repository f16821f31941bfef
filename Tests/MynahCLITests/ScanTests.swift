import Glibc
import MynahTestSupport
import Testing

@Suite(.processes, .timeLimit(.minutes(15))) struct ScanTests {
    @Test func `a device is told as soon as it is heard, as an object`() async throws {
        try await VirtualStage.play { stage in
            _ = try await stage.devices()
            let scan = stage.start(phone: ["scan", "--format", "json"])
            let line = try #require(try await scan.output.line(containing: "Mynah HRM"))
            scan.quit()
            #expect(await scan.end().status == .exited(0))
            let object = try json(line)
            #expect(object["name"] as? String == "Mynah HRM")
            #expect(object["services"] as? [String] == ["180D", "180F"])
            #expect(object["connectable"] as? Bool == true)
            #expect(object["flags"] as? Int == 6)
            #expect(object["rssi"] as? Int == -40)
            #expect(object["data"] as? String == "02010605030D180F180A094D796E61682048524D")
            #expect((object["time"] as? String)?.hasSuffix("Z") == true)
            #expect(scan.error.text == "")
        }
    }

    @Test func `each advertisement is told with --all, and how far they are apart`() async throws {
        try await VirtualStage.play { stage in
            _ = try await stage.devices()
            let scan = stage.start(phone: ["scan", "--format", "json", "--all"])
            let line = try #require(try await scan.output.line(containing: "intervalMilliseconds"))
            let interval = try #require(try json(line)["intervalMilliseconds"] as? Double)
            #expect(interval > 0)
            scan.terminate()
            #expect(await scan.end().status == .exited(0))
        }
    }

    @Test func `only what is looked for is told, and a time ends it`() async throws {
        try await VirtualStage.play { stage in
            _ = try await stage.devices([
                AirStage.heartRate, "\(repository)/profiles/health-thermometer.yaml",
            ])
            let by: [[String]] = [["--service", "heart-rate"], ["--service", "180D"], ["--filter", "hrm"]]
            for options in by {
                let scan = stage.start(phone: ["scan"] + options)
                let line = try #require(try await scan.output.line("a line") { !$0.isEmpty })
                #expect(line.contains("Mynah HRM"))
                #expect(line.contains("heart-rate, battery"))
                scan.quit()
                #expect(await scan.end().status == .exited(0))
                #expect(!scan.output.text.contains("hermometer"))
            }
            let result = await stage.phone(["scan", "--filter", "nobody", "--timeout", "300 ms"])
            #expect(result.status == .exited(0))
            #expect(result.output == "")
        }
    }

    @Test func `an app in the background is known by its overflow area, to an active scan`() async throws {
        try await VirtualStage.play { stage in
            let profile = try ProfileFile(
                """
                mynah: 1
                name: App
                app: {backgroundModes: [bluetooth-peripheral], state: background}
                advertising: {localName: App, serviceUUIDs: [180D]}
                services:
                  - {uuid: 180D, characteristics: [{uuid: 2A38, properties: [read], value: {hex: 01}}]}
                """)
            _ = try await stage.devices([profile.path])
            let scan = stage.start(phone: ["scan", "--service", "180D"])
            let line = try #require(try await scan.output.line(containing: "overflow"))
            #expect(line.contains("Apple's overflow area: heart-rate (bit "))
            scan.quit()
            #expect(await scan.end().status == .exited(0))
            // The scan response is what was looked for, and is told with the advertising that was heard
            // before it: once.
            let objects = try await stage.phone([
                "scan", "--service", "180D", "--format", "json", "--timeout", "1 s",
            ]).output.split(separator: "\n").map { try json(String($0)) }
            #expect(objects.map { $0["data"] as? String } == ["02011A"])
            // This version's area is in the scan response, which is not requested.
            let passive = await stage.phone(["scan", "--passive", "--service", "180D", "--timeout", "500 ms"])
            #expect(passive.output == "")
        }
    }

    @Test(arguments: [
        ("everything-app", [], true), ("heart-rate", [], false),
        ("everything-app", ["--address", "identity"], false), ("heart-rate", ["--address", "private"], true),
    ])
    func `a phone that apps play on has a private address, unless another is asked for`(
        profile: String, options: [String], isPrivate: Bool
    ) async throws {
        try await VirtualStage.play { stage in
            _ = try await stage.devices(["\(repository)/profiles/\(profile).yaml"], options)
            let scan = stage.start(phone: ["scan", "--format", "json"])
            let line = try #require(try await scan.output.line(containing: "\"address\""))
            let address = try #require(try json(line)["address"] as? String)
            let first = try #require(UInt8(address.prefix(2), radix: 16))
            // The two highest bits: 01 is resolvable private, 11 random static (Vol 6, Part B, 1.3.2).
            #expect(first >> 6 == (isPrivate ? 1 : 3))
            scan.quit()
            #expect(await scan.end().status == .exited(0))
        }
    }

    @Test func `a terminal shows a table, in which a name does nothing to it, and is given back`()
        async throws
    {
        let profile = try ProfileFile(
            """
            mynah: 1
            name: Evil
            advertising: {localName: "e]0;vil\\u202Ename"}
            services: [{uuid: 180D}]
            """)
        let stage = try await AirStage([profile.path])
        let terminal = try Terminal()
        let scan = try stage.phone(["scan"], terminal: terminal)
        let line = try #require(try await terminal.output.line(containing: "vil"))
        #expect(line.contains("e]0;vil\u{FFFD}name"))
        #expect(try await terminal.output.line(containing: "interval  heard") != nil)
        scan.child.send(SIGINT)
        #expect(try await scan.child.end() == .exited(0))
        #expect(terminal.isAsUsual)
        try await stage.end()
    }

    @Test(arguments: [
        (["--service", "hart-rate"], "did you mean \"heart-rate\""),
        (["--timeout", "soon"], "--timeout soon"),
        (["--radio", "bluez"], "do not use BlueZ"), (["--radio", "hci:nowhere"], "hci"),
        (["--format", "yaml"], "expected one of text, json"),
    ])
    func `wrong usage is told, and nothing is scanned`(arguments: [String], words: String) async throws {
        let result = try await VirtualStage.play(["scan"] + arguments)
        #expect(result.status == .exited(64))
        #expect(result.error.contains(words))
        #expect(result.output == "")
    }
}
