import ArgumentParser
import Logging
import Mynah
import MynahConsole
import MynahCore
import MynahHost
import MynahSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// `mynah connect`.
struct ConnectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect",
        abstract: "Connects to a device, as a phone does, and asks it what is typed.",
        discussion: """
            The device is named by its address, by its name, or by how one of them begins where that is enough. What it has is \
            shown, and then a prompt takes commands: help tells them, the Tab key completes them.

            Into a pipe, or with --command, the commands come from there, and the first that fails ends it with 1:

              mynah connect 'Mynah HRM' --command 'read body-sensor-location'
              mynah connect 'Mynah HRM' --format json --command 'subscribe 2A37' --command 'wait 10s'
            """)

    @Argument(help: "An address, a name, or the beginning of one.")
    var device: String

    @Option(
        help: ArgumentHelp(
            "virtual (the default: the air of this user's processes) or hci:TRANSPORT.", valueName: "radio"),
        completion: RadioChoice.completion, transform: RadioChoice.parse)
    var radio: RadioChoice = .auto

    @Option(
        name: .customLong("command"), parsing: .singleValue,
        help: ArgumentHelp("What is asked, instead of a prompt. Repeatable, in order.", valueName: "command"))
    var commands: [String] = []

    @Option(
        help: "text (the default) or json (one object a line).",
        completion: Choice.completion(of: ScanFormat.self), transform: Choice.parse)
    var format: ScanFormat = .text

    @Option(
        help: ArgumentHelp(
            "How long the device is looked for, and waited for. Default: 10s.", valueName: "duration"))
    var timeout: String = "10s"

    @Option(
        help: "The directory that keeps the keys of pairings, for the next time. Default: they are forgotten."
    )
    var stateDir: String?

    @Option(help: "The number that the device shows while pairing, where no prompt can ask for it.")
    var passkey: UInt32?

    @Option(
        help: ArgumentHelp(
            "Records what crosses HCI, and on the virtual radio what is on the air, for Wireshark. The file contains the keys of pairings.",
            valueName: "file.pcapng"),
        completion: CaptureTarget.completion, transform: CaptureTarget.parse)
    var capture: CaptureTarget?

    @Option(
        help: "trace, debug, info, notice, warning (the default) or error; written to standard error.",
        completion: Choice.completion(of: LogLevel.self), transform: Choice.parse)
    var logLevel: LogLevel = .warning

    func run() async throws {
        let timeout = try CentralOptions.duration(timeout, "--timeout", of: Self.self)
        let maker = try CentralOptions.radios(
            radio, stateDirectory: stateDir, capture: capture, of: Self.self)
        if device.isEmpty {
            throw Exit.wrongUsage("the device has no name", of: Self.self)
        }
        if let passkey, passkey > 999_999 {
            throw Exit.wrongUsage("--passkey \(passkey) has more than six digits", of: Self.self)
        }
        for command in commands {
            do throws(ConnectRequest.Problem) {
                _ = try ConnectRequest.parse(command)
            } catch {
                throw Exit.wrongUsage("--command \"\(command)\": \(error.message)", of: Self.self)
            }
        }
        CentralOptions.log(logLevel)
        let interruption = Interruption()
        let radio: HostRadio
        // Held for as long as this runs: no other may write into it.
        let held: StateDirectory?
        do throws(RadioError) {
            held = try stateDir.map { path throws(RadioError) in try StateDirectory(path: path) }
            radio = try maker.host()
        } catch {
            StandardError.print("error: \(error)")
            throw Exit.problems
        }
        let terminal =
            commands.isEmpty && format == .text && isatty(1) == 1
            ? Keyboard(isForLines: true).map { LineTerminal($0, interruption: interruption) } : nil
        let input = ConnectInput(commands: commands, terminal: terminal)
        let sink = ConnectSink(terminal: terminal, passkey: passkey)
        let output = ConnectOutput(format: format, terminal: terminal, interruption: interruption)
        sink.tells(output)
        let manager = CentralManager(radio: radio, identity: identity(terminal != nil), sink: sink)
        let isFailed = Lock(false)
        let failure = await CentralOptions.play(
            manager, until: interruption,
            ending: {
                sink.tells(nil)
                input.end()
            },
            { () throws(RadioError) in
                let peripheral = try await find(manager, sink, timeout, interruption)
                guard let peripheral else { return }
                let session = ConnectSession(
                    manager: manager, peripheral: peripheral, sink: sink, output: output, timeout: timeout)
                let isGood = await Self.talk(session, input, terminal, sink)
                await session.settle()
                isFailed.withLock { $0 = !isGood && !interruption.isInterrupted }
                interruption.interrupt()
            })
        withExtendedLifetime(held) {}
        maker.end()
        output.end()
        terminal?.end()
        if let problem = output.problem {
            StandardError.print("error: nothing can be written to standard output: \(problem)")
            throw Exit.problems
        }
        if let failure {
            StandardError.print("error: \(failure)")
            throw Exit.problems
        }
        if isFailed.withLock({ $0 }) { throw Exit.problems }
    }

    /// With a prompt, numbers can be shown and typed.
    private func identity(_ hasPrompt: Bool) -> DeviceIdentity {
        DeviceIdentity(
            name: "Mynah",
            ioCapability: hasPrompt ? .keyboardDisplay : passkey != nil ? .keyboardOnly : .noInputNoOutput)
    }

    /// Connects and carries out the lines; false: something failed that ends it.
    private static func talk(
        _ session: ConnectSession, _ input: ConnectInput, _ terminal: LineTerminal?, _ sink: ConnectSink
    ) async -> Bool {
        do throws(RequestError) {
            try await session.open()
        } catch {
            session.output.tell(ConnectSession.event(of: error))
            return false
        }
        if let terminal {
            let name = await session.peripheral.name ?? session.peripheral.address.description
            terminal.begin(prompt: name) { ConnectSession.complete($0, sink.services) }
        }
        for await line in input.lines {
            switch await session.perform(line) {
            case .done: continue
            case .failed:
                guard let terminal else { return false }
                terminal.withdrawQuestion()
            case .quit: return true
            }
        }
        return true
    }

    /// How long another device may take to be heard that has the same name.
    private static let settling = Duration.seconds(1)

    private enum Step {
        case heard(Discovery)
        case settled
        case overdue
    }

    /// Listens until the device is heard; nil: interrupted.
    private func find(
        _ manager: CentralManager, _ sink: ConnectSink, _ timeout: Duration?, _ interruption: Interruption
    ) async throws(RadioError) -> Peripheral? {
        let (steps, continuation) = AsyncStream<Step>.makeStream(bufferingPolicy: .bufferingOldest(4096))
        sink.onDiscovery { continuation.yield(.heard($0)) }
        defer { sink.onDiscovery(nil) }
        let overdue = timer(timeout ?? .seconds(10)) { continuation.yield(.overdue) }
        defer { overdue.cancel() }
        try await manager.scanForPeripherals()
        var search = DeviceSearch(device)
        var isSettling = false
        for await step in steps {
            switch (step, search.outcome) {
            case (.heard(let discovery), _):
                search.take(discovery)
                switch search.outcome {
                case .nothing: continue
                case .certain(let peripheral): return await found(peripheral, manager)
                case .likely, .several:
                    guard !isSettling else { continue }
                    isSettling = true
                    _ = timer(Self.settling) { continuation.yield(.settled) }
                }
            case (_, .likely(let peripheral)), (_, .certain(let peripheral)):
                return await found(peripheral, manager)
            case (_, .several(let devices)):
                throw RadioError(
                    .unreachable,
                    "\(devices.count) devices are called \"\(PrintableText.of(device))\": \(devices.joined(separator: ", "))",
                    remedy: "name one by its address")
            case (_, .nothing):
                let heard = DeviceSearch.list(search.heard).prefix(8)
                throw RadioError(
                    .unreachable, "no device \"\(PrintableText.of(device))\" was heard",
                    remedy: heard.isEmpty
                        ? "nor any other: is it advertised, and on this radio?"
                        : "these were: \(heard.joined(separator: ", "))")
            }
        }
        return nil
    }

    private func found(_ peripheral: Peripheral, _ manager: CentralManager) async -> Peripheral {
        await manager.stopScan()
        return peripheral
    }

    private func timer(_ duration: Duration, _ work: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        Task {
            // A time that the user gave; cancelled when it is not needed any more.
            guard (try? await Task.sleep(for: duration)) != nil else { return }
            work()
        }
    }
}
