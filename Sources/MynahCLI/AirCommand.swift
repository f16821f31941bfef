import ArgumentParser
import MynahConsole
import MynahCore
import MynahEmulator
import MynahHCI
import MynahProfiles
import MynahRun
import MynahSupport

import Glibc

/// `mynah air`.
struct AirCommand: StagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "air",
        abstract: "Gives other hosts controllers on the virtual radio.",
        discussion: """
            Each host gets a controller of its own, with an address of its own, on the radio that mynah run \
            --radio virtual plays on. Hosts connect with H4: Bumble, BTstack, NimBLE, Zephyr's native_sim, a \
            serial port of a virtual machine. --vhci gives this machine an adapter instead, which BlueZ and \
            every program above it can use. It runs until Ctrl-C.

            A host that does not speak H4, does not read, sends packets in parts or does not wait for \
            answers is sent away, and the event host.left says why. The others go on.
            """)

    @Option(
        help: ArgumentHelp(
            """
            Where hosts connect: tcp:HOST:PORT, tcp:PORT or unix:PATH. Any program that can connect can use \
            the radio, so HOST is this machine unless you name another. Port 0 is a free one, which ready \
            names. Repeatable. Default: tcp:127.0.0.1:6402, or none with --vhci.
            """, valueName: "place"),
        transform: { text in
            do throws(RadioError) {
                return try HCITransportAddress(listeningAt: text)
            } catch {
                throw ValidationError("\(error)")
            }
        })
    var listen: [HCITransportAddress] = []

    @Flag(
        help: """
            Gives this machine an adapter hciN through /dev/vhci, which needs root and the module hci_vhci. \
            Repeat it for more.
            """)
    var vhci: Int

    @Option(
        help: ArgumentHelp(
            """
            The public address of the first controller; each further one has the next number. A host that \
            comes back gets the lowest that is free. Default: random.
            """, valueName: "AA:BB:CC:DD:EE:FF"),
        transform: { text in
            guard let address = DeviceAddress(text, kind: .public), address.value != 0 else {
                throw ValidationError("write an address as in C0:DE:00:00:00:01")
            }
            return address
        })
    var address: DeviceAddress?

    @Option(help: "The name of hosts in events and captures, before their number. Default: host.")
    var name: String = AirPlan.usualName

    @Option(
        help: ArgumentHelp(
            "\(DeviceSide.captureHelp)".replacing("virtual, netsim and hci only. ", with: ""),
            valueName: "file.pcapng"),
        completion: CaptureTarget.completion, transform: CaptureTarget.parse)
    var capture: CaptureTarget?

    @Option(
        help: "text (the default), json (one object a line) or off.",
        completion: Choice.completion(of: EventFormat.self), transform: Choice.parse)
    var events: EventFormat?

    @Option(
        help: "real, the machine's time: other hosts know no other.",
        completion: .list([ClockChoice.real.rawValue]), transform: Choice.parse)
    var clock: ClockChoice = .real

    @Option(
        name: .customLong("log-level"),
        help: "trace, debug, info, notice, warning (the default) or error. Logs go to standard error.",
        completion: Choice.completion(of: LogLevel.self), transform: Choice.parse)
    var logLevel: LogLevel = .warning

    @Flag(
        help: "Ends as SIGTERM would end it when the process that started it has ended, however that ended.")
    var withParent = false

    @Option(
        help: ArgumentHelp(
            "Ends as SIGTERM would end it when the other end of this pipe or socket is closed.",
            valueName: "descriptor"),
        transform: ParentOptions.pipe)
    var withPipe: Int32?

    /// The error for options that cannot be combined, or `nil` if these can be.
    private var misuse: String? {
        guard clock == .real else {
            return "--clock \(clock.rawValue) has a time of its own, which other hosts do not know"
        }
        return capture?.problem(with: events)
    }

    private var plan: AirPlan {
        var plan = AirPlan(address: address)
        plan.places = listen.isEmpty && vhci == 0 ? [AirPlan.usualPlace] : listen
        plan.adapterCount = vhci
        plan.name = name
        return plan
    }

    func play(in surroundings: Surroundings) async throws {
        if let misuse { throw Exit.wrongUsage(misuse, of: Self.self) }
        let format = events ?? (capture == .standardOutput ? .off : .text)
        // Nobody would learn where it listens.
        if format != .off, Descriptor.isOutputClosed {
            throw Exit.failure("standard output is closed; open it, or choose --events off")
        }
        _ = surroundings.hearSignals()
        ParentOptions(withParent: withParent, withPipe: withPipe).follow(in: surroundings)
        surroundings.beginLogs(logLevel)
        let output = AirOutput(format, in: surroundings)
        let recorder = capture.map { target in
            Capture(
                target, version: MynahCommand.configuration.version,
                reports: CaptureFile.Reports(
                    warn: { surroundings.say($0) }, fail: { surroundings.say("error: \($0)") }))
        }
        let session = AirSession(plan, capture: recorder, until: surroundings.interruption) {
            output.observe($0)
        }
        let failure = await session.play()
        output.end()
        if let problem = output.problem { throw Exit.unwritable(problem) }
        if let failure { throw Exit.failure("\(failure)") }
        try Exit.check(capture: session.captureFailure, isSaid: true)
    }
}

/// Prints the events of `mynah air`, and the commands with which the user can use its controllers.
private final class AirOutput: Sendable {
    private let format: EventFormat
    private let surroundings: Surroundings
    private let output: EventOutput?

    init(_ format: EventFormat, in surroundings: Surroundings) {
        self.format = format
        self.surroundings = surroundings
        output = format == .off ? nil : surroundings.eventOutput()
    }

    var problem: String? { output?.problem }

    func observe(_ event: DeviceEvent) {
        switch format {
        case .off: if event.name == .warning { surroundings.say(EventText.line(of: event)) }
        case .json: write(event.json.text)
        case .text: write(EventText.line(of: event))
        }
        guard format == .text, case .ready(let ready) = event.payload else { return }
        for hint in Self.hints(about: ready) { surroundings.say("hint: \(hint)") }
    }

    private func write(_ line: String) { output?.write(Array((line + "\n").utf8)) }

    /// The commands that the user can type next, each in a new terminal.
    private static func hints(about ready: EventPayload.Ready) -> [String] {
        // Root has an air of its own.
        let isRoot = geteuid() == 0 && getenv("SUDO_USER") != nil
        let device = "a device for its hosts: \(isRoot ? "sudo " : "")mynah run PROFILE --radio virtual"
        guard let adapters = ready.adapters else { return [device] }
        return [device, "\(adapters[0]) finds it: bluetoothctl scan le"]
    }

    func end() { output?.flush() }
}
