import ArgumentParser
import Mynah
import MynahControl
import MynahCore
import MynahRun
import MynahSupport

/// `mynah serve`.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serves the control API, over which clients add devices.",
        discussion: """
            It starts without a device and reports ready at once. mynah ctl add plays a profile; GET \
            /v1/openapi.json describes every request. Ctrl-C or SIGTERM takes all devices off the air.

            With --control 127.0.0.1:8080, http://127.0.0.1:8080/ is a page that shows and controls the \
            devices. Without --control it listens on $XDG_RUNTIME_DIR/mynah.sock, where mynah ctl looks.
            """)

    @OptionGroup(title: "Control API") var controlOptions: ControlOptions

    @OptionGroup var options: RadioOptions<DeviceSide>

    @Option(
        help: """
            BlueZ only: an adapter for a device, as hci0 or AA:BB:CC:DD:EE:FF. Repeat it for each device. \
            Default: the first adapter, for one device.
            """
    )
    var adapter: [String] = []

    @Option(
        help: """
            Directory for preserved app state and bonds (BlueZ stores its own bonds); no other user may \
            write to it. Default: in memory only.
            """
    )
    var stateDir: String?

    @Option(
        help: "text (the default), json (one object a line) or off.",
        completion: Choice.completion(of: EventFormat.self), transform: Choice.parse)
    var events: EventFormat?

    @OptionGroup var timeOptions: TimeOptions

    private var clock: ClockChoice { timeOptions.clock }

    /// The error of a clock that it cannot have, or `nil`.
    private var misuse: String? {
        if clock == .fast {
            return "--clock fast does not wait for clients, and serve has only clients: choose --clock manual"
        }
        return RunPlan([], version: "").misuse(of: clock, options.radio, hasEnd: false, isControlled: true)
    }

    func run() async throws {
        if let misuse { throw Exit.wrongUsage(misuse, of: Self.self) }
        if Set(adapter.map { $0.uppercased() }).count < adapter.count {
            throw Exit.wrongUsage(
                "--adapter names an adapter twice, but each radio needs its own adapter", of: Self.self)
        }
        if !options.radio.usesAdapters, !adapter.isEmpty {
            throw Exit.wrongUsage(RadioChoice.isForBlueZ("--adapter"), of: Self.self)
        }
        if controlOptions.control == .off {
            throw Exit.wrongUsage("--control off leaves serve nothing to do", of: Self.self)
        }
        if let problem = options.capture?.problem(with: events) {
            throw Exit.wrongUsage(problem, of: Self.self)
        }
        if options.radio == .bluez, options.capture != nil {
            throw Exit.wrongUsage(RadioMaker.noCaptureOfBlueZ.description, of: Self.self)
        }
        let events = events ?? (options.capture == .standardOutput ? .off : .text)
        // Nobody would learn where it listens.
        if events != .off, Descriptor.isOutputClosed {
            throw Exit.failure("standard output is closed; open it, or choose --events off")
        }
        let surroundings = Surroundings.process
        let signals = surroundings.hearSignals()
        surroundings.beginLogs(options.logLevel)
        var plan = RunPlan([], version: MynahCommand.configuration.version)
        // With virtual time everything follows from a seed, if only from a random one.
        plan.seed = timeOptions.seed ?? (clock.isVirtual ? .random(in: 0...UInt64.max) : nil)
        plan.isServer = true
        plan.leaveNote = clock.note(about: "mynah serve")
        let time = RunTime(clock, seed: plan.seed ?? 0)
        plan.stateDirectory = try Exit.reportingErrors { () throws(RadioError) in
            try stateDir.map { path throws(RadioError) in try StateDirectory(path: path, clock: time.clock) }
        }
        plan.control = try Exit.reportingErrors { () throws(ControlError) in
            try controlOptions.plan(isServer: true)
        }
        var radios = RadioPlan(clock.isVirtual ? .virtual : options.radio)
        radios.adapters = adapter
        radios.capture = options.capture
        let output = RunOutput(
            format: events, for: plan, in: surroundings, hasScreen: false, isPatient: clock.isVirtual,
            signals: signals)
        // No other run may use its state directory until this one has ended.
        defer { withExtendedLifetime(plan) {} }
        let end = await output.play(plan, radios, time)
        if let problem = output.problem { throw Exit.unwritable(problem) }
        if let failure = end.failure { throw Exit.failure("\(failure)") }
    }
}
