import ArgumentParser
import MynahConsole
import MynahCore
import MynahRun
import MynahSupport

/// `mynah scan`.
struct ScanCommand: StagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract: "Lists the devices that a phone hears.",
        discussion: """
            It requests each device's scan response, and runs until Ctrl-C. A terminal shows a table. A \
            pipe gets a line when a device is first heard and when its data changes, or a JSON object with \
            --format json.

            An iPhone app in the background does not advertise its service UUIDs: each sets one bit of the \
            overflow area. --service also lists phones whose overflow area has the bit of that service.
            """)

    @Option(
        help: ArgumentHelp(
            "Only devices that advertise this service: a UUID or the SIG's name. Repeatable.",
            valueName: "service"))
    var service: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only devices whose name or address contains this text; case is ignored.", valueName: "text"))
    var filter: String?

    @Flag(help: "Passive scanning: send no scan requests.")
    var passive = false

    @Flag(help: "Report every advertising event, not only changes.")
    var all = false

    @Option(
        help: "text (the default: a table on a terminal, else lines) or json (one object a line).",
        completion: Choice.completion(of: ScanFormat.self), transform: Choice.parse)
    var format: ScanFormat = .text

    @Option(help: ArgumentHelp("Ends the scan after this time, such as 10s.", valueName: "duration"))
    var timeout: String?

    @OptionGroup var options: RadioOptions<PhoneSide>

    func play(in surroundings: Surroundings) async throws {
        var plan = ScanPlan()
        plan.services = try service.map { try CentralOptions.service($0, of: Self.self) }
        plan.isActive = !passive
        plan.timeout = try CentralOptions.duration(timeout, "--timeout", of: Self.self)
        options.parent.follow(in: surroundings)
        surroundings.beginLogs(options.logLevel)
        let time = surroundings.time(.real)
        // The name of the radio is printed before the screen hides it.
        let made = try CentralOptions.radio(options, in: surroundings, time, of: Self.self)
        var making = try Exit.reportingErrors { () throws(RadioError) in try made.get() }
        let shown = Lock<ScanOutput?>(nil)
        making.notice = { warning in
            if let output = shown.withLock({ $0 }) {
                output.warn(warning)
            } else {
                surroundings.say(warning)
            }
        }
        let maker = RadioMaker(making)
        let signals = surroundings.hearSignals()
        let session = try Exit.reportingErrors { () throws(RadioError) in
            try ScanSession(
                plan, radios: maker, clock: time.clock, until: surroundings.interruption)
        }
        let output = ScanOutput(
            format: format,
            model: ScanModel(
                place: "on the \(making.choice.name)", known: plan.services, wanted: filter,
                hearsOwnDevices: making.choice == .virtual),
            tellsAll: all, in: surroundings, time.clock, signals: signals)
        shown.withLock { $0 = output }
        let end = await session.play(output)
        output.end()
        if let problem = output.problem { throw Exit.unwritable(problem) }
        if let failure = end.failure { throw Exit.failure("\(failure)") }
        if end.hasListened, output.hasHeardNothing {
            reportNothingHeard(maker, in: surroundings)
        }
        try Exit.check(capture: maker.captureFailure, isSaid: true)
    }

    /// Reports that no device was received on this radio, with hints, because another radio may receive some.
    private func reportNothingHeard(_ maker: RadioMaker, in surroundings: Surroundings) {
        let what = service.isEmpty ? "no device" : "no device with that service"
        surroundings.say("\(what) was heard \(maker.listeningPlace)")
        guard maker.airDirectory != nil else { return }
        for hint in maker.hintsAboutPrivateRuns { surroundings.say("hint: \(hint)") }
        surroundings.say(
            "hint: a device of another user, such as root, or with another MYNAH_AIR, is not heard here")
    }
}
