import ArgumentParser

/// The options that scan and connect share.
struct PhoneOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            auto, virtual, netsim[:instance=N] or hci:TRANSPORT. auto, the default, takes the radio of a running Android \
            emulator, else virtual, the radio that this user's processes share.
            """, valueName: "radio"),
        completion: RadioChoice.phoneCompletion, transform: RadioChoice.parseForPhone)
    var radio: RadioChoice = .auto

    @Option(
        help: ArgumentHelp(
            "Records HCI packets, and the air of the virtual radio, for Wireshark. The file contains pairing keys.",
            valueName: "file.pcapng"),
        completion: CaptureTarget.completion, transform: CaptureTarget.parse)
    var capture: CaptureTarget?

    @OptionGroup var log: LogOptions
}

/// The option that every command with a radio has.
struct LogOptions: ParsableArguments {
    @Option(
        name: .customLong("log-level"),
        help: "trace, debug, info, notice, warning (the default) or error. Logs go to standard error.",
        completion: Choice.completion(of: LogLevel.self), transform: Choice.parse)
    var level: LogLevel = .warning
}
