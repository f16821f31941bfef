/// The clock of the radio's parts, which counts from an arbitrary time.
enum RadioClock {
    static var now: Duration { zero.duration(to: .now) }

    private static let zero = ContinuousClock.now
}
