import Glibc
import MynahTestSupport
import Testing

/// Runs that end by themselves: `--until` and `--timeout`.
@Suite(.processes, .timeLimit(.minutes(15))) struct RunUntilTests {
    private func run(_ arguments: [String]) async throws -> Program.Result {
        try await VirtualStage.play(["run", "--radio", "virtual", RunTests.profile] + arguments)
    }

    @Test(arguments: ["json", "text", "off"])
    func `a run ends with 0 when its event has come, and the event is written`(events: String) async throws {
        let result = try await run(["--events", events, "--until", "ready services=heart-rate"])
        #expect(result.status == .exited(0))
        #expect(result.complaint == "")
        #expect(result.output.contains("ready") == (events != "off"))
        #expect(result.output.contains("advertising.stopped") == (events != "off"))
    }

    @Test func `it waits for every event, and UUIDs compare as UUIDs`() async throws {
        try await VirtualStage.play { stage in
            let program = try await stage.run([
                RunTests.profile, "--until", "read characteristic=00002a38-0000-1000-8000-00805f9b34fb",
                "--until", "subscribed of=180D/heart-rate-measurement device=heart-rate",
            ])
            let phone = await stage.play([
                "connect", "Mynah HRM", "--command", "read 2A38", "--command", "subscribe 2A37",
            ])
            // The run ends its links as soon as the phone has subscribed.
            #expect(phone.output.contains("body-sensor-location  01"))
            let result = await program.end()
            #expect(result.status == .exited(0))
            #expect(result.output.contains("\"read\"") && result.output.contains("\"subscribed\""))
        }
    }

    @Test
    func `the screen that apps take while they are opened does not count, and a phone's event is each app's`()
        async throws
    {
        let (first, second) = try AppRunTests.two()
        let result = try await VirtualStage.run([
            "--events", "json", first.path, second.path, "--until", "app.background device=App", "--until",
            "ready device=Other", "--at", "100 ms=Other:foreground",
        ])
        #expect(result.status == .exited(0))
        let events = result.output.split(separator: "\n")
        let ready = try #require(events.firstIndex { $0.contains("\"ready\"") })
        #expect(events[ready...].contains { $0.contains("app.background") && $0.contains("\"App\"") })
    }

    @Test func `time alone ends a run with 0, after it was ready`() async throws {
        let result = try await run(["--events", "json", "--timeout", "10 ms"])
        #expect(result.status == .exited(0))
        #expect(result.output.contains("\"ready\""))
        #expect(result.complaint == "")
    }

    @Test(arguments: ["json", "off"])
    func `an event that does not come in time is an error of one line`(events: String) async throws {
        let result = try await run([
            "--events", events, "--until", "ready", "--until", "write  value=01", "--until", "paired",
            "--timeout", "10ms",
        ])
        #expect(result.status == .exited(1))
        #expect(result.complaint == "error: not seen within 10 ms: write value=01; paired\n")
    }

    @Test func `a signal ends it with 0 as before`() async throws {
        let program = try Program(
            ["run", "--radio", "virtual", RunTests.profile, "--events", "json", "--until", "paired"])
        #expect(try await program.output.line(containing: "\"ready\"") != nil)
        program.child.send(SIGTERM)
        let result = try await program.end()
        #expect(result.status == .exited(0))
        #expect(result.complaint == "")
    }

    @Test func `an output that is closed before the event has come is an error of one line`() async throws {
        let path = try #require(Program.path)
        let air = try TemporaryDirectory()
        let errors = try #require(OutputReader())
        // The run learns of it when it writes something.
        let later = (1...30).map { "--at \($0)s=\($0.isMultiple(of: 2) ? "foreground" : "background")" }
        let options = "--radio virtual --events json --until paired " + later.joined(separator: " ")
        let shell = try #require(
            ChildProcess(
                "sh",
                ["-c", "exec \"$0\" run \(options) \"$1\" | head -1", path, CentralRunTests.phone],
                passing: [errors.writer: 2], environment: ["MYNAH_AIR": air.path]))
        errors.start()
        _ = try await shell.end()
        #expect(
            try await errors.text() == "error: not seen before standard output was closed: paired\n")
    }

    @Test func `a controller that never comes ends a run with a timeout`() async throws {
        let result = try await VirtualStage.play([
            "run", RunTests.profile, "--radio", "hci:tcp-server:0", "--timeout", "10ms",
        ])
        #expect(result.status == .exited(1))
        #expect(result.error.contains("error: not ready within 30 s"))
    }

    @Test func `its end keeps what an app preserves, as SIGTERM does`() async throws {
        let folder = try TemporaryDirectory()
        let arguments = [
            "--events", "json", PreservedRunTests.profile, "--state-dir", folder.path, "--until",
            "advertising.started", "--until", "ready",
        ]
        let first = try await VirtualStage.run(arguments)
        #expect(first.status == .exited(0))
        #expect(!first.output.contains("app.restored"))
        let second = try await VirtualStage.run(arguments + ["--until", "app.restored services=180D"])
        #expect(second.status == .exited(0))
    }

    @Test(arguments: [
        (["--until", "redy"], "there is no event \"redy\"; did you mean \"ready\"?"),
        (["--until", "re\u{1B}[2Jdy"], "there is no event \"re\u{FFFD}[2Jdy\""),
        (["--at", "1s=\u{1B}c"], "there is no state \"\u{FFFD}c\""),
        (["--until", "write chracteristic=2A39"], "write has no field \"chracteristic\"; did you mean"),
        (["--until", "ready 180D"], "\"180D\" is not FIELD=VALUE"), (["--until", ""], "it names no event"),
        (
            ["--until", "ready device=hart-rate"],
            "there is no device \"hart-rate\"; did you mean \"heart-rate\"?"
        ),
        (["--timeout", "10"], "--timeout 10: the time has no unit"),
    ])
    func `an event that cannot be waited for is wrong usage`(options: [String], message: String) async throws
    {
        let result = try await VirtualStage.play(["run", RunTests.profile] + options)
        #expect(result.status == .exited(64))
        #expect(result.output.isEmpty)
        #expect(result.error.contains(message), "\(result.error)")
        #expect(result.error.contains("Usage: mynah run"))
    }
}
