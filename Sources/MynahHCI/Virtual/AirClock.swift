/// The system's clock, as the air uses it.
///
/// The clock stops while a process is stopped or gets no processor time. Otherwise all of its links
/// would end with a supervision timeout that no peer caused.
struct AirClock: Sendable {
    /// How late it may be without the time standing still, in microseconds.
    static let patience: Int64 = 100_000

    /// When the air began, in microseconds of the system's clock; later with each time that it stood still.
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
