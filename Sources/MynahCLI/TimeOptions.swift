import ArgumentParser
import Mynah
import MynahControl
import MynahCore
import MynahHCI
import MynahRun
import MynahSupport

/// The options for the clock of a run, and for the seed that makes the run reproducible.
struct TimeOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
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

    /// The clock and the seed of a run with these options.
    func time(in surroundings: Surroundings) -> RunTime { surroundings.time(clock, seed: seed) }

    /// The seed of a run: the user's or, with virtual time, a random one; otherwise `nil`.
    func seed(in time: RunTime) -> UInt64? { seed ?? time.seed }

    /// Returns a function that writes an `AirNote`, in which other processes read that the run has virtual
    /// time.
    ///
    /// Returns `nil` if the run has real time.
    private func note(about plan: RunPlan) -> (@Sendable () -> AirNote?)? {
        guard clock.isVirtual else { return nil }
        let devices = plan.isServer ? "mynah serve" : NameList.text(plan.names)
        let content = AirNote.Content(clock: clock.rawValue, devices: devices)
        return { AirNote.leave(content) }
    }

    /// Adds the state directory, the control API and the note to a plan.
    func complete(
        _ plan: inout RunPlan, in time: RunTime, stateDir: String?, _ control: ControlOptions
    ) throws {
        plan.stateDirectory = try Exit.reportingErrors { () throws(RadioError) in
            try stateDir.map { path throws(RadioError) in try StateDirectory(path: path, clock: time.clock) }
        }
        plan.control = try Exit.reportingErrors { [isServer = plan.isServer] () throws(ControlError) in
            try control.plan(isServer: isServer)
        }
        plan.leaveNote = note(about: plan)
    }
}
