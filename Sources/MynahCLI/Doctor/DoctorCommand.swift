import ArgumentParser
import MynahConsole
import MynahRun
import MynahSupport

/// `mynah doctor`.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Reports what would stop or degrade a run on this machine, with remedies.",
        discussion: """
            Checks the kernel, rfkill, the message bus, bluetoothd and its settings, the adapter, the \
            Android emulator and the virtual radio. It changes nothing.

            Exits with status 0 if a run works, 1 if it will not, 2 if it works with loss, and 64 for wrong \
            usage. A finding is fine, loss, stop, unknown (it could not be found out) or skipped (another \
            one comes first).
            """)

    enum Format: String, CaseIterable {
        case text
        case json
    }

    @Argument(
        help: "A profile to check on this machine's radio.",
        completion: .file(extensions: ["yaml", "yml", "json"]))
    var profile: String?

    @Option(
        help: ArgumentHelp(
            """
            Checks one radio only, as run takes it: auto (the default), bluez, virtual, \
            netsim[:instance=N] or hci:TRANSPORT.
            """, valueName: "radio"),
        completion: RadioChoice.completion, transform: { try RadioChoice.parse($0) })
    var radio: RadioChoice = .auto

    @Option(help: "BlueZ only: the adapter, as hci0 or AA:BB:CC:DD:EE:FF. Default: the first.")
    var adapter: String?

    @Option(
        help: "text (the default) or json.", completion: Choice.completion(of: Format.self),
        transform: Choice.parse)
    var format: Format = .text

    func run() async throws {
        if adapter != nil, !radio.usesAdapters {
            throw Exit.wrongUsage(RadioChoice.isForBlueZ("--adapter"), of: Self.self)
        }
        let facts = await DoctorProbes(radio: radio, adapter: adapter, profile: profile).facts()
        let report = DoctorReport(Doctor(facts).findings)
        switch format {
        case .json: StandardOutput.print(report.json.prettyText)
        case .text:
            for line in report.lines(isBold: Descriptor.isScreen) { StandardOutput.print(line) }
        }
        guard report.verdict.exitCode == 0 else { throw ExitCode(report.verdict.exitCode) }
    }
}
