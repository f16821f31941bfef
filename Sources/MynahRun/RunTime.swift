import MynahHCI
import MynahHost
package import MynahSupport

/// The user's choice of a clock for a run.
package enum ClockChoice: String, CaseIterable, Sendable {
    /// The real clock of the machine.
    case real
    /// Virtual time that jumps to the next event when no work is left.
    case fast
    /// Virtual time that advances only during requests of the control API.
    case manual

    /// Whether the time is virtual.
    package var isVirtual: Bool { self != .real }
}

/// The clock of a run and, with virtual time, the simulated medium of its radios, called the air.
///
/// Several sessions may share it, at once or one after the other. Only the command that makes it calls
/// `end()`.
package struct RunTime: Sendable {
    /// The clock of everything in the run.
    package let clock: RunClock
    /// The air of the run, or `nil` with the machine's time.
    let air: PrivateAir?
    /// The seed of all random numbers on the air, or `nil` with the machine's time.
    package let seed: UInt64?

    /// The time of the machine.
    package static let real = RunTime(.real)

    /// Makes the time for a choice of clock; with virtual time, all random numbers are derived from the seed.
    package init(_ choice: ClockChoice, seed: UInt64) {
        switch choice {
        case .real: self = .real
        case .fast, .manual:
            let time = VirtualTime(choice == .fast ? .fast : .manual)
            self.init(clock: RunClock(time), air: PrivateAir(seed: seed, time: time), seed: seed)
        }
    }

    /// Makes a time with this clock and without an air of its own.
    package init(_ clock: RunClock) { self.init(clock: clock, air: nil, seed: nil) }

    private init(clock: RunClock, air: PrivateAir?, seed: UInt64?) {
        (self.clock, self.air, self.seed) = (clock, air, seed)
    }

    /// Returns the same virtual clock with a new air, or this time itself if it is the machine's time.
    func anew(seed: UInt64) -> RunTime {
        guard let time = clock.virtual else { return self }
        return RunTime(clock: clock, air: PrivateAir(seed: seed, time: time), seed: seed)
    }

    /// Lets virtual time advance without requests; called when the run is stopping.
    func release() { clock.virtual?.release() }

    /// Ends virtual time, which then no longer advances; call this after all sessions have ended.
    package func end() { clock.virtual?.end() }
}

extension AirNote.Content {
    /// A hint for the user of another command, to which the devices of a run with virtual time are not
    /// audible.
    var hint: String {
        let way =
            clock == ClockChoice.manual.rawValue
            ? "which no other process can join: add a device to it with `mynah ctl add`, such as an app"
            : "and nobody can join it while it plays: start it with the phone, as an app"
        return """
            the run of \(devices) (process \(process)) has --clock \(clock), and so a time and an air of its \
            own, \(way) with central:, or play it with --clock real
            """
    }
}
