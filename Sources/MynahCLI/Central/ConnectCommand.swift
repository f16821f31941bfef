import ArgumentParser
import Mynah
import MynahConsole
import MynahCore
import MynahHost
import MynahProfiles
import MynahRun
import MynahSupport

import Glibc

/// `mynah connect`.
struct ConnectCommand: AsyncParsableCommand {
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
            "Time limit for finding the device, and separately for connecting.",
            valueName: "duration"))
    var timeout: String = "10s"

    @Option(
        help: "Directory for bonds; no other user may write to it. Default: in memory only."
    )
    var stateDir: String?

    @Option(
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

    func run() async throws {
        let timeout = try CentralOptions.duration(timeout, "--timeout", of: Self.self)
        try checkUsage()
        let scope = DiscoveryScope(
            services: try services.map { try CentralOptions.service($0, of: Self.self) }, isPrinted: !quiet)
        Logs.begin(options.logLevel)
        var making = try CentralOptions.radio(options, of: Self.self, failing: printFailure)
        do throws(RadioError) {
            making.stateDirectory = try stateDir.map { path throws(RadioError) in
                try StateDirectory(path: path)
            }
        } catch {
            printFailure(error)
            throw Exit.problems
        }
        // No other process may write into it until this one has ended.
        defer { withExtendedLifetime(making.stateDirectory) {} }
        let maker = RadioMaker(making)
        let signals = Signals()
        let interruption = signals.interruption
        let terminal = terminal(signals)
        let input = ConnectInput(commands: commands, terminal: terminal)
        let sink = ConnectSink(questions: terminal, passkey: passkey)
        let output = ConnectOutput(
            format: format, terminal: terminal, signals: signals,
            making.stateDirectory?.writer ?? FileWriter())
        sink.tells(output)
        let isFailed = Lock(false)
        var failure: RadioError?
        do throws(RadioError) {
            let radio = try maker.host()
            output.say(Self.announcement(device, timeout ?? DeviceFinder.patience, radio.name))
            let manager = CentralManager(
                radio: radio, identity: CentralOptions.identity(asks: terminal != nil, passkey), sink: sink)
            failure = await RadioWork.play(
                until: interruption, clock: .real,
                interrupted: {
                    sink.tells(nil)
                    input.end()
                }, stop: { await manager.stop() },
                { () throws(RadioError) in
                    try await manager.start()
                    let peripheral = try await DeviceFinder(
                        device: device, timeout: timeout ?? DeviceFinder.patience
                    )
                    .find(manager) { sink.onDiscovery($0) }
                    guard let peripheral else { return }
                    let session = ConnectSession(
                        manager: manager, peripheral: peripheral, sink: sink, output: output,
                        timeout: timeout, scope: scope,
                        entersPasskey: terminal != nil || passkey != nil,
                        isEnding: { interruption.isInterrupted })
                    let isGood = await Self.talk(session, input, terminal, sink)
                    await session.settle()
                    isFailed.withLock { $0 = !isGood && !interruption.isInterrupted }
                    interruption.interrupt()
                })
        } catch {
            failure = error
        }
        maker.end()
        if let failure, format == .json { output.tell(.failed(failure.description)) }
        output.end()
        terminal?.end()
        if let problem = output.problem { throw Exit.unwritable(problem) }
        if let failure {
            if format != .json { StandardError.print("error: \(failure)") }
            throw Exit.problems
        }
        if isFailed.withLock({ $0 }) { throw Exit.problems }
    }

    private func checkUsage() throws {
        if device.isEmpty {
            throw Exit.wrongUsage("DEVICE is empty: write an address or a name", of: Self.self)
        }
        for command in commands {
            do throws(ConnectRequest.Problem) {
                _ = try ConnectRequest.parse(command)
            } catch {
                throw Exit.wrongUsage("--command \"\(command)\": \(error.message)", of: Self.self)
            }
        }
    }

    /// The line editor of a user who types commands and reads the results, or `nil` if there is none.
    private func terminal(_ signals: Signals) -> LineTerminal? {
        guard commands.isEmpty, format == .text, isatty(1) == 1 else { return nil }
        return Keyboard(for: Descriptor.isScreen ? .editedLines : .plainLines).map {
            LineTerminal($0, isPlain: !Descriptor.isScreen, signals: signals)
        }
    }

    /// Prints why it cannot start, in the format of its results.
    private func printFailure(_ error: RadioError) {
        guard format == .json else { return StandardError.print("error: \(error)") }
        Descriptor.write(Array((ConnectEvent.failed(error.description).json.text + "\n").utf8), to: 1)
    }

    /// Printed before the radio starts, because it may take a while until a device is heard.
    private static func announcement(_ device: String, _ timeout: Duration, _ radio: String) -> String {
        let device = PrintableText.of(device)
        return "looking for \"\(device)\" for up to \(timeout.text) (\(radio))"
    }

    /// Connects and carries out the lines; `false` if a failure ended it.
    private static func talk(
        _ session: ConnectSession, _ input: ConnectInput, _ terminal: LineTerminal?, _ sink: ConnectSink
    ) async -> Bool {
        do throws(RequestError) {
            try await session.open()
        } catch {
            if !session.isEnding() { session.output.tell(.failed(error)) }
            return false
        }
        if let terminal {
            let name = await session.peripheral.name ?? session.peripheral.address.description
            // A plain terminal edits its lines itself, and completes none.
            terminal.print("help lists commands" + (Descriptor.isScreen ? ", Tab completes them" : ""))
            terminal.begin(prompt: name) { ConnectRequest.completions(of: $0, in: sink.services) }
        }
        do throws(ConnectRequest.Problem) {
            while let line = try await input.next(), !session.isEnding() {
                switch await session.perform(line) {
                case .done: continue
                case .failed:
                    guard let terminal else { return false }
                    terminal.withdrawQuestion()
                case .quit: return true
                }
            }
            return true
        } catch {
            session.output.tell(.failed(error.message))
            return false
        }
    }
}
