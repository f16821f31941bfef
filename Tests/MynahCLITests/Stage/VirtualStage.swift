import MynahRun
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahCLI

/// Commands of `mynah` on one air and in one virtual time, played in the test.
///
/// No time passes while something is left to do, the test included: what it does between two waits happens
/// at one instant, and each play is the same.
struct VirtualStage: Sendable {
    /// The time after which nothing that is awaited comes any more.
    private static let end = Duration.seconds(3600)

    let time: RunTime
    private let commands = Lock<[PlayedCommand]>([])
    private let interrupted = Lock(false)

    /// Whether a command still played when nothing that is awaited comes any more.
    var isInterrupted: Bool { interrupted.withLock { $0 } }

    /// Plays `body` on a stage of its own; what it leaves playing ends with it.
    static func play<Value: Sendable>(
        seed: UInt64 = 1, _ body: (VirtualStage) async throws -> Value
    ) async throws -> Value {
        let time = RunTime(.fast, seed: seed)
        defer { time.end() }
        return try await withTaskExecutorPreference(time.clock.taskExecutor) {
            let stage = VirtualStage(time: time)
            time.clock.after(end) { stage.interrupt() }
            do {
                let value = try await body(stage)
                await stage.endAll()
                return value
            } catch {
                await stage.endAll()
                throw error
            }
        }
    }

    private func interrupt() {
        interrupted.withLock { $0 = true }
        for command in commands.withLock({ $0 }) { command.terminate() }
    }

    private func endAll() async {
        for command in commands.withLock({ $0 }).reversed() where !command.hasEnded {
            command.terminate()
            let end = await command.end()
            #expect(end.status == .exited(0), "\(end.error)")
        }
    }

    /// Begins to play a command, by the words after `mynah`.
    func start(_ words: [String]) -> PlayedCommand {
        let command = PlayedCommand(words, time)
        commands.withLock { $0.append(command) }
        return command
    }

    /// Plays a command to its end.
    func play(_ words: [String]) async -> Program.Result { await start(words).end() }

    /// Begins a run of devices on the virtual radio, and returns when so many radios are ready.
    func run(_ words: [String], radios: Int = 1) async throws -> PlayedCommand {
        let command = start(["run", "--events", "json", "--radio", "virtual"] + words)
        let isReady = try await command.output.has(radios, linesContaining: "\"event\":\"ready\"")
        try #require(isReady, "\(command.error.text)")
        return command
    }

    /// Begins to play devices, each alone in a run of its own, and returns when they are ready.
    func devices(
        _ profiles: [String] = [AirStage.heartRate], _ options: [String] = []
    ) async throws -> [PlayedCommand] {
        var devices: [PlayedCommand] = []
        for profile in profiles { devices.append(try await run(options + [profile])) }
        return devices
    }

    /// Begins to play a phone on the virtual radio: `scan`, `connect` or `record`.
    func start(phone words: [String]) -> PlayedCommand { start(words + ["--radio", "virtual"]) }

    /// Plays a phone on the virtual radio to its end.
    func phone(_ words: [String]) async -> Program.Result { await start(phone: words).end() }

    /// Ends commands as Ctrl-C does.
    func quit(_ commands: [PlayedCommand]) async {
        for command in commands {
            command.quit()
            #expect(await command.end().status == .exited(0))
        }
    }

    /// Lets time pass.
    func pause(_ duration: Duration) async { try? await time.clock.sleep(for: duration) }

    /// Plays a command alone on a stage of its own.
    static func play(_ words: [String]) async throws -> Program.Result {
        try await play { await $0.play(words) }
    }

    /// Plays a command alone on a stage of its own.
    static func play(_ words: String...) async throws -> Program.Result { try await play(words) }

    /// Plays a run alone on the virtual radio until events came in this order, with any others between them.
    static func run(_ words: [String], toSee names: [String]) async throws -> Program.Result {
        try await play { stage in
            let command = stage.start(["run", "--events", "json", "--radio", "virtual"] + words)
            let hasThem = try await command.output.has(names)
            #expect(hasThem, "\(names) did not come")
            command.terminate()
            return await command.end()
        }
    }

    /// Plays one run alone on the virtual radio, for at most ten minutes.
    static func run(_ words: [String]) async throws -> Program.Result {
        try await play(["run", "--radio", "virtual", "--timeout", "10 min"] + words)
    }
}

/// A command that plays on a stage.
final class PlayedCommand: Sendable {
    let output = PlayedOutput()
    let error = PlayedOutput()
    /// Both, in the order in which they are printed.
    let terminal = PlayedOutput()
    /// Takes what is typed or piped into it.
    let input = LineFeed()
    private let surroundings: Surroundings
    private let playing: Task<Int32, Never>

    fileprivate init(_ words: [String], _ time: RunTime) {
        let surroundings = Surroundings.stage(
            time,
            Surroundings.Texts(
                output: { [output, terminal] text in for each in [output, terminal] { each.add(text) } },
                error: { [error, terminal] text in for each in [error, terminal] { each.add(text + "\n") } },
                input: input))
        self.surroundings = surroundings
        playing = Task(executorPreference: time.clock.taskExecutor) { [output, error, terminal] in
            let end = await MynahCommand.play(words, in: surroundings)
            if !end.text.isEmpty {
                for each in [end.status == 0 ? output : error, terminal] { each.add(end.text + "\n") }
            }
            for each in [output, error, terminal] { each.finish() }
            return end.status
        }
    }

    /// The address that its first device is ready at.
    func address() throws -> String {
        let ready = try #require(output.lines.first { $0.contains("\"event\":\"ready\"") })
        return try #require(try json(ready)["address"] as? String)
    }

    /// Whether it has ended.
    var hasEnded: Bool { output.hasEnded }

    /// Ends it as Ctrl-C does.
    func quit() { surroundings.interruption.interrupt(by: .quit) }

    /// Ends it as SIGTERM does.
    func terminate() { surroundings.interruption.interrupt(by: .terminated) }

    /// Types a line.
    func type(_ line: String) { input.add(Array((line + "\n").utf8)) }

    /// Waits for its end.
    func end() async -> Program.Result {
        let status = await playing.value
        return Program.Result(status: .exited(status), output: output.text, error: error.text)
    }
}
