import ArgumentParser
import Logging
import Mynah
import MynahConsole
import MynahControl
import MynahCore
import MynahEmulator
import MynahHCI
import MynahProfiles
import MynahSupport

import Glibc

/// The format of events.
enum EventFormat: String, CaseIterable {
    case text
    case json
    case off
}

/// The lowest level of log lines that are written.
enum LogLevel: String, CaseIterable {
    case trace, debug, info, notice, warning, error

    var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .warning }
}

/// `mynah run`.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Plays profiles until Ctrl-C.",
        discussion: """
            Ctrl-C or SIGTERM takes the device off the air, restores the adapter's settings and exits with \
            status 0. A terminal shows a screen. A pipe gets one line for each event, or one JSON object \
            with --events json.

            A profile with app: plays as an iOS app; with central:, the app scans and connects. All apps of \
            a run share one phone, and one of them is in the foreground. On a terminal, these keys act on \
            an app:

              f, b, s    bring it to the foreground, send it to the background, suspend it
              t, q       terminate it as the system would, quit it as its user would
              o          open the alert that was shown last
              1 to 9     select the app that the keys act on

            --state-dir stores what apps preserve: SIGTERM keeps it, Ctrl-C deletes it.
            """)

    @Argument(
        help: """
            The profile files, or folders of them. Each accessory needs an adapter of its own; apps share one.
            """,
        completion: .file(extensions: ["yaml", "yml", "json"]))
    var profiles: [String]

    @Option(
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
        // A time in the past begins with a dash, and is not an option.
        name: .customLong("at"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            Changes the state of apps at a time after ready: \
            \(UserAction.words.dropLast().joined(separator: ", ")) or \(UserAction.words.last ?? ""). With \
            --radio virtual it also moves accessories: \(RangeChange.words.joined(separator: ", ")). \
            poweredOff and poweredOn are for the phone, or for every accessory of a run without apps, and \
            not for BlueZ. NAME: before it selects the device of that name or file. For a range it can be a \
            peripheral of central:, which then moves for that phone only. Repeatable.
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
            Ends the run at this time after ready: with status 1 if an event of --until is missing or \
            --scenario has not ended, else with 0. A run that is not ready within this time or 30 s, \
            whichever is longer, ends with 1.
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

    @Option(
        help: ArgumentHelp(
            """
            Seed for generated values, a whole number. With the same addresses it also reproduces a \
            phone's peripheral identifiers. Default: random.
            """,
            valueName: "seed"),
        transform: { try Choice.number($0, in: 0...UInt64.max) })
    var seed: UInt64?

    @Option(
        help: """
            BlueZ only: the most notifications a second to give to bluetoothd, which queues them without \
            limit. 0: no limit. Default: 2000.
            """,
        transform: { try Choice.number($0, in: 0...Int.max) })
    var notificationRate: Int?

    @Flag(
        help: "BlueZ 5.80 or later only: opens a socket for each subscriber, so that events name it.")
    var nameSubscribers = false

    private var radio: RadioChoice { options.radio }
    private var capture: CaptureTarget? { options.capture }

    // Not in `validate()`, which runs before the parser reports an unknown option: its value would be
    // taken for a profile.
    private func checkUsage() throws -> Plan {
        if Set(adapter.map { $0.uppercased() }).count < adapter.count {
            throw Exit.wrongUsage(
                "--adapter names an adapter twice, but each radio needs its own adapter", of: Self.self)
        }
        if let problem = scenarioOptions.problem(hasUntil: !until.isEmpty) {
            throw Exit.wrongUsage(problem, of: Self.self)
        }
        if let problem = capture?.problem(with: events) { throw Exit.wrongUsage(problem, of: Self.self) }
        return Plan(
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
            if let problem = match.unknownField { throw problem }
            return match
        } catch {
            throw Exit.wrongUsage("--until \(text): \(error.message)", of: Self.self)
        }
    }

    /// The changes that are planned for the run, and the conditions of its end.
    private struct Plan {
        var actions: [PlannedAction]
        var matches: [EventMatch]
        var timeout: Duration?

        var setsPower: Bool { actions.contains(where: \.setsPower) }
    }

    /// The actions, each with the apps that it is for.
    private func targeted(_ actions: [PlannedAction], among names: DeviceNames) throws -> [RunPlayer.Planned]
    {
        try actions.map { action in
            do throws(PlannedAction.Problem) {
                return (action, try action.target(among: names))
            } catch {
                throw Exit.wrongUsage(error.message, of: Self.self)
            }
        }
    }

    /// The matches, with devices as events call them.
    private func named(_ matches: [EventMatch], among names: DeviceNames) throws -> [EventMatch] {
        try matches.map { match in
            guard let device = match.device else { return match }
            do throws(DeviceNames.Problem) {
                return match.naming(try names.device(named: device).label)
            } catch {
                throw Exit.wrongUsage("--until \(match.text): \(error.message)", of: Self.self)
            }
        }
    }

    /// The scenario that the run plays, or `nil` if it plays none.
    private func scenario(of profiles: [Profile], _ names: DeviceNames) throws -> ScenarioRun? {
        guard let text = scenarioOptions.scenario else { return nil }
        do throws(ScenarioChoice.Problem) {
            return ScenarioRun(try ScenarioChoice(text, in: profiles, names))
        } catch {
            throw Exit.wrongUsage("--scenario: \(error.message)", of: Self.self)
        }
    }

    /// Writes the report about the scenario; returns `false` after an error.
    private func writeReport(_ watch: RunWatch, _ failure: RadioError?) -> Bool {
        guard let path = scenarioOptions.report, let report = watch.report(failure?.description) else {
            return true
        }
        do throws(KeptFile.Problem) {
            try ScenarioRun.write(report, to: path)
            return true
        } catch {
            StandardError.print("error: \(PrintableText.of(error.description))")
            return false
        }
    }

    /// The error if the options do not fit these profiles, else `nil`.
    private func misuse(of groups: [[Profile]], _ plan: Plan) -> String? {
        let usesAdapters = radio.usesAdapters && !Self.playsCentrals(groups)
        let needed =
            "these profiles need \(groups.count) radios, one for each accessory and one for all apps"
        if case .hci = radio, groups.count > 1 {
            return "\(needed), and --radio hci: is one radio"
        }
        if !usesAdapters, !adapter.isEmpty {
            return RadioChoice.isForBlueZ("--adapter")
        }
        if !usesAdapters, let option = optionsForBlueZ.first {
            return RadioChoice.isForBlueZ(option)
        }
        if usesAdapters, address != nil {
            return
                "--address is for --radio virtual, netsim and hci:; bluetoothd chooses an adapter's address"
        }
        if usesAdapters, groups.count > 1, adapter.count != groups.count {
            return "\(needed): repeat --adapter \(groups.count) times, in their order, "
                + "or choose --radio virtual or netsim"
        }
        if radio == .bluez, capture != nil { return RadioMaker.noCaptureOfBlueZ.description }
        if radio == .bluez, plan.setsPower { return RadioMaker.noPowerOfBlueZ.description }
        if adapter.count > groups.count {
            let radios = "\(groups.count) radio\(groups.count == 1 ? "" : "s")"
            return "--adapter is given \(adapter.count) times for \(radios)"
        }
        guard !groups.contains(where: { $0[0].app != nil }) else {
            return state?.problem(with: groups.flatMap { $0 }, hasStateDirectory: stateDir != nil)
        }
        let options = [
            ("--state", state != nil), ("--at", plan.actions.contains { $0.isOfApp }),
            ("--state-dir", stateDir != nil && radio == .bluez),
        ]
        return options.first { $0.1 }.map {
            "\($0.0) needs a profile with app:, and no profile here has one"
        }
    }

    /// The profiles that are played: those of the files, or the copies of one.
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
            StandardError.print(error.description)
            throw Exit.problems
        }
    }

    /// Whether an app of them is a central, which BlueZ does not play.
    private static func playsCentrals(_ groups: [[Profile]]) -> Bool {
        groups.contains { $0.contains { !$0.centrals.isEmpty } }
    }

    /// The given options that only BlueZ supports.
    private var optionsForBlueZ: [String] {
        (nameSubscribers ? ["--name-subscribers"] : [])
            + (notificationRate == nil ? [] : ["--notification-rate"])
    }

    func run() async throws {
        let plan = try checkUsage()
        let interruption = Interruption()
        let profiles = try played(try ProfileLoading.load(profiles))
        let groups = RunGroups(profiles)
        if let misuse = misuse(of: groups.groups, plan) { throw Exit.wrongUsage(misuse, of: Self.self) }
        let watch = RunWatch(
            try named(plan.matches, among: groups.names), scenario: try scenario(of: profiles, groups.names),
            timeout: plan.timeout, interruption)
        let planned = try targeted(plan.actions, among: groups.names)
        // The report of an earlier run must not stay if this one is killed.
        guard writeReport(watch, nil) else { throw Exit.problems }
        let issues = groups.issues + (radio == .bluez ? profiles.compactMap(\.centralIssueWithBlueZ) : [])
        for issue in issues { StandardError.print(issue.description) }
        guard issues.isEmpty else { throw Exit.problems }
        Logs.begin(options.logLevel)
        let stateDirectory = try Exit.reportingErrors { () throws(RadioError) in
            try stateDir.map { path throws(RadioError) in try StateDirectory(path: path) }
        }
        let control = try Exit.reportingErrors { () throws(ControlError) in
            try ControlSession(controlOptions, isServer: false)
        }
        let format = events ?? (capture == .standardOutput ? .off : .text)
        let output = RunOutput(
            format: format, profiles: profiles, watch: watch, journal: control?.journal,
            interruption: interruption)
        let captured = capture.map {
            Capture(
                $0, namesDevices: groups.groups.count > 1 || control != nil,
                reports: .init(warn: { output.warn($0) }, fail: { output.fail($0) }))
        }
        let maker = RunMaker(
            output, stateDirectory, seed: seed, state: state,
            namesDevices: groups.groups.count > 1 || control != nil, isControlled: control != nil)
        let runs = zip(groups.groups, groups.labels).map { maker.run($0, labels: $1) }
        // No other run may use it until this one has ended.
        defer { withExtendedLifetime(stateDirectory) {} }
        let player = RunPlayer(
            runs, maker,
            RadioChooser(
                choice: radio, adapters: adapter, playsCentrals: Self.playsCentrals(groups.groups),
                notice: { output.warn($0) }),
            planned, output, watch
        ) { chosen in makeRadios(chosen, plan, captured, output, stateDirectory) }
        watch.start()
        let failure = await player.play(until: interruption) { () async throws(RadioError) in
            guard let control else { return }
            output.served(at: try await control.serve(player), isServer: false)
        }
        await control?.end()
        output.end()
        let isReported = writeReport(watch, failure)
        if let problem = output.problem { throw Exit.unwritable(problem) }
        if let failure {
            StandardError.print("error: \(failure)")
            if radio.usesAdapters, let hint = Self.hint(for: failure.code) { StandardError.print(hint) }
            throw Exit.problems
        }
        if let problem = watch.complaint ?? watch.problem { throw Exit.failure(problem) }
        if !isReported { throw Exit.problems }
    }

    /// The hint for an error of BlueZ, or `nil` if nothing more is known.
    private static func hint(for code: RadioError.Code) -> String? {
        switch code {
        case .noAdapter, .unreachable, .timedOut:
            "hint: `mynah doctor` lists what to fix; --radio virtual needs no adapter"
        case .blocked, .notPermitted, .noAdvertisingSet, .advertisementRefused, .servicesRefused:
            "hint: `mynah doctor` lists what to fix"
        default: nil
        }
    }

    private func makeRadios(
        _ chosen: ChosenRadio, _ plan: Plan, _ capture: Capture?, _ output: RunOutput,
        _ stateDirectory: StateDirectory?
    ) -> RadioMaker {
        if chosen != .bluez, let option = optionsForBlueZ.first {
            output.warn(
                RadioWarning("optionIgnored", "\(option) is for BlueZ and has no effect on this radio"))
        }
        let rate = notificationRate ?? 2000
        return RadioMaker(
            RadioMaker.Options(
                choice: chosen, adapters: adapter, notificationRate: rate == 0 ? nil : rate,
                namesSubscribers: nameSubscribers, stateDirectory: stateDirectory, address: address,
                capture: capture, setsPower: plan.setsPower, notice: { output.warn($0) }))
    }
}
