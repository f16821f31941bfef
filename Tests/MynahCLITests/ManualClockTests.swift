import Glibc
import MynahTestSupport
import Testing

/// `--clock manual` of the built program.
@Suite(.timeLimit(.minutes(15)), .processes) struct ManualClockTests {
    private let folder: TemporaryDirectory
    private var address: String { "unix:\(folder.path)/control" }

    init() throws {
        folder = try TemporaryDirectory()
    }

    private static let advance = ["advance", "500000min"]

    /// Starts a run or a server whose time stops between requests, and waits until it is ready.
    private func start(_ arguments: [String]) async throws -> Program {
        let program = try Program(
            arguments + ["--clock", "manual", "--seed", "7", "--events", "json", "--control", address])
        try #require(try await program.output.line(containing: "\"ready\"") != nil)
        return program
    }

    private func ctl(
        _ words: [String], environment: [String: String] = [:]
    ) async throws -> Program.Result {
        try await Program(["ctl", "--control", address] + words, environment: environment).end()
    }

    @Test func `times of a virtual run are in UTC, and not where the user is`() async throws {
        let zone = ["TZ": "XYZ-05:30"]
        let fast = try Program(
            ["run", RunTests.profile, "--clock", "fast", "--timeout", "1s", "--events", "text"],
            environment: zone)
        let lines = try await fast.end().output.split(separator: "\n")
        #expect(!lines.isEmpty && lines.allSatisfy { $0.hasPrefix("00:00:0") }, "\(lines)")
        let run = try await start(["run", RunTests.profile])
        #expect(try await ctl(["advance", "15min"]).status == .exited(0))
        for words in [["events", "ready"], ["wait", "ready"]] {
            let events = try await ctl(words, environment: zone).output
            #expect(events.hasPrefix("00:00:00.") && events.contains("ready"), "\(events)")
        }
        let problem = try await ctl(["verify", "ready", "--never"], environment: zone).error
        #expect(problem.contains("nearest: 00:00:00."), "\(problem)")
        run.child.send(SIGTERM)
        #expect(try await run.child.end() == .exited(0))
    }

    @Test func `an advance prints the time, and SIGINT in the middle of a long one ends the run`()
        async throws
    {
        let run = try await start(["run", RunTests.profile])
        #expect(try await ctl(["advance", "15min"]).output == "manual  2026-01-01T00:15:00.000000Z\n")
        #expect(try await ctl(["advance", "1", "s"]).output == "manual  2026-01-01T00:15:01.000000Z\n")
        #expect(try await ctl(["clock"]).output == "manual  2026-01-01T00:15:01.000000Z\n")
        let advance = try Program(["ctl", "--control", address] + Self.advance)
        try #require(try await run.output.line(containing: "2026-01-01T00:20:00.000000Z") != nil)
        run.child.send(SIGINT)
        #expect(try await run.child.end() == .exited(0))
        let stopped = try await advance.end()
        #expect(stopped.status == .exited(1))
        #expect(stopped.error.hasSuffix("of 500000 min, because the run ends\n"), "\(stopped.error)")
        #expect(try await run.output.text().contains("advertising.stopped"))
    }

    @Test(arguments: [Self.advance, ["wait", "read", "--within", "1440 min"]])
    func `a client that is killed in the middle of a request leaves the run usable`(words: [String])
        async throws
    {
        let run = try await start(["run", RunTests.profile])
        let client = try Program(["ctl", "--control", address] + words)
        try #require(try await run.output.line(containing: "radio.used") != nil)
        client.child.send(SIGKILL)
        #expect(try await client.child.end() == .killed(SIGKILL))
        let clock = try await ctl(["clock"])
        #expect(clock.status == .exited(0) && clock.output < "manual  2026-01-02", "\(clock.output)")
        #expect(try await ctl(["clock"]).output == clock.output)
        run.child.send(SIGTERM)
        #expect(try await run.child.end() == .exited(0))
    }

    @Test func `equal requests give equal bytes in two processes, and after a reset`() async throws {
        var traces: [(output: String, events: String, capture: [UInt8])] = []
        for _ in 0..<2 {
            let server = try await start(["serve", "--capture", "\(folder.path)/air.pcapng"])
            var events: [String] = []
            for _ in 0..<2 {
                for profile in ["lock", "phone-lock-app"] {
                    let added = try await ctl(["add", "\(repository)/profiles/\(profile).yaml"])
                    #expect(added.status == .exited(0), "\(added.error)")
                }
                #expect(
                    try await ctl(["wait", "write", "device=Lock", "--within", "60 s"]).status == .exited(0))
                #expect(try await ctl(["advance", "16 min"]).status == .exited(0))
                events.append(try await ctl(["events", "--since", "1", "--format", "json"]).output)
                #expect(try await ctl(["reset"]).status == .exited(0))
            }
            #expect(events[0] == events[1] && events[0].contains("\"write\""))
            server.child.send(SIGTERM)
            let result = try await server.end()
            #expect(result.status == .exited(0))
            traces.append((result.output, events[0], try folder.bytes("air.pcapng")))
        }
        #expect(traces[0] == traces[1])
    }

    @Test(arguments: [
        (
            ["serve", "--clock", "fast"],
            "--clock fast does not wait for clients, and serve has only clients: choose --clock manual"
        ),
        (["serve", "--clock", "manual", "--radio", "bluez"], "--clock manual is for --radio virtual"),
        (["run", RunTests.profile, "--clock", "manual"], "--clock manual needs --control"),
        (
            ["run", RunTests.profile, "--clock", "manual", "--control", "off"],
            "--clock manual needs --control"
        ),
        (["ctl", "advance", "soon"], "the time must be a duration such as 100 ms, not \"soon\""),
    ])
    func `a clock that cannot be is wrong usage`(arguments: [String], message: String) async throws {
        let result = try await Program(arguments).end()
        #expect(result.status == .exited(64))
        #expect(result.error.contains(message), "\(result.error)")
    }
}
