import ArgumentParser
import Logging
import Mynah
import MynahControl
import MynahCore
import MynahEmulator
import MynahHCI
import MynahProfiles
import MynahRun
import MynahSupport

/// The format of events.
enum EventFormat: String, CaseIterable {
    case text
    case json
    case off
}

/// The lowest level of log lines to write.
enum LogLevel: String, CaseIterable {
    case trace, debug, info, notice, warning, error

    var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .warning }
}

/// `mynah run`.
struct RunCommand: StagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Plays profiles until Ctrl-C.",
        discussion: """
            Ctrl-C or SIGTERM takes the device off the air, restores the adapter's settings and exits with \
            status 0. A terminal shows a screen. A pipe gets one line for each event, or one JSON object \
            with --events json.

            A profile with app: plays as an iOS app; with central:, the app scans and connects. The apps of \
            a run share one phone, unless phone: names others, and one app of each phone is in the \
            foreground. On a terminal, these keys act on an app:

              f, b, s    bring it to the foreground, send it to the background, suspend it
              t, q       terminate it as the system would, quit it as its user would
              o          open the alert that was shown last
              1 to 9     select the app that the keys act on, and its phone

            --state-dir stores what apps preserve: SIGTERM keeps it, Ctrl-C deletes it.
            """)

    @Argument(
        help: """
            The profile files, or folders of them. Each accessory needs an adapter of its own; the apps of \
            a phone share one.
            """,
        completion: .file(extensions: ["yaml", "yml", "json"]))
    var profiles: [String]

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            Plays this many of one accessory, each on a radio of its own: NAME 1, NAME 2 and so on, with \
            other addresses and other generated values.
            """, valueName: "number"),
        transform: { try Choice.number($0, in: 1...SharedAir.deviceLimit) })
    var count: Int?

    @OptionGroup var options: RadioOptions<DeviceSide>

    @OptionGroup(title: "Control API") var controlOptions: ControlOptions

    @Option(
        help: """
            BlueZ only: the adapter, as hci0 or AA:BB:CC:DD:EE:FF. Repeat it for each radio, in order. \
            Default: the first.
            """
    )
    var adapter: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            virtual, netsim and hci only. identity: the controller's public address, or a static random \
            one. private: a resolvable private address, which changes every 15 minutes and which only \
            bonded phones recognize. Default: private for apps, as on an iPhone, else identity.
            """, valueName: "address"),
        completion: Choice.completion(of: AddressChoice.self), transform: Choice.parse)
    var address: AddressChoice?

    @Option(
        help: ArgumentHelp(
            """
            The state that apps start in: foreground, background, suspended, or with --state-dir \
            terminated (the phone was restarted and no app was opened). Default: the profile's.
            """),
        completion: Choice.completion(of: RunState.self), transform: Choice.parse)
    var state: RunState?

    @Option(
        // A time in the past begins with a dash, and the parser must not interpret it as an option.
        name: .customLong("at"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            Changes the state of apps at a time after ready: \
            \(UserAction.words.dropLast().joined(separator: ", ")) or \(UserAction.words.last ?? ""). With \
            --radio virtual it also moves accessories: \(RangeChange.words.joined(separator: ", ")). \
            poweredOff and poweredOn are for the phone, or for every accessory of a run without apps; with \
            BlueZ nothing turns Bluetooth off. Which apps are relaunched after settingsOff, \
            controlCenterOff, airplaneMode and restart depends on iOS: in their profiles. NAME: before it \
            selects the device of that name or file, or the phone of that name; with several phones, \
            power, the lock, the screen and alerts need it. For a range it can be a peripheral of central:, \
            which then moves for that phone only, and for forget one that its phone forgets. accessory and \
            removeAccessory are for a peripheral of central:, which the user of an app with accessorySetup \
            picks or removes. alert TEXT shows a notification on a phone with phone.services. Repeatable.
            """,
            valueName: "10s=[NAME:]background"))
    var planned: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            Ends the run with status 0, as SIGTERM would, after this event: EVENT [FIELD=VALUE]..., with \
            the names of --events json; fields.NAME is a field of a value. Numbers also compare with < and \
            >. If repeated, after all of them.
            """, valueName: "event"),
        completion: .list(DeviceEvent.Name.allCases.map(\.rawValue)))
    var until: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            Ends the run at this time after ready, such as 90s or 1h: with status 1 if an event of --until \
            is missing or --scenario has not ended, else with 0. A run that is not ready within this time \
            or 30 s, whichever is longer, ends with 1.
            """,
            valueName: "time"))
    var timeout: String?

    @OptionGroup(title: "Scenarios") var scenarioOptions: ScenarioOptions

    @Option(
        help: """
            Directory for preserved app state and bonds (BlueZ stores its own bonds); no other user may \
            write to it. Default: in memory only.
            """
    )
    var stateDir: String?

    @Option(
        help: "text (the default: a screen on a terminal, else lines), json (one object a line) or off.",
        completion: Choice.completion(of: EventFormat.self), transform: Choice.parse)
    var events: EventFormat?

    @OptionGroup var timeOptions: TimeOptions

    @Option(
        parsing: .unconditional,
        help: """
            BlueZ only: the most notifications a second to give to bluetoothd, which queues them without \
            limit. 0: no limit. Default: 2000.
            """,
        transform: { try Choice.number($0, in: 0...Int.max) })
    var notificationRate: Int?

    @Flag(
        help: "BlueZ 5.80 or later only: opens a socket for each subscriber, so that events name it.")
    var nameSubscribers = false

    private var clock: ClockChoice { timeOptions.clock }

    /// The radio and its settings that these options select.
    private func radios(in time: RunTime) -> RadioPlan {
        var radios = RadioPlan(options.radio.chosen(in: time))
        radios.adapters = adapter
        radios.address = address
        radios.capture = options.capture
        radios.notificationRate = notificationRate
        radios.namesSubscribers = nameSubscribers
        return radios
    }

    /// The parsed values of `--at`, `--until` and `--timeout`.
    private struct Wishes {
        var actions: [PlannedAction]
        var matches: [EventMatch]
        var timeout: Duration?
    }

    // This is not done in `validate()`, which runs before the parser reports an unknown option: the value of
    // that option would be interpreted as a profile.
    private func wishes() throws -> Wishes {
        if let problem = RadioPlan.problem(withAdapters: adapter) {
            throw Exit.wrongUsage(problem, of: Self.self)
        }
        if let problem = scenarioOptions.problem(hasUntil: !until.isEmpty) {
            throw Exit.wrongUsage(problem, of: Self.self)
        }
        if let problem = options.capture?.problem(with: events) {
            throw Exit.wrongUsage(problem, of: Self.self)
        }
        return Wishes(
            actions: try planned.map(action), matches: try until.map(match),
            timeout: try CentralOptions.duration(timeout, "--timeout", of: Self.self))
    }

    private func action(_ text: String) throws -> PlannedAction {
        do throws(PlannedAction.Problem) {
            return try PlannedAction(parsing: text)
        } catch {
            throw Exit.wrongUsage(error.message, of: Self.self)
        }
    }

    private func match(_ text: String) throws -> EventMatch {
        do throws(EventMatch.Problem) {
            let match = try EventMatch(parsing: text)
            if let problem = match.problem { throw problem }
            return match
        } catch {
            throw Exit.wrongUsage("--until \(text): \(error.message)", of: Self.self)
        }
    }

    /// The plan of the run that the profiles and the options describe.
    private func plan(_ wishes: Wishes, in surroundings: Surroundings, _ time: RunTime) throws -> RunPlan {
        let profiles = try ProfileLoading.load(profiles) { surroundings.say($0) }
        var plan = RunPlan(try played(profiles), version: MynahCommand.configuration.version)
        (plan.state, plan.seed, plan.timeout) = (state, timeOptions.seed(in: time), wishes.timeout)
        let hasEnd = wishes.timeout != nil || !until.isEmpty || scenarioOptions.scenario != nil
        let isControlled = controlOptions.control.map { $0 != .off } ?? false
        if let misuse = plan.misuse(of: clock, options.radio, hasEnd: hasEnd, isControlled: isControlled) {
            throw Exit.wrongUsage(misuse, of: Self.self)
        }
        let radios = radios(in: clock == .real ? .real : time)
        let misuse = plan.misuse(of: radios, wishes.actions, hasStateDirectory: stateDir != nil)
        if let misuse { throw Exit.wrongUsage(misuse, of: Self.self) }
        do throws(RunPlan.Problem) {
            try plan.add(wishes.actions, until: wishes.matches, scenario: scenarioOptions.scenario)
        } catch {
            throw Exit.wrongUsage(error.message, of: Self.self)
        }
        return plan
    }

    /// The profiles to play: the given ones or, with `--count`, copies of the only one.
    private func played(_ profiles: [Profile]) throws -> [Profile] {
        guard let count else { return profiles }
        guard let profile = profiles.first, profiles.count == 1 else {
            throw Exit.wrongUsage(
                "--count plays copies of one profile, and \(profiles.count) are given", of: Self.self)
        }
        guard profile.app == nil else {
            throw Exit.wrongUsage(
                "--count is for accessories, and \(profile.file) has app:, of which a phone has one",
                of: Self.self)
        }
        do throws(ProfileIssues) {
            return try profile.copies(count)
        } catch {
            throw CommandFailure(text: error.description, code: Exit.problems)
        }
    }

    func play(in surroundings: Surroundings) async throws {
        let wishes = try wishes()
        let signals = surroundings.hearSignals()
        options.parent.follow(in: surroundings)
        let time = timeOptions.time(in: surroundings)
        defer { surroundings.end(time) }
        var plan = try plan(wishes, in: surroundings, time)
        // The report of an earlier run must not stay if this one is killed.
        if let failure = scenarioOptions.write(plan.firstReport) { throw failure }
        let issues = plan.issues(on: options.radio)
        for issue in issues { surroundings.say(issue.description) }
        guard issues.isEmpty else { throw Exit.problems }
        surroundings.beginLogs(options.logLevel)
        try timeOptions.complete(&plan, in: time, stateDir: stateDir, controlOptions)
        let output = RunOutput(
            format: events ?? (options.capture == .standardOutput ? .off : .text), for: plan,
            in: surroundings, hasScreen: time.clock.virtual?.pace != .fast,
            isPatient: time.clock.virtual != nil, signals: signals)
        // No other run may use the state directory until this one has ended.
        defer { withExtendedLifetime(plan) {} }
        let directory = options.parent.makeDirectory(for: plan.control)
        defer { directory?.remove() }
        let end = await output.play(plan, radios(in: time), time)
        let unwritten = scenarioOptions.write(end.report)
        if let unwritten { surroundings.say(unwritten.text) }
        if let problem = output.problem { throw Exit.unwritable(problem) }
        if let failure = end.failure {
            surroundings.say("error: \(failure)")
            if options.radio.usesAdapters, let hint = Self.hint(for: failure.code) { surroundings.say(hint) }
            throw Exit.problems
        }
        if let complaint = end.complaint { throw Exit.failure(PrintableText.of(complaint)) }
        try Exit.check(capture: end.captureFailure, isSaid: !output.takesEvents)
        if unwritten != nil { throw Exit.problems }
    }

    /// The advice for an error of the BlueZ radio, or `nil` if there is none.
    private static func hint(for code: RadioError.Code) -> String? {
        switch code {
        case .noAdapter, .unreachable, .timedOut:
            "hint: `mynah doctor` lists what to fix; --radio virtual needs no adapter"
        case .blocked, .notPermitted, .noAdvertisingSet, .advertisementRefused, .servicesRefused:
            "hint: `mynah doctor` lists what to fix"
        default: nil
        }
    }
}
