import MynahHCI
import MynahHost
package import MynahSupport

/// The time of a run, as its user asks for it.
package enum ClockChoice: String, CaseIterable, Sendable {
    /// The machine's.
    case real
    /// A virtual time that jumps to the next event whenever nothing is left to do.
    case fast
    /// A virtual time that moves only while a request of the control API is carried out.
    case manual

    /// Whether time is virtual.
    package var isVirtual: Bool { self != .real }
}

/// The clock of a run and, with virtual time, the air that its radios are on.
///
/// Several sessions may share it, also one after the other. The command that makes it calls `end()`, and no
/// session does.
package struct RunTime: Sendable {
    /// The clock of everything in the run.
    package let clock: RunClock
    /// The air of the run, or `nil` with the machine's time.
    let air: PrivateAir?
    /// The seed of every random number of the air, or `nil` with the machine's time.
    package let seed: UInt64?

    /// The machine's time.
    package static let real = RunTime(.real)

    /// The time that the user asks for; with virtual time, every random number follows from the seed.
    package init(_ choice: ClockChoice, seed: UInt64) {
        switch choice {
        case .real: self = .real
        case .fast, .manual:
            let time = VirtualTime(choice == .fast ? .fast : .manual)
            self.init(clock: RunClock(time), air: PrivateAir(seed: seed, time: time), seed: seed)
        }
    }

    /// The time of a clock, for radios on any air.
    package init(_ clock: RunClock) { self.init(clock: clock, air: nil, seed: nil) }

    private init(clock: RunClock, air: PrivateAir?, seed: UInt64?) {
        (self.clock, self.air, self.seed) = (clock, air, seed)
    }

    /// The same time, with another air if it is virtual.
    func anew(seed: UInt64) -> RunTime {
        guard let time = clock.virtual else { return self }
        return RunTime(clock: clock, air: PrivateAir(seed: seed, time: time), seed: seed)
    }

    /// The run stops, for which its time moves without a request.
    func release() { clock.virtual?.release() }

    /// Ends the time, which does not move any more, as its sessions are over.
    package func end() { clock.virtual?.end() }
}

extension AirNote.Content {
    /// A hint for a user whose command hears nothing of the run.
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
