import Glibc
import MynahBlueZStandIn
import MynahSupport
import MynahTestSupport
import Testing

/// `mynah run` with a profile that an app plays, against a stand-in bluetoothd.
@Suite(.timeLimit(.minutes(15))) struct AppRunTests {
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

    @Test func `what is planned for an app happens in its order`() async throws {
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
