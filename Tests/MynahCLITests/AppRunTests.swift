import Glibc
import MynahBlueZStandIn
import MynahSupport
import MynahTestSupport
import Testing

/// `mynah run` with a profile that an app plays, against a stand-in bluetoothd.
@Suite(.timeLimit(.minutes(2))) struct AppRunTests {
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
        #expect(await terminal.output.line(containing: "running") != nil)
        await stage.waitUntilItPlays()
        let shown = await stage.standIn.advertisements()
        #expect(shown.first?.scanResponse.isEmpty == false)
        for (key, state, hasName) in [
            ("b", "background", false), ("f", "foreground", true), ("s", "suspended", false),
            ("f", "foreground", true),
        ] {
            terminal.type(key)
            #expect(await terminal.output.line(containing: state) != nil)
            await stage.standIn.wait { standIn in
                standIn.advertisements().contains { $0.scanResponse.isEmpty != hasName }
            }
        }
        terminal.type("t")
        #expect(await terminal.output.line(containing: "terminated") != nil)
        let phone = await stage.standIn.central()
        try await phone.connect()
        #expect(try await phone.read("2a39") == [0])
        #expect(await terminal.output.line(containing: "woken by read") != nil)
        terminal.type("q")
        await stage.standIn.wait { $0.advertisementCount() == 0 && $0.applicationCount() == 0 }
        stage.program.child.send(SIGINT)
        #expect(await stage.program.child.end() == .exited(0))
        await stage.expectNothingIsLeft()
    }

    @Test func `a run that is killed is restored by the next, and Ctrl-C forgets`() async throws {
        let profile = try ProfileFile(Self.app)
        let directory = try TemporaryDirectory()
        let options = ["--events", "json", "--state-dir", directory.path, "--state", "background"]
        let first = try await RunTests.Stage(options, profiles: [profile.path])
        #expect(await first.program.output.line(containing: "\"ready\"") != nil)
        first.program.child.send(SIGKILL)
        _ = await first.program.child.end()
        await first.standIn.stop()
        let second = try await RunTests.Stage(options, profiles: [profile.path])
        #expect(await second.program.output.line(containing: "\"ready\"") != nil)
        second.program.child.send(SIGTERM)
        let result = await second.program.end()
        #expect(result.status == .exited(0))
        let names = try result.output.split(separator: "\n").map { try name($0) }.filter { $0 != "warning" }
        #expect(
            names == [
                "app.launched", "app.restored", "app.foreground", "state.changed", "app.background",
                "advertising.started", "ready", "advertising.stopped",
            ])
        #expect(directory.files.contains("peripheral-com.example.hrm.json"))
        let third = try await RunTests.Stage(options, profiles: [profile.path])
        #expect(await third.program.output.line(containing: "\"ready\"") != nil)
        // Two runs cannot have it at once.
        let other = try await RunTests.Stage(options, profiles: [profile.path])
        let refused = await other.program.end()
        #expect(refused.status == .exited(1))
        #expect(refused.error.contains("another process uses it"))
        third.program.child.send(SIGINT)
        _ = await third.program.end()
        #expect(directory.files == ["lock"])
    }

    @Test func `keys that come at once are carried out in their order`() async throws {
        let profile = try ProfileFile(Self.app)
        let terminal = try Terminal()
        let stage = try await RunTests.Stage(
            ["--events", "json"], profiles: [profile.path], terminal: terminal)
        #expect(await terminal.output.line(containing: "\"ready\"") != nil)
        await stage.waitUntilItPlays()
        terminal.type("bfbfbfbfsfbq")
        #expect(await terminal.output.line(containing: "\"app.quit\"") != nil)
        let lines = Lock([String]())
        _ = await terminal.output.line { line in
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
        #expect(await stage.program.child.end() == .exited(0))
        await stage.expectNothingIsLeft()
    }

    @Test func `SIGTERM keeps who was subscribed`() async throws {
        let text = Self.app + "\n      - {uuid: 2A37, properties: [notify], value: {hex: 00}}"
        let profile = try ProfileFile(text)
        let directory = try TemporaryDirectory()
        let options = ["--events", "json", "--state-dir", directory.path]
        let stage = try await RunTests.Stage(options, profiles: [profile.path])
        await stage.waitUntilItPlays()
        let phone = await stage.standIn.central()
        try await phone.connect()
        try await phone.subscribe("2a37")
        #expect(await stage.program.output.line(containing: "\"subscribed\"") != nil)
        stage.program.child.send(SIGTERM)
        #expect(await stage.program.child.end() == .exited(0))
        await stage.expectNothingIsLeft()
        let next = try await RunTests.Stage(options, profiles: [profile.path])
        let restored = try #require(await next.program.output.line(containing: "\"app.restored\""))
        #expect((try json(restored)["subscribers"] as? [Any])?.count == 1)
        next.program.child.send(SIGINT)
        #expect(await next.program.child.end() == .exited(0))
        await next.expectNothingIsLeft()
    }

    @Test func `what is planned happens at its time`() async throws {
        let profile = try ProfileFile(Self.app)
        let stage = try await RunTests.Stage(
            ["--events", "json", "--at", "10ms=suspended", "--at", "20 ms=quit"], profiles: [profile.path])
        #expect(await stage.program.output.line(containing: "app.quit") != nil)
        stage.program.child.send(SIGTERM)
        let result = await stage.program.end()
        let names = try result.output.split(separator: "\n").map { try name($0) }.filter {
            $0.hasPrefix("app.")
        }
        #expect(names == ["app.launched", "app.foreground", "app.background", "app.suspended", "app.quit"])
        await stage.expectNothingIsLeft()
    }
}
