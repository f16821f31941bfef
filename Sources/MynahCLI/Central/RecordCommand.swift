import ArgumentParser
import Mynah
import MynahConsole
import MynahCore
import MynahEmulator
import MynahImport
import MynahRun
import MynahSupport

/// `mynah record`.
struct RecordCommand: StagedCommand {
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
        parsing: .unconditional,
        help: """
            The passkey that the device displays during pairing: up to six digits. Without it, a terminal \
            asks for it.
            """,
        transform: { try Choice.number($0, in: 0...999_999) })
    var passkey: UInt32?

    @OptionGroup var options: RadioOptions<PhoneSide>

    func play(in surroundings: Surroundings) async throws {
        let timeout = try CentralOptions.duration(timeout, "--timeout", of: Self.self)
        if device.isEmpty {
            throw Exit.wrongUsage("DEVICE is empty: write an address or a name", of: Self.self)
        }
        options.parent.follow(in: surroundings)
        surroundings.beginLogs(options.logLevel)
        let time = surroundings.time(.real)
        let made = try CentralOptions.radio(options, in: surroundings, time, of: Self.self)
        var making = try Exit.reportingErrors { () throws(RadioError) in try made.get() }
        let destination = ImportOutput(
            folder: output, subject: device, surroundings: surroundings, numbersNames: true)
        // Otherwise a recording that cannot be written would be lost at its end.
        do throws(ImportProblem) {
            try destination.prepare()
        } catch {
            destination.fail(error.description)
            throw Exit.problems
        }
        do throws(RadioError) {
            making.stateDirectory = try stateDir.map { path throws(RadioError) in
                try StateDirectory(path: path, clock: time.clock)
            }
        } catch {
            destination.fail(error.description)
            throw Exit.problems
        }
        // No other process may write into the directory until this one has ended.
        defer { withExtendedLifetime(making.stateDirectory) {} }
        let capture = LiveCapture(clock: time.clock) { destination.warn($0) }
        making.tap = capture.tap
        let signals = surroundings.hearSignals()
        let questions = signals.flatMap { PlainQuestions($0) }
        let radios = RadioMaker(making)
        let session = RecordSession(
            RecordPlan(device: device, timeout: timeout, passkey: passkey), radios: radios,
            questions: questions, observer: RecordMessages(surroundings: surroundings), clock: time.clock,
            until: surroundings.interruption)
        try write(
            capture, await session.play(),
            hint: passkey == nil && questions == nil ? "; \(ConnectEvent.passkeyHint)" : "", to: destination
        )
        try Exit.check(capture: radios.captureFailure, isSaid: true)
    }

    /// The advice for a device that no longer has the bond in `--state-dir`.
    private func bondHint(_ address: DeviceAddress) -> String {
        guard let directory = stateDir.map(ShellWord.quoted) else { return "" }
        return "; if the device no longer has the bond, delete it here too: "
            + "mynah connect \(address) --state-dir \(directory) --command forget"
    }

    /// Writes the profile made from the recording, and prints which of the device's data is missing in it.
    private func write(
        _ capture: LiveCapture, _ end: RecordSession.End, hint: String, to destination: ImportOutput
    ) throws {
        guard let (address, progress) = end.device else {
            if let failure = end.failure {
                destination.fail(failure.description)
                throw Exit.problems
            }
            destination.surroundings.say("no profile is written: nothing was asked of the device yet")
            throw Exit.problems
        }
        do throws(ImportProblem) {
            try destination.write(capture.profile(of: address, recordingFile: destination.recordingFile))
        } catch {
            destination.fail(error.description)
            // The folder may have been removed or be full. Without a file, the profile has no times.
            if output != nil, let result = try? capture.profile(of: address) {
                destination.surroundings.print(result.profile, terminator: "")
            }
            throw Exit.problems
        }
        let missing: String
        switch progress {
        case .listening: return
        case .began: missing = "its attributes were not all discovered"
        case .asking(let rest):
            let reads = rest.reads.counting("value was", "values were")
            let subscriptions = rest.subscriptions.counting("characteristic")
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
        let reason = end.failure.map { "\($0); " } ?? ""
        destination.fail("\(reason)the profile has what was seen until then: \(missing)")
        throw Exit.problems
    }
}

/// Prints the messages of a recording to standard error.
private struct RecordMessages: ConnectObserver {
    let surroundings: Surroundings

    func observe(_ report: ConnectReport, at time: WallTime) {
        if let event = ConnectEvent(report, at: time) { surroundings.say(event.text()) }
    }

    func warn(_ warning: RadioWarning) { surroundings.say(warning) }

    func say(_ text: String) { surroundings.say(text) }
}
