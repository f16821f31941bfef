import MynahHCI
import MynahHost
package import MynahSupport

/// The user's choice of a clock for a run.
package enum ClockChoice: String, CaseIterable, Sendable {
    /// The real clock of the machine.
    case real
    /// Virtual time that jumps to the next event when nothing is left to do.
    case fast
    /// Virtual time that advances only during requests of the control API.
    case manual

    /// Whether the time is virtual.
    package var isVirtual: Bool { self != .real }
}

/// The clock of a run and, with virtual time, the air of its radios.
///
/// Several sessions may share it, at once or one after the other. Only the command that makes it calls
/// `end()`.
package struct RunTime: Sendable {
    /// The clock of everything in the run.
    package let clock: RunClock
    /// The air of the run, or `nil` without virtual time.
    let air: PrivateAir?
    /// The seed of all random numbers of the air, or `nil` without virtual time.
    package let seed: UInt64?

    /// The machine's time.
    package static let real = RunTime(.real)

    /// Makes the time for the user's choice; with virtual time, all random numbers follow from the seed.
    package init(_ choice: ClockChoice, seed: UInt64) {
        switch choice {
        case .real: self = .real
        case .fast, .manual:
            let time = VirtualTime(choice == .fast ? .fast : .manual)
            self.init(clock: RunClock(time), air: PrivateAir(seed: seed, time: time), seed: seed)
        }
    }

    /// Makes the time of a clock, for radios on any air.
    package init(_ clock: RunClock) { self.init(clock: clock, air: nil, seed: nil) }

    private init(clock: RunClock, air: PrivateAir?, seed: UInt64?) {
        (self.clock, self.air, self.seed) = (clock, air, seed)
    }

    /// The same clock, with a new air if the time is virtual.
    func anew(seed: UInt64) -> RunTime {
        guard let time = clock.virtual else { return self }
        return RunTime(clock: clock, air: PrivateAir(seed: seed, time: time), seed: seed)
    }

    /// Lets the time advance without a request, because the run is stopping.
    func release() { clock.virtual?.release() }

    /// Ends the time, which no longer advances, after all sessions have ended.
    package func end() { clock.virtual?.end() }
}

extension AirNote.Content {
    /// A hint for a user whose command receives nothing from the run.
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
