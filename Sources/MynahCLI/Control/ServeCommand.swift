import ArgumentParser
import MynahRun
import MynahSupport

/// `mynah serve`.
struct ServeCommand: StagedCommand {
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

    /// The error for options that cannot be combined, or `nil` if these can be.
    private func misuse(of plan: RunPlan, _ radios: RadioPlan) -> String? {
        let clock = timeOptions.clock
        if clock == .fast {
            return "--clock fast does not wait for clients, and serve has only clients: choose --clock manual"
        }
        if controlOptions.control == .off { return "--control off leaves serve nothing to do" }
        return plan.misuse(of: clock, options.radio, hasEnd: false, isControlled: true)
            ?? RadioPlan.problem(withAdapters: adapter)
            ?? plan.misuse(of: radios, [], hasStateDirectory: false) ?? options.capture?.problem(with: events)
    }

    func play(in surroundings: Surroundings) async throws {
        let time = timeOptions.time(in: surroundings)
        defer { surroundings.end(time) }
        var plan = RunPlan([], version: MynahCommand.configuration.version)
        plan.isServer = true
        plan.seed = timeOptions.seed(in: time)
        var radios = RadioPlan(options.radio.chosen(in: time))
        radios.adapters = adapter
        radios.capture = options.capture
        if let misuse = misuse(of: plan, radios) { throw Exit.wrongUsage(misuse, of: Self.self) }
        let events = events ?? (options.capture == .standardOutput ? .off : .text)
        // Otherwise no client could find out where it listens.
        if events != .off, Descriptor.isOutputClosed {
            throw Exit.failure("standard output is closed; open it, or choose --events off")
        }
        let signals = surroundings.hearSignals()
        options.parent.follow(in: surroundings)
        surroundings.beginLogs(options.logLevel)
        try timeOptions.complete(&plan, in: time, stateDir: stateDir, controlOptions)
        let output = RunOutput(
            format: events, for: plan, in: surroundings, hasScreen: false,
            isPatient: time.clock.virtual != nil, signals: signals)
        // No other run may use the state directory until this one has ended.
        defer { withExtendedLifetime(plan) {} }
        let directory = options.parent.makeDirectory(for: plan.control)
        defer { directory?.remove() }
        let end = await output.play(plan, radios, time)
        if let problem = output.problem { throw Exit.unwritable(problem) }
        if let failure = end.failure { throw Exit.failure("\(failure)") }
        try Exit.check(capture: end.captureFailure, isSaid: !output.takesEvents)
    }
}
