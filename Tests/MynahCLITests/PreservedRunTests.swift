import Glibc
import MynahBlueZStandIn
import MynahTestSupport
import Testing

/// The state of an app that a run keeps for the next one, in `--state-dir`.
@Suite(.processes, .timeLimit(.minutes(15))) struct PreservedRunTests {
    static let profile = "\(repository)/profiles/everything-app.yaml"
    static let file = "peripheral+Everything%20an%20app%20can%20do+com.example.hrm.json"
    /// The file's name in an earlier version.
    static let formerFile = "peripheral-com.example.hrm.json"

    private func names(_ output: String) throws -> [String] {
        try output.split(separator: "\n").compactMap { try json(String($0))["event"] as? String }
    }

    @Test func `SIGTERM keeps what an app preserves, and Ctrl-C forgets it`() async throws {
        let folder = try TemporaryDirectory()
        let bus = try PrivateBus()
        let standIn = try await BlueZStandIn.start(on: bus.address)
        for (number, signal) in [SIGTERM, SIGINT, SIGTERM].enumerated() {
            let program = try Program(
                ["run", Self.profile, "--radio", "bluez", "--events", "json", "--state-dir", folder.path],
                bus: bus.address)
            #expect(try await program.output.line(containing: "\"ready\"") != nil)
            program.child.send(signal)
            let result = try await program.end()
            #expect(result.status == .exited(0))
            #expect(try names(result.output).contains("app.restored") == (number == 1))
            // The restored services are published on the radio once, when there is one.
            #expect(!result.output.contains("restoredServicesRefused"))
            #expect(folder.files.contains(Self.file) == (signal == SIGTERM))
            #expect(await standIn.applicationCount() == 0)
        }
        #expect(await standIn.violations == [])
        await standIn.stop()
    }

    @Test(
        arguments: [
            "", "[", "{}", #"{"mynahState": 2}"#,
            #"{"mynahState": 1, "restoreIdentifier": "other", "services": []}"#,
            #"{"mynahState":1,"restoreIdentifier":"com.example.hrm","services":[[{"uuid":"1800"}]]}"#,
            #"""
            {"mynahState":1,"restoreIdentifier":"com.example.hrm","services":[],\#
            "subscribers":[{"characteristic":-1}]}
            """#,
            String(repeating: "[", count: 100_000),
        ], [file, formerFile])
    func `a preserved state that makes no sense is set aside, and said`(text: String, file: String)
        async throws
    {
        let folder = try TemporaryDirectory()
        try folder.write(text, to: file)
        let result = try await VirtualStage.run([
            "--events", "json", "--state-dir", folder.path, Self.profile, "--until", "ready",
        ])
        #expect(result.status == .exited(0))
        #expect(result.output.contains("cannot be used"))
        #expect(folder.files.contains("\(file).unusable-1"))
    }

    @Test func `a phone that was restarted serves what an app preserved, and a read relaunches the app`()
        async throws
    {
        let folder = try TemporaryDirectory()
        let profile = try ProfileFile(AppRunTests.app)
        let arguments = ["--address", "identity", "--state-dir", folder.path, profile.path]
        let first = try await VirtualStage.run(
            ["--events", "json"] + arguments + ["--until", "ready", "--until", "advertising.started"])
        #expect(first.status == .exited(0))
        let result = try await VirtualStage.play { stage in
            let program = try await stage.run(
                arguments + ["--state", "terminated", "--until", "read of=2A39"])
            _ = await stage.play([
                "connect", try program.address(), "--command", "read 2A38", "--command", "read 2A39",
            ])
            return await program.end()
        }
        #expect(result.status == .exited(0))
        let told = try names(result.output).filter { $0.hasPrefix("app.") || $0 == "ready" || $0 == "read" }
        #expect(told == ["ready", "read", "app.launched", "app.restored", "app.woken", "read"])
    }

    @Test func `two apps with one restore identifier each have a state of their own`() async throws {
        let folder = try TemporaryDirectory()
        let profiles = try ["One", "Two"].map {
            try ProfileFile(AppRunTests.app.replacing("name: App", with: "name: \($0)"))
        }
        for isSecond in [false, true] {
            let result = try await VirtualStage.run(
                ["--events", "json", "--state-dir", folder.path] + profiles.map(\.path)
                    + ["--until", "ready"])
            #expect(result.status == .exited(0))
            let events = try result.output.split(separator: "\n").map { try json(String($0)) }
            let restored = events.filter { $0["event"] as? String == "app.restored" }
            #expect(restored.compactMap { $0["device"] as? String } == (isSecond ? ["One", "Two"] : []))
            // Their user launched them.
            for launched in events.filter({ $0["event"] as? String == "app.launched" }) {
                #expect((launched["restoreIdentifiers"] as? [String])?.isEmpty == true)
                #expect((launched["centralRestoreIdentifiers"] as? [String])?.isEmpty == true)
            }
        }
        #expect(
            folder.files.sorted() == [
                "bonds-phone.json", "lock", "peripheral+One+com.example.hrm.json",
                "peripheral+Two+com.example.hrm.json",
            ])
    }

    @Test func `each accessory keeps its identity, for any order of the profiles`() async throws {
        let folder = try TemporaryDirectory()
        let profiles = try ["One", "Two"].map {
            try ProfileFile(KillTests.accessory.replacing("name: Killed", with: "name: \($0)"))
        }
        func addresses(_ paths: [String]) async throws -> [String: String] {
            let result = try await VirtualStage.run(
                ["--events", "json", "--state-dir", folder.path] + paths
                    + ["--until", "ready device=One", "--until", "ready device=Two"])
            #expect(result.status == .exited(0))
            let ready = try result.output.split(separator: "\n").map { try json(String($0)) }
                .filter { $0["event"] as? String == "ready" }
            return try Dictionary(
                uniqueKeysWithValues: ready.map {
                    (try #require($0["device"] as? String), try #require($0["address"] as? String))
                })
        }
        let first = try await addresses(profiles.map(\.path))
        #expect(Set(first.values).count == 2)
        // As an earlier version left them, which went by the order.
        for (name, former) in [("One", "bonds.json"), ("Two", "bonds-2.json")] {
            #expect(rename("\(folder.path)/bonds+\(name).json", "\(folder.path)/\(former)") == 0)
        }
        #expect(try await addresses(profiles.map(\.path)) == first)
        #expect(try await addresses(profiles.reversed().map(\.path)) == first)
        #expect(folder.files.sorted() == ["bonds+One.json", "bonds+Two.json", "lock"])
    }

    @Test func `a state directory that cannot be had is an error`() async throws {
        let file = try ProfileFile("")
        let none = try await Program.run("run", Self.profile, "--state-dir", file.path)
        #expect(none.status == .exited(1))
        #expect(none.error.contains("error: "))
        let folder = try TemporaryDirectory()
        let stage = try await RunTests.Stage(
            ["--events", "json", "--state-dir", folder.path], profiles: [Self.profile])
        #expect(try await stage.program.output.line(containing: "\"ready\"") != nil)
        let second = try await Program.run("run", Self.profile, "--state-dir", folder.path)
        #expect(second.status == .exited(1))
        #expect(second.error.contains("another process uses it"))
        stage.program.child.send(SIGTERM)
        #expect(try await stage.program.end().status == .exited(0))
        await stage.expectNothingIsLeft()
    }

    @Test func `a run that is killed is restored by the next, and Ctrl-C forgets`() async throws {
        let profile = try ProfileFile(AppRunTests.app)
        let directory = try TemporaryDirectory()
        let options = ["--events", "json", "--state-dir", directory.path, "--state", "background"]
        let first = try await RunTests.Stage(options, profiles: [profile.path])
        #expect(try await first.program.output.line(containing: "\"ready\"") != nil)
        first.program.child.send(SIGKILL)
        _ = try await first.program.child.end()
        await first.standIn.stop()
        let second = try await RunTests.Stage(options, profiles: [profile.path])
        #expect(try await second.program.output.line(containing: "\"ready\"") != nil)
        second.program.child.send(SIGTERM)
        let result = try await second.program.end()
        #expect(result.status == .exited(0))
        let names = try names(result.output).filter { $0 != "warning" }
        #expect(
            names == [
                "app.launched", "app.restored", "app.foreground", "state.changed", "app.background",
                "advertising.started", "ready", "radio.used", "advertising.stopped",
            ])
        #expect(directory.files.contains("peripheral+App+com.example.hrm.json"))
        let third = try await RunTests.Stage(options, profiles: [profile.path])
        #expect(try await third.program.output.line(containing: "\"ready\"") != nil)
        third.program.child.send(SIGINT)
        _ = try await third.program.end()
        #expect(directory.files == ["lock"])
    }

    @Test func `SIGTERM keeps who was subscribed`() async throws {
        let text = AppRunTests.app + "\n      - {uuid: 2A37, properties: [notify], value: {hex: 00}}"
        let profile = try ProfileFile(text)
        let directory = try TemporaryDirectory()
        let options = ["--events", "json", "--state-dir", directory.path]
        let stage = try await RunTests.Stage(options, profiles: [profile.path])
        try await stage.waitUntilItPlays()
        let phone = await stage.standIn.central()
        try await phone.connect()
        try await phone.subscribe("2a37")
        #expect(try await stage.program.output.line(containing: "\"subscribed\"") != nil)
        stage.program.child.send(SIGTERM)
        #expect(try await stage.program.child.end() == .exited(0))
        await stage.expectNothingIsLeft()
        let next = try await RunTests.Stage(options, profiles: [profile.path])
        let restored = try #require(try await next.program.output.line(containing: "\"app.restored\""))
        #expect((try json(restored)["subscribers"] as? [Any])?.count == 1)
        next.program.child.send(SIGINT)
        #expect(try await next.program.child.end() == .exited(0))
        await next.expectNothingIsLeft()
    }
}
