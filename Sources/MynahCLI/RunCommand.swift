import ArgumentParser
import Logging
import Mynah
import MynahBlueZ
import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// How events are told.
enum EventFormat: String, CaseIterable {
    case text
    case json
    case off
}

/// How much is logged.
enum LogLevel: String, CaseIterable {
    case trace, debug, info, notice, warning, error

    var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .warning }
}

/// `mynah run`.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Plays profiles until it is interrupted.",
        discussion: """
            Ctrl-C or SIGTERM withdraws everything, puts the adapter back as it was found and ends with 0. On a terminal \
            a screen shows what happens; into a pipe one line an event is written, or with --events json one object.

            A profile with app: is played as iOS plays an app. Several of them are apps of one phone. On a terminal the keys \
            f, b and s bring it to the foreground, to the background and suspend it, t ends it as the system does, and q as \
            its user does. What it preserves is kept in --state-dir: SIGTERM keeps it, Ctrl-C forgets it.
            """)

    @Argument(
        help: "The profile files. Each accessory needs an adapter of its own; apps share one.",
        completion: .file(extensions: ["yaml", "yml", "json"]))
    var profiles: [String]

    @Option(
        help: "auto or bluez; auto, the default, takes BlueZ and says so.",
        completion: Choice.completion(of: RunRadio.self),
        transform: Choice.parse)
    var radio: RunRadio = .auto

    @Option(help: "hci0 or AA:BB:CC:DD:EE:FF; once for each radio, in order. Default: the first.")
    var adapter: [String] = []

    @Option(
        help: "The state an app starts in: foreground, background or suspended. Default: the profile's.",
        completion: Choice.completion(of: StartState.self), transform: Choice.parse)
    var state: StartState?

    @Option(
        name: .customLong("at"), parsing: .singleValue,
        help: ArgumentHelp(
            "What happens to the apps after a time: foreground, background, suspended, terminated, quit, memoryPressure or crash. Repeatable.",
            valueName: "10s=background"))
    var planned: [String] = []

    @Option(help: "The directory that keeps what apps preserve. Default: they preserve it while this runs.")
    var stateDir: String?

    @Option(
        help:
            "text (the default: a screen on a terminal, lines into a pipe), json (one object a line) or off.",
        completion: Choice.completion(of: EventFormat.self), transform: Choice.parse)
    var events: EventFormat = .text

    @Option(help: "Makes the generators repeat themselves. Default: another each time.")
    var seed: UInt64?

    @Option(
        help: "Notifications handed to bluetoothd in a second, which queues them without limit; 0: no limit.")
    var notificationRate: Int = 2000

    @Option(
        help: "trace, debug, info, notice, warning (the default) or error; written to standard error.",
        completion: Choice.completion(of: LogLevel.self), transform: Choice.parse)
    var logLevel: LogLevel = .warning

    // Not by `validate()`, which speaks before an unknown option is told: what stands behind one looks like a profile.
    private func checkUsage() throws -> [PlannedTransition] {
        if notificationRate < 0 {
            throw Exit.wrongUsage("--notification-rate cannot be negative", of: Self.self)
        }
        if Set(adapter.map { $0.uppercased() }).count < adapter.count {
            throw Exit.wrongUsage(
                "an adapter is named twice, and each radio needs one of its own", of: Self.self)
        }
        return try planned.map { text in
            switch PlannedTransition.parse(text) {
            case .success(let planned): return planned
            case .failure(let problem): throw Exit.wrongUsage(problem.message, of: Self.self)
            }
        }
    }

    /// What is wrong with the options for these profiles; nil: nothing.
    private func misuse(of groups: [[Profile]]) -> String? {
        if groups.count > 1, adapter.count != groups.count {
            return
                "these profiles need \(groups.count) radios, one for each accessory and one for all apps: give --adapter \(groups.count) times, in their order"
        }
        if adapter.count > groups.count {
            return
                "--adapter is given \(adapter.count) times for \(groups.count) radio\(groups.count == 1 ? "" : "s")"
        }
        guard !groups.contains(where: { $0[0].app != nil }) else { return nil }
        let options = [
            ("--state", state != nil), ("--at", !planned.isEmpty), ("--state-dir", stateDir != nil),
        ]
        return options.first { $0.1 }.map {
            "\($0.0) is about an app's life, and no profile here has an app: section"
        }
    }

    func run() async throws {
        let planned = try checkUsage()
        let interruption = Interruption()
        let profiles = try ProfileLoading.load(profiles)
        let groups = RunGroups(profiles)
        if let misuse = misuse(of: groups.groups) { throw Exit.wrongUsage(misuse, of: Self.self) }
        for issue in groups.issues { StandardError.print(issue.description) }
        guard groups.issues.isEmpty else { throw Exit.problems }
        let level = logLevel.level
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        let stateDirectory: StateDirectory?
        do throws(RadioError) {
            stateDirectory = try stateDir.map { path throws(RadioError) in try StateDirectory(path: path) }
        } catch {
            StandardError.print("error: \(error)")
            throw Exit.problems
        }
        let seed = seed ?? UInt64.random(in: 0...UInt64.max)
        let output = RunOutput(format: events, profiles: profiles, radio: radio, interruption: interruption)
        let runs = groups.groups.enumerated().map { index, group in
            let devices = group.map { profile in
                var device = EmulatedDevice(profile, seed: seed)
                if let state { device.app?.startState = state.transition }
                return device
            }
            let emulator = Emulator(
                devices, on: makeRadio(index), clock: ContinuousClock(),
                stateDirectory: group[0].app != nil ? stateDirectory : nil,
                observer: output.observer(
                    of: group.map(\.name).joined(separator: ", "), isAlone: groups.groups.count == 1))
            return Run(emulator: emulator, profiles: group)
        }
        let failure = await Self.play(runs, planned, output, interruption)
        let forgetting = interruption.cause == SIGINT
        for run in runs.reversed() { await run.emulator.stop(forgetting: forgetting) }
        output.end()
        if let problem = output.problem {
            StandardError.print("error: events cannot be written to standard output: \(problem)")
            throw Exit.problems
        }
        if let failure {
            StandardError.print("error: \(failure)")
            if radio == .auto, failure.code == .noAdapter || failure.code == .unreachable {
                StandardError.print(
                    "hint: without an adapter `make lab` plays the profile in a virtual machine that has one")
            }
            throw Exit.problems
        }
    }

    /// One radio, and what is played on it.
    private struct Run {
        var emulator: Emulator<ContinuousClock>
        var profiles: [Profile]
    }

    /// Starts one after the other and waits to be interrupted; the first failure ends it.
    private static func play(
        _ runs: [Run], _ planned: [PlannedTransition], _ output: RunOutput, _ interruption: Interruption
    ) async -> RadioError? {
        // Interrupted while it starts: what has begun is withdrawn, which makes the start fail.
        let starting = Task<RadioError?, Never> {
            for run in runs {
                let profiles = run.profiles
                do throws(RadioError) {
                    try await run.emulator.start { capabilities throws(RadioError) in
                        try check(profiles, capabilities)
                    }
                    output.attach(run.emulator)
                    guard run.emulator.playsApps else { continue }
                    for each in planned { await run.emulator.plan(each.transition, after: each.delay) }
                } catch {
                    return error
                }
            }
            return nil
        }
        let stopping = Task {
            await interruption.wait()
            let forgetting = interruption.cause == SIGINT
            for run in runs.reversed() { await run.emulator.stop(forgetting: forgetting) }
        }
        let failure = await starting.value
        let wasInterrupted = interruption.isInterrupted
        if failure != nil { interruption.interrupt() }
        await stopping.value
        return wasInterrupted ? nil : failure
    }

    /// Before anything is registered: what this radio would play otherwise than it is written.
    private static func check(_ profiles: [Profile], _ capabilities: RadioCapabilities) throws(RadioError) {
        for profile in profiles {
            let issues = profile.issues(with: capabilities, isChosen: true)
            for issue in issues { StandardError.print(issue.description) }
            guard !issues.contains(where: { $0.severity == .error }) else {
                throw RadioError(.unsupported, "\(capabilities.name) cannot play \(profile.file) as it is")
            }
        }
    }

    private func makeRadio(_ index: Int) -> BlueZRadio {
        var options = BlueZRadio.Options()
        if adapter.indices.contains(index) { options.adapter = adapter[index] }
        options.notificationRate = notificationRate == 0 ? nil : notificationRate
        return BlueZRadio(options: options)
    }
}
