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
package struct RunTime: Sendable {
    /// The clock of everything in the run.
    package let clock: RunClock
    /// The air of the run, or `nil` with the machine's time.
    let air: PrivateAir?

    /// The machine's time.
    package static let real = RunTime(.real)

    /// The time that the user asks for; with virtual time, every random number follows from the seed.
    package init(_ choice: ClockChoice, seed: UInt64) {
        switch choice {
        case .real: self = .real
        case .fast, .manual:
            let time = VirtualTime(choice == .fast ? .fast : .manual)
            self.init(clock: RunClock(time), air: PrivateAir(seed: seed, time: time))
        }
    }

    /// The time of a clock, for radios on any air.
    package init(_ clock: RunClock) { self.init(clock: clock, air: nil) }

    private init(clock: RunClock, air: PrivateAir?) {
        (self.clock, self.air) = (clock, air)
    }

    /// Another air with the same time, or `nil` with the machine's time.
    func newAir(seed: UInt64) -> PrivateAir? {
        clock.virtual.map { PrivateAir(seed: seed, time: $0) }
    }

    /// The run stops, for which its time moves without a request.
    func release() { clock.virtual?.release() }

    /// The run is over: its time does not move any more.
    func end() { clock.virtual?.end() }
}
