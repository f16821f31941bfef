/// The clock of an air, which follows the system's clock.
///
/// The clock stops while the process is stopped or gets no processor time. Otherwise all of its links would
/// end with a supervision timeout that no peer caused.
struct AirClock: Sendable {
    /// The longest time by which an event may be late before the clock stops, in microseconds.
    static let patience: Int64 = 100_000

    /// The time of the system's clock at which the air began, in microseconds.
    ///
    /// The time for which the air's clock has stopped is added to it.
    private(set) var start: Int64

    init(start: Int64) {
        self.start = start
    }

    /// The time on the air for a time of the system's clock, if the next event is due at `due`.
    mutating func time(at now: Int64, due: AirTime?) -> AirTime {
        let time = AirTime(microseconds: now &- start)
        guard let due, time - due > Self.patience else { return time }
        start = start &+ (time - due - Self.patience)
        return due + Self.patience
    }
}
