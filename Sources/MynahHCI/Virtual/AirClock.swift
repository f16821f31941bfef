/// The system's clock as an air lives by it.
///
/// A process that was stopped, or had no processor, has not lived through the time: its links would all end
/// for a silence that was its own.
struct AirClock: Sendable {
    /// How late it may be without the time standing still, in microseconds.
    static let patience: Int64 = 100_000

    /// When the air began, in microseconds of the system's clock; later with each time that it stood still.
    private(set) var start: Int64

    init(start: Int64) {
        self.start = start
    }

    /// What time it is on the air, on which something is due, when the system's clock says this.
    mutating func time(at now: Int64, due: AirTime?) -> AirTime {
        let time = AirTime(microseconds: now &- start)
        guard let due, time - due > Self.patience else { return time }
        start = start &+ (time - due - Self.patience)
        return due + Self.patience
    }
}
