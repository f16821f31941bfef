import ArgumentParser
import MynahHCI
import MynahRun

/// The options about the time of a run and what repeats in it.
struct TimeOptions: ParsableArguments {
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
        help: ArgumentHelp(
            """
            real: the machine's time. fast: virtual time, which jumps to the next event, so that an hour \
            takes seconds; for run only, with an option that ends it. manual: virtual time, which moves with \
            the requests to --control only, such as mynah ctl advance. Both need the virtual radio, and no \
            other process is on their air. With --seed, two runs print the same events at the same times. \
            Default: real.
            """),
        completion: Choice.completion(of: ClockChoice.self), transform: Choice.parse)
    var clock: ClockChoice = .real
}

extension ClockChoice {
    /// Leaves a note about a run of these devices, whose air no other process can join; `nil` if it has no
    /// such air.
    func note(about devices: String) -> (@Sendable () -> AirNote?)? {
        guard isVirtual else { return nil }
        let content = AirNote.Content(clock: rawValue, devices: devices)
        return { AirNote.leave(content) }
    }
}
