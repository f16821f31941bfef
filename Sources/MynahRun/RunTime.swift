import MynahHost
package import MynahSupport

/// The time of a run, as its user asks for it.
package enum ClockChoice: String, CaseIterable, Sendable {
    /// The machine's.
    case real
    /// A virtual time that jumps to the next event whenever nothing is left to do.
    case fast
}

/// The clock of a run and, with virtual time, the air that its radios are on.
///
/// The one who makes it also ends it: several sessions may share it, also one after the other.
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
        case .fast:
            let time = VirtualTime(.fast)
            self.init(clock: RunClock(time), air: PrivateAir(seed: seed, time: time), seed: seed)
        }
    }

    /// The time of a clock, for radios on any air.
    package init(_ clock: RunClock) { self.init(clock: clock, air: nil, seed: nil) }

    private init(clock: RunClock, air: PrivateAir?, seed: UInt64?) {
        (self.clock, self.air, self.seed) = (clock, air, seed)
    }

    /// Its sessions are over: the time does not move any more.
    package func end() { clock.virtual?.end() }
}
