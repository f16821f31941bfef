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
            """)

    @Argument(
        help: "The profile files. Each accessory needs an adapter of its own.",
        completion: .file(extensions: ["yaml", "yml", "json"]))
    var profiles: [String]

    @Option(
        help: "auto or bluez; auto, the default, takes BlueZ and says so.",
        completion: Choice.completion(of: RunRadio.self),
        transform: Choice.parse)
    var radio: RunRadio = .auto

    @Option(help: "hci0 or AA:BB:CC:DD:EE:FF; once for each profile, in order. Default: the first.")
    var adapter: [String] = []

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
    private var misuse: String? {
        if notificationRate < 0 { return "--notification-rate cannot be negative" }
        if profiles.count > 1, adapter.count != profiles.count {
            return
                "\(profiles.count) accessories need a radio each: give --adapter \(profiles.count) times, in their order"
        }
        if adapter.count > profiles.count {
            return "--adapter is given \(adapter.count) times for \(profiles.count) profile(s)"
        }
        if Set(adapter.map { $0.uppercased() }).count < adapter.count {
            return "an adapter is named twice, and each accessory needs one of its own"
        }
        return nil
    }

    func run() async throws {
        if let misuse { throw Exit.wrongUsage(misuse, of: Self.self) }
        let interruption = Interruption()
        let profiles = try ProfileLoading.load(profiles)
        for profile in profiles where profile.app != nil {
            let message = "app: is read and not acted on yet; the device is played as an accessory is"
            StandardError.print(profile.issue(.warning, at: nil, message).description)
        }
        let level = logLevel.level
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        let seed = seed ?? UInt64.random(in: 0...UInt64.max)
        let output = RunOutput(format: events, profiles: profiles, radio: radio, interruption: interruption)
        var emulators: [Emulator<ContinuousClock>] = []
        for (index, profile) in profiles.enumerated() {
            let device = EmulatedDevice(profile, seed: seed)
            let emulator = Emulator(
                device, on: makeRadio(index), clock: ContinuousClock(),
                observer: output.observer(of: profile, among: profiles))
            emulators.append(emulator)
        }
        let failure = await Self.play(emulators, profiles, output, interruption)
        for emulator in emulators.reversed() { await emulator.stop() }
        output.end()
        if let failure {
            StandardError.print("error: \(failure)")
            if radio == .auto, failure.code == .noAdapter || failure.code == .unreachable {
                StandardError.print(
                    "hint: without an adapter `make lab` plays the profile in a virtual machine that has one")
            }
            throw Exit.problems
        }
    }

    /// Starts one after the other and waits to be interrupted; the first failure ends it.
    private static func play(
        _ emulators: [Emulator<ContinuousClock>], _ profiles: [Profile], _ output: RunOutput,
        _ interruption: Interruption
    ) async -> RadioError? {
        // Interrupted while it starts: what has begun is withdrawn, which makes the start fail.
        let starting = Task<RadioError?, Never> {
            for (emulator, profile) in zip(emulators, profiles) {
                do throws(RadioError) {
                    try await emulator.start { capabilities throws(RadioError) in
                        let issues = profile.issues(with: capabilities, isChosen: true)
                        for issue in issues { StandardError.print(issue.description) }
                        guard !issues.contains(where: { $0.severity == .error }) else {
                            throw RadioError(
                                .unsupported, "\(capabilities.name) cannot play \(profile.file) as it is")
                        }
                    }
                    output.attach(emulator)
                } catch {
                    return error
                }
            }
            return nil
        }
        let stopping = Task {
            await interruption.wait()
            for emulator in emulators.reversed() { await emulator.stop() }
        }
        let failure = await starting.value
        let wasInterrupted = interruption.isInterrupted
        if failure != nil { interruption.interrupt() }
        await stopping.value
        return wasInterrupted ? nil : failure
    }

    private func makeRadio(_ index: Int) -> BlueZRadio {
        var options = BlueZRadio.Options()
        if adapter.indices.contains(index) { options.adapter = adapter[index] }
        options.notificationRate = notificationRate == 0 ? nil : notificationRate
        return BlueZRadio(options: options)
    }
}
