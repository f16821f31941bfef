import MynahRun
import ArgumentParser

/// The options of every command that uses a radio, with those that end the command with its parent process.
///
/// Groups of options are not nested: at each parse, debug builds check a group's options 25 times, and a
/// nested group's 125 times.
struct RadioOptions<Side: RadioSide>: ParsableArguments {
    @Option(
        help: ArgumentHelp("\(Side.radioHelp)", valueName: "radio"), completion: Side.completion,
        transform: Side.parse)
    var radio: RadioChoice = .auto

    @Option(
        help: ArgumentHelp("\(Side.captureHelp)", valueName: "file.pcapng"),
        completion: CaptureTarget.completion, transform: CaptureTarget.parse)
    var capture: CaptureTarget?

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
            """
            Ends as SIGTERM would end it when the other end of this pipe or socket is closed: the number of \
            an open descriptor. Nothing is read from it. A process that ends closes what it has open, so it \
            also ends with one that started it and ended before it could look, which --with-parent may miss.
            """, valueName: "descriptor"),
        transform: ParentOptions.pipe)
    var withPipe: Int32?

    var parent: ParentOptions { ParentOptions(withParent: withParent, withPipe: withPipe) }
}

/// The role of a command, which determines the possible values of `--radio` and `--capture`.
protocol RadioSide {
    static var radioHelp: String { get }
    static var captureHelp: String { get }
    static var completion: CompletionKind { get }
    static var parse: @Sendable (String) throws -> RadioChoice { get }
}

/// A command that plays a device, or a phone with apps.
enum DeviceSide: RadioSide {
    static let radioHelp = """
        auto, bluez, virtual, netsim[:instance=N] or hci:TRANSPORT. auto, the default, takes BlueZ if \
        there is an adapter, else the radio of a running Android emulator, else virtual, the radio that \
        this user's processes share. netsim waits up to 30 s for an emulator. TRANSPORT is one of \
        \(RadioChoice.transports).
        """
    static let captureHelp = """
        virtual, netsim and hci only. \(PhoneSide.captureHelp) - writes it to standard output and turns \
        events off.
        """
    static let completion = RadioChoice.completion

    static let parse: @Sendable (String) throws -> RadioChoice = { try RadioChoice.parse($0) }
}

/// A command that plays a phone that scans and connects, which BlueZ does not support.
enum PhoneSide: RadioSide {
    static let radioHelp = """
        auto, virtual, netsim[:instance=N] or hci:TRANSPORT. auto, the default, takes the radio of a \
        running Android emulator, else virtual, the radio that this user's processes share.
        """
    static let captureHelp = """
        Records HCI packets, and the air of the virtual radio, for Wireshark. The file contains pairing \
        keys.
        """
    static let completion = RadioChoice.phoneCompletion

    static let parse: @Sendable (String) throws -> RadioChoice = { try RadioChoice.parseForPhone($0) }
}
