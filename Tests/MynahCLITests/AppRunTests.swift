import Glibc
import MynahBlueZStandIn
import MynahSupport
import MynahTestSupport
import Testing

/// `mynah run` with a profile that an app plays, against a stand-in bluetoothd.
@Suite(.processes, .timeLimit(.minutes(15))) struct AppRunTests {
    static let app = """
        mynah: 1
        name: App
        app: {backgroundModes: [bluetooth-peripheral], restoreIdentifier: com.example.hrm, suspendAfter: 60 s}
        advertising: {localName: Fred, serviceUUIDs: [C007]}
        services:
          - uuid: 180D
            characteristics:
              - {uuid: 2A38, properties: [read], value: {hex: 01}}
              - {uuid: 2A39, properties: [read, write], value: {hex: "00"}}
        """

    private func name(_ line: some StringProtocol) throws -> String {
        let object = try json(String(line))
        return try #require(object["event"] as? String)
    }

    @Test func `the keys of the terminal move the app, and the air follows`() async throws {
        let profile = try ProfileFile(Self.app)
        let terminal = try Terminal()
        let stage = try await RunTests.Stage([], profiles: [profile.path], terminal: terminal)
        // Keys are heard once all is up.
        #expect(try await terminal.output.line(containing: "running") != nil)
        try await stage.waitUntilItPlays()
        let shown = await stage.standIn.advertisements()
        #expect(shown.first?.scanResponse.isEmpty == false)
        for (key, state, hasName) in [
            ("b", "background", false), ("f", "foreground", true), ("s", "suspended", false),
            ("f", "foreground", true),
        ] {
            terminal.type(key)
            #expect(try await terminal.output.line(containing: state) != nil)
            try await stage.standIn.wait("the scan response has the name, or not, as expected") { standIn in
                standIn.advertisements().contains { $0.scanResponse.isEmpty != hasName }
            }
        }
        terminal.type("t")
        #expect(try await terminal.output.line(containing: "terminated") != nil)
        // The advert changes once more, and in between there is none to connect to.
        try await stage.standIn.wait("an advertisement has no scan response") {
            $0.advertisements().contains { $0.scanResponse.isEmpty }
        }
        let phone = await stage.standIn.central()
        try await phone.connect()
        #expect(try await phone.read("2a39") == [0])
        #expect(try await terminal.output.line(containing: "woken by read") != nil)
        terminal.type("q")
        try await stage.standIn.wait("nothing is registered any more") {
            $0.advertisementCount() == 0 && $0.applicationCount() == 0
        }
        stage.program.child.send(SIGINT)
        #expect(try await stage.program.child.end() == .exited(0))
        await stage.expectNothingIsLeft()
    }

    @Test func `keys that come at once are carried out in their order`() async throws {
        let profile = try ProfileFile(Self.app)
        let terminal = try Terminal()
        let stage = try await RunTests.Stage(
            ["--events", "json"], profiles: [profile.path], terminal: terminal)
        #expect(try await terminal.output.line(containing: "\"ready\"") != nil)
        try await stage.waitUntilItPlays()
        terminal.type("bfbfbfbfsfbq")
        #expect(try await terminal.output.line(containing: "\"app.quit\"") != nil)
        let lines = Lock([String]())
        _ = try await terminal.output.line("the row of the app") { line in
            lines.withLock { $0.append(line) }
            return line.contains("\"app.quit\"")
        }
        let names = try lines.withLock { $0 }.map { try name($0) }.filter {
            $0.hasPrefix("app.") && $0 != "app.launched"
        }
        let (on, off) = ("app.foreground", "app.background")
        #expect(
            names == [on, off, on, off, on, off, on, off, on, off, "app.suspended", on, off, "app.quit"])
        stage.program.child.send(SIGTERM)
        #expect(try await stage.program.child.end() == .exited(0))
        await stage.expectNothingIsLeft()
    }

    /// Two apps of one phone, the first from a file with another name.
    static func two() throws -> (first: ProfileFile, second: ProfileFile) {
        (try ProfileFile(app), try ProfileFile("mynah: 1\nname: Other\napp: {}\nadvertising: {}\n"))
    }

    /// The steps of apps' lives in a run's output, each with its device.
    private func lives(_ output: String) throws -> [String] {
        try output.split(separator: "\n").map { try json(String($0)) }.compactMap { event in
            guard let name = event["event"] as? String, name.hasPrefix("app."), let device = event["device"]
            else { return nil }
            return "\(device) \(name.dropFirst(4))"
        }
    }

    @Test func `one app of several is on the screen, and --at names the app it is for`() async throws {
        let (first, second) = try Self.two()
        let stem = try #require(second.path.split(separator: "/").last).split(separator: ".")[0]
        let result = try await VirtualStage.run([
            "--events", "json", first.path, second.path, "--at", "1ms=\(stem):foreground", "--at",
            "2ms=App:suspended", "--at", "3ms=background", "--at", "4ms=foreground", "--at", "5ms=quit",
            "--until", "app.quit device=App", "--until", "app.quit device=Other",
        ])
        #expect(result.status == .exited(0))
        #expect(result.output.contains("\"startsInBackground\""))
        #expect(
            try lives(result.output) == [
                "App launched", "App foreground", "App background", "Other launched", "Other foreground",
                "Other background", "App foreground",  // Both are open.
                "App background", "Other foreground", "App suspended", "Other background", "Other foreground",
                "App quit", "Other quit",
            ])
    }

    @Test func `keys choose the app that they act on, and the screen marks the one in front`() async throws {
        let (first, second) = try Self.two()
        let terminal = try Terminal()
        let program = try Program(
            ["run", "--radio", "virtual", first.path, second.path], terminal: terminal)
        #expect(try await terminal.output.line(containing: "running") != nil)
        for (keys, line) in [
            ("b", "  app 1  background  App"), ("2f", "● app 2"), ("1f", "● app 1"),
            ("q", "  app 1  quit  App"),
        ] {
            terminal.type(keys)
            #expect(try await terminal.output.line(containing: line) != nil, "\(keys)")
        }
        program.child.send(SIGINT)
        #expect(try await program.child.end() == .exited(0))
    }

    @Test func `with two phones keys need a chosen app, and each phone has one on its screen`() async throws {
        let files = try [("Anna", "One"), ("Bob", "Two"), ("Anna", "Three")].map { phone, name in
            try ProfileFile("mynah: 1\nname: \(name)\nphone: {name: \(phone)}\napp: {}\n")
        }
        let terminal = try Terminal()
        let program = try Program(["run", "--radio", "virtual"] + files.map(\.path), terminal: terminal)
        #expect(try await terminal.output.line(containing: "Bob: Two\u{1B}[0m  running") != nil)
        terminal.type("b")
        let message = "this run has 2 phones: press the number of an app first"
        #expect(try await program.error.line(containing: message) != nil)
        for (keys, line) in [("3b", "  app 3  background  Two"), ("2f", "● app 2"), ("3f", "● app 3")] {
            terminal.type(keys)
            #expect(try await terminal.output.line(containing: line) != nil, "\(keys)")
        }
        program.child.send(SIGINT)
        #expect(try await program.child.end() == .exited(0))
    }

    @Test
    func `an action for no app, or for two, is wrong usage, and one name for two apps is an error`()
        async throws
    {
        let (first, second) = try Self.two()
        for (at, message) in [
            ("1s=Othr:quit", "did you mean \"Other\"?"), ("1s=Other:qiut", "did you mean quit?"),
            ("1s=nobody at all:quit", "the devices are \"App\", \"Other\""),
        ] {
            let result = try await VirtualStage.play(["run", first.path, second.path, "--at", at])
            #expect(result.status == .exited(64))
            #expect(result.error.contains(message), "\(result.error)")
        }
        for command in ["run", "check"] {
            let result = try await VirtualStage.play([command, first.path, first.path])
            #expect(result.status == .exited(1))
            #expect((result.output + result.error).contains("\(first.path):2:7: error: the name \"App\" is"))
        }
    }

    @Test func `the phone answers for an app that was terminated, and for no value that is too long`()
        async throws
    {
        let profile = try ProfileFile(Self.app.replacing("value: {hex: \"00\"}}", with: "maxLength: 1}"))
        let result = try await VirtualStage.play { stage in
            let program = try await stage.run([
                "--address", "identity", profile.path, "--at", "1ms=terminated", "--until",
                "read of=2A38 value=01", "--until",
                "request.refused of=2A39 by=write error=0x0d because=length",
            ])
            #expect(try await program.output.line(containing: "app.terminated") != nil)
            let phone = await stage.play([
                "connect", try program.address(), "--command", "read 2A38", "--command", "write 2A39 0102",
            ])
            #expect(phone.status == .exited(1))
            return await program.end()
        }
        #expect(result.status == .exited(0))
        // Neither a static value nor a refused request launches it.
        #expect(result.output.split(separator: "app.launched").count == 2)
    }

    @Test(arguments: [true, false])
    func `Bluetooth that was turned off and on serves again`(isApp: Bool) async throws {
        let app =
            isApp
            ? ""
            : """
            app: {backgroundModes: [bluetooth-peripheral], restoreIdentifier: com.example.hrm, \
            suspendAfter: 60 s}\n
            """
        let profile = try ProfileFile(Self.app.replacing(app, with: ""))
        let result = try await VirtualStage.play { stage in
            let program = try await stage.run([
                "--address", "identity", profile.path, "--at", "1ms=poweredOff", "--at",
                "2ms=App:poweredOn",
            ])
            for word in ["\"poweredOff\"", "\"poweredOn\"", "advertising.started"] {
                #expect(try await program.output.line(containing: word) != nil)
            }
            let phone = await stage.play(["connect", try program.address(), "--command", "read 2A38"])
            #expect(phone.status == .exited(0), "\(phone.error)")
            program.terminate()
            return await program.end()
        }
        #expect(result.status == .exited(0))
        #expect(!result.output.contains("radio.lost") && !result.output.contains("radio.recovered"))
    }

    @Test func `Bluetooth that is turned off without a name is the phone's, and an accessory stays on`()
        async throws
    {
        let app = try ProfileFile(Self.app)
        let accessory = try ProfileFile(
            "mynah: 1\nname: Strap\nadvertising: {serviceUUIDs: [180A], interval: 100 ms}\n")
        let result = try await VirtualStage.run([
            "--events", "json", app.path, accessory.path, "--at", "1ms=poweredOff", "--at", "1s=quit",
            "--until", "app.quit",
        ])
        #expect(result.status == .exited(0), "\(result.output)")
        let off = try result.output.split(separator: "\n").map { try json(String($0)) }
            .filter { $0["state"] as? String == "poweredOff" }.map { $0["device"] as? String }
        #expect(off == ["App"])
    }

    @Test func `planned actions for an app happen in order`() async throws {
        let profile = try ProfileFile(Self.app)
        let stage = try await RunTests.Stage(
            [
                "--events", "json", "--state", "foreground", "--at", "1ms=background", "--at",
                "2 ms=suspended", "--at", "3ms=quit",
            ], profiles: [profile.path])
        #expect(try await stage.program.output.line(containing: "\"app.quit\"") != nil)
        stage.program.child.send(SIGTERM)
        let result = try await stage.program.end()
        #expect(result.status == .exited(0))
        let life = try result.output.split(separator: "\n").map { try name($0) }.filter {
            $0.hasPrefix("app.")
        }
        #expect(life == ["app.launched", "app.foreground", "app.background", "app.suspended", "app.quit"])
        await stage.expectNothingIsLeft()
    }
}
