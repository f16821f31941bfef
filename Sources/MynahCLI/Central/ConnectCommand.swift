import ArgumentParser
import Mynah
import MynahConsole
import MynahCore
import MynahEmulator
import MynahRun
import MynahSupport

import Glibc

/// `mynah connect`.
struct ConnectCommand: StagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect",
        abstract: "Connects to a device as a phone would, and runs the commands you type.",
        discussion: """
            DEVICE is an address, a name, or an unambiguous prefix of either. The device's services are \
            printed, then a prompt reads commands: help lists them, and the Tab key completes them.

            Commands can also come from a pipe or from --command. The program exits with status 1 at the \
            first one that fails:

              mynah connect 'Mynah HRM' --command 'read body-sensor-location'
              mynah connect 'Mynah HRM' --format json --command 'subscribe 2A37' --command 'wait 10s'
            """)

    @Argument(help: "An address, a name, or a prefix of either.")
    var device: String

    @Option(
        name: .customLong("command"), parsing: .singleValue,
        help: ArgumentHelp(
            "A command to run, in place of the prompt. Repeatable; they run in order.", valueName: "command"))
    var commands: [String] = []

    @Option(
        help: "text (the default) or json (one object a line).",
        completion: Choice.completion(of: ScanFormat.self), transform: Choice.parse)
    var format: ScanFormat = .text

    @Option(
        help: ArgumentHelp(
            """
            Time limit for finding the device, for connecting, and for each answer until its services are \
            known. A later request has 30s.
            """,
            valueName: "duration"))
    var timeout: String = "10s"

    @Option(
        help: "Directory for bonds; no other user may write to it. Default: in memory only."
    )
    var stateDir: String?

    @Option(
        parsing: .unconditional,
        help: """
            The passkey that the device displays during pairing, if there is no prompt to ask for it: up \
            to six digits.
            """,
        transform: { try Choice.number($0, in: 0...999_999) })
    var passkey: UInt32?

    @Option(
        name: .customLong("service"),
        help: ArgumentHelp(
            "Discover only this service: a UUID or the SIG's name. Repeatable. Default: everything.",
            valueName: "service"))
    var services: [String] = []

    @Flag(help: "Do not print the device's services.")
    var quiet = false

    @OptionGroup var options: RadioOptions<PhoneSide>

    func play(in surroundings: Surroundings) async throws {
        let timeout = try CentralOptions.duration(timeout, "--timeout", of: Self.self)
        try checkUsage()
        var plan = ConnectPlan(device: device, timeout: timeout)
        plan.services = try services.map { try CentralOptions.service($0, of: Self.self) }
        plan.reportsServices = !quiet
        plan.passkey = passkey
        options.parent.follow(in: surroundings)
        surroundings.beginLogs(options.logLevel)
        let time = surroundings.time(.real)
        let made = try CentralOptions.radio(options, in: surroundings, time, of: Self.self)
        var making: RadioMaker.Options
        do throws(RadioError) {
            making = try made.get()
            making.stateDirectory = try stateDir.map { path throws(RadioError) in
                try StateDirectory(path: path, clock: time.clock)
            }
        } catch {
            throw failure(error, surroundings, time)
        }
        // No other process may write into the directory until this one has ended.
        defer { withExtendedLifetime(making.stateDirectory) {} }
        let signals = surroundings.hearSignals()
        let terminal = signals.flatMap { self.terminal($0) }
        let output = ConnectOutput(
            format: format, terminal: terminal, in: surroundings,
            making.stateDirectory?.writer ?? FileWriter(time.clock), time.clock)
        let radios = RadioMaker(making)
        let session = ConnectSession(
            plan, radios: radios,
            lines: ConnectInput(commands: commands, terminal: terminal, in: surroundings.texts),
            questions: terminal, observer: output, clock: time.clock, until: surroundings.interruption)
        let end = await session.play()
        if let failure = end.failure, format == .json {
            output.observe(.problem(failure.description), at: .now(time.clock))
        }
        output.end()
        terminal?.end()
        if let problem = output.problem { throw Exit.unwritable(problem) }
        if let failure = end.failure {
            if format == .json { throw Exit.problems }
            throw Exit.failure("\(failure)")
        }
        if end.isFailed { throw Exit.problems }
        try Exit.check(capture: radios.captureFailure, isSaid: true)
    }

    private func checkUsage() throws {
        if device.isEmpty {
            throw Exit.wrongUsage("DEVICE is empty: write an address or a name", of: Self.self)
        }
        if commands.isEmpty, options.parent.withPipe == 0 {
            throw Exit.wrongUsage(
                "--with-pipe 0: standard input has the commands; pass another descriptor, or use --command",
                of: Self.self)
        }
        for command in commands {
            do throws(ConnectRequest.Problem) {
                _ = try ConnectRequest.parse(command)
            } catch {
                throw Exit.wrongUsage("--command \"\(command)\": \(error.message)", of: Self.self)
            }
        }
    }

    /// Makes the line editor, or returns `nil` if no user types commands and reads the results on a terminal.
    private func terminal(_ signals: Signals) -> LineTerminal? {
        guard commands.isEmpty, format == .text, isatty(1) == 1 else { return nil }
        return Keyboard(for: Descriptor.isScreen ? .editedLines : .plainLines).map {
            LineTerminal($0, isPlain: !Descriptor.isScreen, signals: signals)
        }
    }

    /// Returns the error to throw if the command cannot start.
    ///
    /// If the output format is JSON, also prints an event with the reason to standard output.
    private func failure(
        _ error: RadioError, _ surroundings: Surroundings, _ time: RunTime
    ) -> any Error {
        guard format == .json else { return Exit.failure("\(error)") }
        if let event = ConnectEvent(.problem(error.description), at: .now(time.clock)) {
            surroundings.print(event.json.text)
        }
        return Exit.problems
    }
}
