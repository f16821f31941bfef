import Foundation
import Glibc
import MynahSupport
import MynahTestSupport
import Testing

/// Apps that are centrals, beside the devices that they use.
@Suite(.processes, .timeLimit(.minutes(15))) struct CentralRunTests {
    /// An app that subscribes to a strap, and is restored.
    static let subscriber = """
        mynah: 1
        name: App
        app: {backgroundModes: [bluetooth-central]}
        central:
          restoreIdentifier: com.example.app
          scan: {services: [180D]}
          peripherals: [{name: Strap, subscribe: [180D/2A37]}]
        """
    static let strap = "\(repository)/profiles/heart-rate.yaml"
    static let phone = "\(repository)/profiles/phone-heart-rate-app.yaml"

    private func run(_ arguments: [String]) async throws -> Program.Result {
        try await VirtualStage.run(arguments)
    }

    @Test func `an app that the system ended is relaunched by a value, and restored first`() async throws {
        let app = try ProfileFile(Self.subscriber)
        let result = try await run([
            "--events", "json", "--at", "6s=App:terminated", app.path, Self.strap, "--until",
            "app.woken by=notified", "--until", "value.updated device=App",
        ])
        #expect(result.status == .exited(0))
        let events = try result.output.split(separator: "\n").map { try json(String($0)) }
            .filter { $0["device"] as? String == "App" }
        let names = events.compactMap { $0["event"] as? String }
        let end = try #require(names.firstIndex(of: "app.terminated"))
        #expect(
            Array(names[end...].prefix(5)) == [
                "app.terminated", "app.launched", "app.restored", "state.changed", "app.woken",
            ])
        let launched = events[end + 1]
        #expect(launched["centralRestoreIdentifiers"] as? [String] == ["com.example.app"])
        let restored = events[end + 2]
        #expect(restored["role"] as? String == "central")
        let peripheral = try #require((restored["peripherals"] as? [[String: Any]])?.first)
        #expect(peripheral["as"] as? String == "Strap" && peripheral["state"] as? String == "connected")
        #expect((peripheral["subscriptions"] as? [[String: Any]])?.count == 1)
    }

    @Test func `a run that ends takes the phone off the air first, and what it has of a device is kept`()
        async throws
    {
        let app = try ProfileFile(Self.subscriber)
        let state = try TemporaryDirectory()
        let result = try await run([
            "--events", "json", "--state-dir", state.path, app.path, Self.strap, "--until", "value.updated",
        ])
        #expect(result.status == .exited(0))
        #expect(!result.output.contains("peripheral.disconnected") && !result.output.contains("app.woken"))
        let files = try FileManager.default.contentsOfDirectory(atPath: state.path)
        let file = try #require(files.first { $0.hasPrefix("central+App+") })
        let text = try String(contentsOfFile: "\(state.path)/\(file)", encoding: .utf8)
        #expect(text.contains("2A37"), "\(text)")
    }

    @Test func `an app has the identifier that it saved, also after its user ended it`() async throws {
        let app = try ProfileFile(
            """
            mynah: 1
            name: App
            app: {}
            central:
              scan: {services: [180D]}
              reconnect: [known]
              peripherals: [{name: Strap}]
            """)
        let state = try TemporaryDirectory()
        for isFirst in [true, false] {
            let result = try await VirtualStage.play { stage in
                let program = try await stage.run(
                    ["--state-dir", state.path, app.path, Self.strap], radios: 2)
                #expect(try await program.output.line(containing: "\"peripheral.connected\"") != nil)
                program.quit()
                return await program.end()
            }
            #expect(result.status == .exited(0))
            #expect(result.output.contains("\"peripheral.discovered\"") == isFirst)
            let retrieved = try result.output.split(separator: "\n").map { try json(String($0)) }
                .first { $0["event"] as? String == "peripherals.retrieved" }
            #expect((retrieved?["found"] as? [Any])?.count == (isFirst ? nil : 1), "\(result.output)")
        }
        try state.write("{\"mynahState\": 1, \"app\": \"Other\", \"managers\": []}", to: "app+App.json")
        let result = try await run([
            "--events", "json", "--state-dir", state.path, app.path, Self.strap, "--until",
            "peripheral.connected",
        ])
        #expect(result.output.contains("savedIdentifiersUnusable"))
        #expect(result.output.contains("\"peripheral.discovered\""))
        #expect(state.files.contains("app+App.json.unusable-1") && state.files.contains("app+App.json"))
    }

    @Test func `two managers of an app each save their own device under the same name`() async throws {
        let app = try ProfileFile(
            """
            mynah: 1
            name: App
            app: {}
            central:
              - {scan: {services: [180D]}, reconnect: [known], peripherals: [{name: Device}]}
              - {scan: {services: [1809]}, reconnect: [known], peripherals: [{name: Device}]}
            """)
        let thermometer = try ProfileFile(
            """
            mynah: 1
            name: Thermometer
            advertising: {serviceUUIDs: [1809], interval: 30 ms}
            services: [{uuid: 1809, characteristics: [{uuid: 2A1C, properties: [indicate]}]}]
            """)
        let state = try TemporaryDirectory()
        for _ in 1...2 {
            let result = try await VirtualStage.run(
                ["--state-dir", state.path, app.path, Self.strap, thermometer.path],
                toSee: ["peripheral.connected", "peripheral.connected"])
            #expect(result.status == .exited(0))
            let managers = try #require(
                try json(try state.read("app+App.json"))["managers"] as? [[String: Any]])
            let identifiers = managers.compactMap { $0["Device"] as? String }
            #expect(identifiers.count == 2 && Set(identifiers).count == 2, "\(managers)")
        }
    }

    @Test func `writes without response that find no room are sent when there is room`() async throws {
        let count = 300
        let entry = "{to: FFE0/FFE1, value: {hex: \"01\"}, withResponse: false}"
        let app = try ProfileFile(
            """
            mynah: 1
            name: App
            app: {}
            central:
              scan: {services: [FFE0]}
              peripherals:
                - {name: Sink, write: [\(repeatElement(entry, count: count).joined(separator: ", "))]}
            """)
        let sink = try ProfileFile(
            """
            mynah: 1
            name: Sink
            advertising: {serviceUUIDs: [FFE0], interval: 30 ms}
            services: [{uuid: FFE0, characteristics: [{uuid: FFE1, properties: [writeWithoutResponse]}]}]
            """)
        let result = try await VirtualStage.play { stage in
            let program = try await stage.run([app.path, sink.path], radios: 2)
            for name in ["value.written", "write"] {
                let isDone = try await program.output.has(count, linesContaining: "\"event\":\"\(name)\"")
                #expect(isDone, "\(name)")
            }
            program.terminate()
            return await program.end()
        }
        #expect(result.status == .exited(0))
        for name in ["value.written", "write"] {
            let lines = result.output.split(separator: "\n").count { $0.contains("\"event\":\"\(name)\"") }
            #expect(lines == count, "\(name)")
        }
    }

    @Test func `all managers of both roles are restored before the first is told the Bluetooth state`()
        async throws
    {
        let app = try ProfileFile(
            """
            mynah: 1
            name: App
            app: {backgroundModes: [bluetooth-central, bluetooth-peripheral], restoreIdentifier: p}
            services: [{uuid: FFE0, characteristics: [{uuid: 2A29, properties: [read], value: {hex: 01}}]}]
            central:
              - restoreIdentifier: c1
                scan: {services: [180D]}
                peripherals: [{name: Strap, subscribe: [180D/2A37]}]
              - {restoreIdentifier: c2, scan: {services: [180D], until: never}}
            """)
        let result = try await run([
            "--events", "json", "--at", "6s=App:terminated", app.path, Self.strap, "--until",
            "app.woken device=App",
        ])
        #expect(result.status == .exited(0))
        let events = try result.output.split(separator: "\n").map { try json(String($0)) }
            .filter { $0["device"] as? String == "App" }
        let end = try #require(events.firstIndex { $0["event"] as? String == "app.terminated" })
        let after = events[end...].prefix(7).compactMap { $0["event"] as? String }
        #expect(
            after.prefix(6) == [
                "app.terminated", "app.launched", "app.restored", "app.restored", "app.restored",
                "state.changed",
            ])
    }

    @Test func `a device that looks for a service is found by a scan that asks for it`() async throws {
        let app = try ProfileFile(
            """
            mynah: 1
            name: App
            app: {}
            central:
              scan: {services: [180D], solicited: [1805]}
              peripherals: [{name: Clock, match: {localName: Needs time}}]
            """)
        let device = try ProfileFile(
            """
            mynah: 1
            name: Clock
            device: {name: Needs time}
            advertising: {localName: Needs time, serviceUUIDs: [], solicitedServiceUUIDs: [1805]}
            """)
        let result = try await run([
            "--events", "json", app.path, device.path, "--until", "scan.started solicited=1805", "--until",
            "peripheral.connected as=Clock",
        ])
        #expect(result.status == .exited(0), "\(result.output)")
    }

    @Test func `an app whose work is short is suspended between the values of a strap`() async throws {
        let app = try ProfileFile(
            """
            mynah: 1
            name: App
            app: {backgroundModes: [bluetooth-central], taskTime: 50 ms}
            central:
              scan: {services: [180D]}
              peripherals: [{name: Strap, subscribe: [180D/2A37]}]
            """)
        let result = try await VirtualStage.run(
            [app.path, Self.strap, "--at", "4s=App:suspended"],
            toSee: ["app.suspended"]
                + [[String]](repeating: ["app.woken", "value.updated", "app.suspended"], count: 3).joined())
        #expect(result.status == .exited(0))
    }

    @Test func `a lock pairs with the phone that opens it, and each side reports it`() async throws {
        let result = try await run([
            "--events", "json", "\(repository)/profiles/phone-lock-app.yaml",
            "\(repository)/profiles/lock.yaml",
            "--until", "value.written as=Door value=01 withResponse=true", "--until", "value.read as=Door",
            "--until", "write device=Lock value=01", "--until", "paired device=Lock",
        ])
        #expect(result.status == .exited(0), "\(result.output)")
        #expect(!result.output.contains("\"event\":\"error\""))
    }

    @Test func `a foreground-only app pauses its scan in the background, and resumes it`() async throws {
        let app = try ProfileFile(
            "mynah: 1\nname: App\napp: {}\ncentral: {scan: {allowDuplicates: true, until: never}}\n")
        let result = try await run([
            "--events", "json", app.path, "--at", "1ms=background", "--at", "50ms=foreground",
            "--until", "scan.paused", "--until", "app.foreground", "--until", "scan.started",
            "--at", "100ms=quit", "--until", "scan.stopped", "--until", "app.quit",
        ])
        #expect(result.status == .exited(0))
        let events = try result.output.split(separator: "\n").map { try json(String($0)) }
        let scans = events.filter { ($0["event"] as? String)?.hasPrefix("scan.") == true }
        #expect(scans.last?["event"] as? String == "scan.stopped")
        let paused = try #require(scans.first { $0["event"] as? String == "scan.paused" })
        #expect((paused["omitted"] as? [[String: Any]])?.isEmpty == false)
        #expect(paused["intervalMilliseconds"] is NSNull)
        let started = try #require(scans.first { $0["event"] as? String == "scan.started" })
        #expect(started["allowDuplicates"] as? Bool == true)
    }

    @Test func `a strap that goes out of range is lost, and connected again when it is back`() async throws {
        let result = try await VirtualStage.run(
            [
                Self.phone, Self.strap, "--at",
                "6s=heart-rate:outOfRange", "--at", "9s=heart-rate:inRange",
            ],
            toSee: [
                "value.updated", "peripheral.disconnected", "peripheral.connecting", "peripheral.connected",
                "value.updated",
            ])
        #expect(result.status == .exited(0))
        #expect(result.output.contains("the supervision timeout expired"))
    }

    @Test func `a phone and its strap go out of each other's range, and others still hear the strap`()
        async throws
    {
        try await VirtualStage.play { stage in
            let program = try await stage.run(
                [Self.phone, Self.strap, "--at", "5s=Strap:outOfRange", "--at", "60min=Strap:inRange"],
                radios: 2)
            let names = ["peripheral.connected", "value.updated", "peripheral.disconnected"]
            #expect(try await program.output.has(names))
            let other = await stage.play(["connect", "Mynah HRM", "--command", "read 2A38"])
            #expect(other.status == .exited(0), "\(other.error)")
        }
        let back = try await VirtualStage.run(
            [Self.phone, Self.strap, "--at", "5s=Strap:outOfRange", "--at", "9s=Strap:inRange"],
            toSee: ["value.updated", "peripheral.disconnected", "peripheral.connected", "value.updated"])
        #expect(back.status == .exited(0))
    }

    @Test func `a bonded device with a private address goes out of range, and comes back`() async throws {
        let state = try TemporaryDirectory()
        let arguments = [
            "--address", "private", "--state-dir", state.path,
            "\(repository)/profiles/phone-lock-app.yaml", "\(repository)/profiles/lock.yaml",
        ]
        let paired = try await run(
            ["--events", "json"] + arguments
                + ["--until", "paired device=Lock", "--until", "value.read as=Door"])
        #expect(paired.status == .exited(0), "\(paired.output)")
        // Another address is used now than it was bonded with.
        let result = try await VirtualStage.run(
            arguments + ["--at", "3s=Door:outOfRange", "--at", "15s=Door:inRange"],
            toSee: ["peripheral.connected", "peripheral.disconnected", "peripheral.connected"])
        #expect(result.status == .exited(0))
    }

    @Test func `a peripheral that was not found yet is not moved, and that is said`() async throws {
        let result = try await run([
            "--events", "json", Self.phone, "--at", "1ms=Strap:outOfRange", "--until",
            "warning code=peripheralUnknown",
        ])
        #expect(result.status == .exited(0))
    }

    @Test
    func
        `a foreground-only app learns of a lost strap when it is opened, here by its alert`()
        async throws
    {
        let app = try ProfileFile(
            """
            mynah: 1
            name: App
            app: {}
            central:
              scan: {services: [180D]}
              peripherals: [{name: Strap, connect: {notifyOnDisconnection: true}, onDisconnect: nothing}]
            """)
        let result = try await VirtualStage.run(
            [
                app.path, Self.strap, "--at", "6s=App:suspended",
                "--at", "7s=heart-rate:outOfRange", "--at", "10s=openAlert",
            ],
            toSee: [
                "peripheral.connected", "app.suspended", "alert.shown", "alert.opened", "app.foreground",
                "peripheral.disconnected",
            ])
        let events = try result.output.split(separator: "\n").map { try json(String($0)) }
        let lost = try #require(events.first { $0["event"] as? String == "peripheral.disconnected" })
        #expect(lost["queued"] as? Bool == true)
        let alert = try #require(events.first { $0["event"] as? String == "alert.shown" })
        #expect(alert["by"] as? String == "disconnection" && alert["app"] as? String == "App")
    }

    @Test func `a repeated write stops while the app is suspended`() async throws {
        let app = try ProfileFile(
            """
            mynah: 1
            name: App
            app: {}
            central:
              scan: {services: [180D]}
              peripherals: [{name: Strap, write: [{to: 180D/2A39, value: {hex: 01}, every: 100 ms}]}]
            """)
        let written = "value.written"
        let result = try await VirtualStage.run(
            [app.path, Self.strap, "--at", "5s=App:suspended", "--at", "7s=App:foreground"],
            toSee: [written, written, written, "app.suspended", "app.foreground", written, written])
        let names = try result.output.split(separator: "\n").map { try json(String($0)) }
            .compactMap { $0["event"] as? String }
        let suspended = try #require(names.firstIndex(of: "app.suspended"))
        let opened = try #require(names[suspended...].firstIndex(of: "app.foreground"))
        #expect(!names[suspended..<opened].contains(written))
    }

    @Test func `a value that cannot be subscribed to is an error of its own, and the app goes on`()
        async throws
    {
        let app = try ProfileFile(
            """
            mynah: 1
            name: App
            app: {backgroundModes: [bluetooth-central]}
            central:
              scan: {services: [180D]}
              peripherals:
                - {name: Strap, subscribe: [180D/2A38, 180D/2A37], write: [{to: 180D/2A39, value: {hex: \
                01}, every: 100 ms}]}
            """)
        let result = try await VirtualStage.run(
            [app.path, Self.strap],
            toSee: ["notification.changed", "notification.changed", "value.written", "value.written"])
        let events = try result.output.split(separator: "\n").map { try json(String($0)) }
        let changes = events.filter { $0["event"] as? String == "notification.changed" }
        #expect(changes.map { $0["characteristic"] as? String } == ["2A38", "2A37"])
        #expect(changes.map { $0["on"] as? Bool } == [false, true])
        #expect(changes.map { $0["error"] as? String } == ["0x06", nil])
        #expect(changes.first?["message"] as? String == "2A38 neither notifies nor indicates")
        #expect(!events.contains { $0["event"] as? String == "error" })
    }

    @Test func `work that a suspension interrupts goes on at the next wake, and is no error`() async throws {
        let app = try ProfileFile(
            """
            mynah: 1
            name: App
            app: {backgroundModes: [bluetooth-central], taskTime: 1 ms, suspendAfter: 100 ms}
            central:
              restoreIdentifier: t
              scan: {services: [180D]}
              peripherals: [{name: Strap, discover: all, read: [180D/2A38], subscribe: [180D/2A37]}]
            """)
        let result = try await VirtualStage.run(
            [
                app.path, Self.strap, "--at",
                "4s=App:background",
                "--at", "5s=Strap:outOfRange", "--at", "9s=memoryPressure", "--at", "10s=Strap:inRange",
                "--at",
                "14s=App:foreground",
            ],
            toSee: [
                "peripheral.connected", "value.updated", "app.suspended", "app.terminated", "app.launched",
                "peripheral.connected", "services.discovered", "value.read", "notification.changed",
                "value.updated",
            ])
        let events = try result.output.split(separator: "\n").map { try json(String($0)) }
        #expect(!events.contains { $0["event"] as? String == "error" })
    }

    /// An app that scans, and goes on in the background.
    private static func scanner(_ name: String) -> String {
        """
        mynah: 1
        name: \(name)
        app: {backgroundModes: [bluetooth-central], suspendAfter: 1 h}
        central: {scan: {services: [180D], until: never}}
        """
    }

    @Test func `a change of the Bluetooth state is told after the wake that it causes`() async throws {
        let (one, two) = (try ProfileFile(Self.scanner("One")), try ProfileFile(Self.scanner("Two")))
        let plan = ["--at", "2s=poweredOff", "--timeout", "3s", "--events", "json"]
        func steps(_ result: Program.Result) throws -> [String] {
            #expect(result.status == .exited(0))
            return try result.output.split(separator: "\n").map { try json(String($0)) }.compactMap { event in
                guard let name = event["event"] as? String, ["app.woken", "state.changed"].contains(name),
                    (event["state"] as? String) != "poweredOn"
                else { return nil }
                return (event["device"] as? String).map { "\($0) \(name)" } ?? name
            }
        }
        let alone = try await run(["--at", "1s=suspended", one.path] + plan)
        #expect(try steps(alone) == ["app.woken", "state.changed"])
        // The phone tells an app that runs; one that was woken is told by itself.
        let both = try await run(["--at", "1s=Two:suspended", one.path, two.path] + plan)
        #expect(try steps(both) == ["state.changed", "Two app.woken", "Two state.changed"])
    }

    @Test func `a connection that no event of a wake caused is extraneous`() async throws {
        let app = try ProfileFile(
            """
            mynah: 1
            name: App
            app: {backgroundModes: [bluetooth-central]}
            central:
              - restoreIdentifier: com.example.app
                scan: {services: [180D]}
                peripherals: [{name: Strap, subscribe: [180D/2A37]}]
              - {scan: {services: [FFE0]}, reconnect: [known], peripherals: [{name: Lamp}]}
            """)
        let lamp = try ProfileFile(
            """
            mynah: 1
            name: Lamp
            advertising: {serviceUUIDs: [FFE0], interval: 30 ms}
            services: [{uuid: FFE0, characteristics: [{uuid: FFE1, properties: [read]}]}]
            """)
        let result = try await run([
            "--events", "json", "--at", "3s=App:terminated", app.path, Self.strap, lamp.path, "--timeout",
            "6s",
        ])
        #expect(result.status == .exited(0))
        let extraneous = try result.output.split(separator: "\n").map { try json(String($0)) }
            .filter { $0["event"] as? String == "app.extraneous" }
        // A reconnection to the device that its value woke it for is none.
        #expect(extraneous.map { $0["by"] as? String } == ["connect"])
        #expect(extraneous.first?["as"] as? String == "Lamp")
    }

    @Test func `two apps hold one link, and it goes on for the other if one cancels`() async throws {
        func app(_ name: String, _ entry: String) throws -> ProfileFile {
            try ProfileFile(
                """
                mynah: 1
                name: \(name)
                app: {backgroundModes: [bluetooth-central]}
                central: {scan: {services: [180D]}, peripherals: [{name: Strap, \(entry)}]}
                """)
        }
        let once = try app("Once", "read: [180D/2A38], whenDone: disconnect")
        let stays = try app("Stays", "subscribe: [180D/2A37]")
        let result = try await VirtualStage.run(
            [once.path, stays.path, Self.strap],
            toSee: ["peripheral.disconnected", "link.kept", "value.updated"])
        let events = try result.output.split(separator: "\n").map { try json(String($0)) }
        let end = try #require(events.first { $0["event"] as? String == "peripheral.disconnected" })
        #expect(end["device"] as? String == "Once" && end["local"] as? Bool == true)
        let kept = try #require(events.first { $0["event"] as? String == "link.kept" })
        #expect(kept["heldBy"] as? [String] == ["Stays"] && kept["peripheral"] is String)
        let value = try #require(events.first { $0["event"] as? String == "value.updated" })
        #expect(value["device"] as? String == "Stays")
    }

    @Test func `the app's user stops and starts its scan on its screen, and nowhere else`() async throws {
        let app = try ProfileFile("mynah: 1\nname: App\napp: {}\ncentral: {scan: {until: never}}\n")
        let result = try await VirtualStage.run(
            [
                app.path, "--at", "1s=stopScan", "--at",
                "2s=startScan", "--at", "3s=background", "--at", "3s=startScan",
            ], toSee: ["scan.started", "scan.stopped", "scan.started", "app.background", "warning"])
        #expect(result.output.contains("App is not on the screen"))
    }

    @Test func `show has what is scanned for in each state`() async throws {
        func scan(_ profile: String, _ state: String) async throws -> [String: Any] {
            let output = try await VirtualStage.play(["show", profile, "--format", "json", "--state", state])
                .output
            return try #require((try json(output)["scans"] as? [[String: Any]])?.first)
        }
        for (state, interval) in [("foreground", 40), ("background", 300), ("suspended", 300)] {
            let scan = try await scan(Self.phone, state)
            #expect(scan["services"] as? [String] == ["180D"])
            #expect(scan["intervalMilliseconds"] as? Int == interval)
            #expect(scan["windowMilliseconds"] as? Int == 30)
            #expect((scan["omitted"] as? [Any])?.isEmpty == true)
        }
        let app = try ProfileFile("mynah: 1\nname: App\napp: {}\ncentral: {scan: {allowDuplicates: true}}\n")
        #expect(try await scan(app.path, "foreground")["allowDuplicates"] as? Bool == true)
        let off = try await scan(app.path, "background")
        #expect(off["intervalMilliseconds"] is NSNull && (off["omitted"] as? [Any])?.count == 1)
        let text = try await VirtualStage.play(["show", Self.phone]).output
        #expect(text.contains("scanning for 180D heart-rate") && text.contains("30 ms of every 300 ms"))
    }

    @Test func `a distance is heard as a weaker signal, and range needs no app in the run`() async throws {
        let app = try ProfileFile(
            """
            mynah: 1\nname: App\napp: {}\ncentral: {scan: {services: [180D], allowDuplicates: true, \
            until: never}}\n
            """
        )
        try await VirtualStage.play { stage in
            _ = try await stage.run([Self.strap, "--at", "0s=distance 5 m"])
            let phone = await stage.play([
                "run", "--radio", "virtual", "--events", "json", app.path, "--until",
                "peripheral.discovered rssi=-54", "--timeout", "10 min",
            ])
            #expect(phone.status == .exited(0))
        }
    }

    @Test(arguments: [
        (
            ["--radio", "bluez", "--at", "1s=outOfRange", strap], 1,
            "for the virtual radio, and this is BlueZ"
        ),
        (["--radio", "virtual", "--at", "1s=outOfRange", phone], 64, "no device of the run is an accessory"),
        (["--radio", "virtual", "--at", "1s=hart-rate:inRange", strap], 64, "did you mean \"heart-rate\"?"),
        (["--radio", "virtual", "--at", "1s=distance 5", strap], 64, "as in distance 5 m"),
    ])
    func `a planned change of a distance that is impossible is an error at the start`(
        arguments: [String], status: Int32, message: String
    ) async throws {
        let result = try await VirtualStage.play(["run"] + arguments)
        #expect(result.status == .exited(status))
        #expect(result.error.contains(message), "\(result.error)")
    }

    @Test func `BlueZ cannot play an app that is a central, and auto takes another radio and says so`()
        async throws
    {
        let refused = try await VirtualStage.play(["run", "--radio", "bluez", Self.phone])
        #expect(refused.status == .exited(1))
        #expect(
            refused.error.contains(
                "error: BlueZ cannot play an app that is a central; choose --radio virtual, or hci:user:0"))
        let checked = try await VirtualStage.play(["check", "--radio", "bluez", Self.phone])
        #expect(checked.status == .exited(1))
        #expect(checked.output.contains("BlueZ cannot play an app that is a central"))
        let named = try await VirtualStage.play(["run", "--adapter", "hci0", Self.phone])
        #expect(named.status == .exited(64))
        // Only a process of its own chooses between radios.
        let chosen = try await Program(["run", Self.phone, Self.strap, "--until", "ready"]).end()
        #expect(chosen.status == .exited(0))
        #expect(chosen.output.contains("a profile with central: never uses BlueZ; it uses the virtual radio"))
        let summary = try await VirtualStage.play(["check", "--radio", "virtual", Self.phone])
        #expect(summary.output.contains("ok: 0 services, 0 characteristics, 1 central manager"))
    }
}
