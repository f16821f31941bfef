import ArgumentParser
import Mynah
import MynahConsole
import MynahCore
import MynahHost
import MynahImport
import MynahRun
import MynahSupport

/// `mynah record`.
struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Connects to a device and makes a profile of it.",
        discussion: """
            mynah record 'Mynah HRM' --timeout 30s --output strap

            DEVICE is an address, a name, or an unambiguous prefix of either. Its adverts are heard for up \
            to 5 s, or 8 s if they come slowly. Then every attribute is discovered, every value read, and \
            every characteristic subscribed to, until the time is over or Ctrl-C. The profile is like one \
            of mynah import.

            If the device asks for pairing, record pairs with it. If the link ends, the profile has what was \
            seen until then.

            Exits with status 0, or with 1 if the device was not found or its values were not all read.
            """)

    @Argument(help: "An address, a name, or a prefix of either.")
    var device: String

    @Option(
        help: ArgumentHelp(
            "How long to record the values that the device sends. Default: until Ctrl-C.",
            valueName: "duration"))
    var timeout: String?

    @Option(
        help: """
            A folder for NAME.yaml and, if the device sent values, NAME.jsonl with the values and their \
            times. A name that is taken gets a number, as in NAME-2.yaml. Default: the profile goes to \
            standard output, without times.
            """, completion: .directory)
    var output: String?

    @Option(help: "Directory for bonds; no other user may write to it. Default: in memory only.")
    var stateDir: String?

    @Option(
        help: """
            The passkey that the device displays during pairing: up to six digits. Without it, a terminal \
            asks for it.
            """,
        transform: { try Choice.number($0, in: 0...999_999) })
    var passkey: UInt32?

    @OptionGroup var options: RadioOptions<PhoneSide>

    /// How many adverts and scan responses to hear, so that the interval is known.
    private static let reports = 40

    func run() async throws {
        let timeout = try CentralOptions.duration(timeout, "--timeout", of: Self.self)
        if device.isEmpty {
            throw Exit.wrongUsage("DEVICE is empty: write an address or a name", of: Self.self)
        }
        Logs.begin(options.logLevel)
        var making = try CentralOptions.radio(options, of: Self.self)
        let destination = ImportOutput(folder: output, subject: device, numbersNames: true)
        // A recording that cannot be written would be lost at its end.
        do throws(ImportProblem) {
            try destination.prepare()
        } catch {
            destination.fail(error.description)
            throw Exit.problems
        }
        do throws(RadioError) {
            making.stateDirectory = try stateDir.map { path throws(RadioError) in
                try StateDirectory(path: path)
            }
        } catch {
            destination.fail(error.description)
            throw Exit.problems
        }
        // No other process may write into it until this one has ended.
        defer { withExtendedLifetime(making.stateDirectory) {} }
        let capture = LiveCapture { destination.warn($0) }
        making.tap = { capture.transport($0) }
        let maker = RadioMaker(making)
        let signals = Signals()
        let interruption = signals.interruption
        let questions = PlainQuestions(signals)
        let sink = ConnectSink(questions: questions, passkey: passkey)
        let recorded = Lock<RecordSession?>(nil)
        var failure: RadioError?
        do throws(RadioError) {
            let radio = try maker.host()
            StandardError.print("looking for \"\(PrintableText.of(device))\" (\(radio.name))")
            var options = CentralManager.Options()
            options.pairsWhenAsked = false
            let identity = CentralOptions.identity(asks: questions != nil, passkey)
            let manager = CentralManager(radio: radio, identity: identity, options: options, sink: sink)
            failure = await RadioWork.play(
                until: interruption, clock: .real, stop: { await manager.stop() }
            ) { () throws(RadioError) in
                try await manager.start()
                let finder = DeviceFinder(
                    device: device, timeout: DeviceFinder.patience, reports: Self.reports)
                guard let peripheral = try await finder.find(manager, { sink.onDiscovery($0) }) else {
                    return
                }
                let session = RecordSession(manager: manager, peripheral: peripheral) {
                    StandardError.print($0)
                }
                recorded.withLock { $0 = session }
                try await Self.record(session, sink, timeout)
                interruption.interrupt()
            }
        } catch {
            failure = error
        }
        maker.end()
        try write(
            capture, recorded.withLock { $0 }, failure,
            hint: passkey == nil && questions == nil ? "; \(CentralOptions.passkeyHint)" : "", to: destination
        )
    }

    /// Asks for everything, and listens until the time is over or the link ends.
    private static func record(
        _ session: RecordSession, _ sink: ConnectSink, _ timeout: Duration?
    ) async throws(RadioError) {
        let (ends, continuation) = AsyncStream<Never>.makeStream()
        sink.onEvent { event in
            switch event {
            case .disconnected: continuation.finish()
            case .lost(let error):
                StandardError.print("error: \(error)")
                continuation.finish()
            case .warning(let warning): CentralOptions.print(warning)
            case .pairing(_, .display(let number)):
                StandardError.print(ConnectEvent.passkey("display", number).text())
            case .pairing(_, .compare(let number)):
                StandardError.print(ConnectEvent.passkey("compare", number).text())
            default: break
            }
        }
        defer { sink.onEvent(nil) }
        do throws(RequestError) {
            try await session.ask()
        } catch {
            throw error.asRadioError
        }
        guard !Task.isCancelled, await session.peripheral.isConnected else {
            return await Self.warnOfEnd(session)
        }
        let length = timeout.map { "for \($0.text)" } ?? "until Ctrl-C"
        StandardError.print("recording the values that it sends \(length)")
        let overdue = timeout.map { DeviceFinder.timer($0) { continuation.finish() } }
        defer { overdue?.cancel() }
        for await _ in ends {}
        await Self.warnOfEnd(session)
    }

    private static func warnOfEnd(_ session: RecordSession) async {
        if !Task.isCancelled, await !session.peripheral.isConnected {
            StandardError.print("warning: the device has ended the connection")
        }
    }

    /// The way to pair again with a device that no longer has the bond in `--state-dir`.
    private func bondHint(_ address: DeviceAddress) -> String {
        guard let directory = stateDir.map(ShellWord.quoted) else { return "" }
        return "; if the device no longer has the bond, delete it here too: "
            + "mynah connect \(address) --state-dir \(directory) --command forget"
    }

    /// Writes what was seen, and says what is missing.
    private func write(
        _ capture: LiveCapture, _ session: RecordSession?, _ failure: RadioError?, hint: String,
        to destination: ImportOutput
    ) throws {
        guard let session else {
            if let failure {
                destination.fail(failure.description)
                throw Exit.problems
            }
            StandardError.print("no profile is written: nothing was asked of the device yet")
            throw Exit.problems
        }
        let address = session.peripheral.address
        do throws(ImportProblem) {
            try destination.write(capture.profile(of: address, recordingFile: destination.recordingFile))
        } catch {
            destination.fail(error.description)
            // The folder may be gone or full by now. Without a file there are no times.
            if output != nil, let result = try? capture.profile(of: address) {
                StandardOutput.print(result.profile, terminator: "")
            }
            throw Exit.problems
        }
        let missing: String
        switch session.progress {
        case .listening: return
        case .began: missing = "its attributes were not all discovered"
        case .asking(let rest):
            let reads = rest.reads == 1 ? "1 value was" : "\(rest.reads) values were"
            let subscriptions =
                rest.subscriptions == 1 ? "1 characteristic" : "\(rest.subscriptions) characteristics"
            missing = "\(reads) not read, and \(subscriptions) not subscribed to"
            if rest.needSecurity {
                let reason =
                    rest.isPairingFailed
                    ? "the pairing failed\(bondHint(address))"
                    : "they need a pairing with more security\(hint)"
                destination.fail("\(missing), because \(reason)")
                throw Exit.problems
            }
        }
        let reason = failure.map { "\($0); " } ?? ""
        destination.fail("\(reason)the profile has what was seen until then: \(missing)")
        throw Exit.problems
    }
}

extension RequestError {
    /// The error of a radio, for what ends a command.
    fileprivate var asRadioError: RadioError {
        switch self {
        case .failed(let error): error
        case .refused: RadioError(.protocolViolation, description)
        }
    }
}
