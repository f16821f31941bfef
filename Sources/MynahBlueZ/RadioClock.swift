/// The time for the radio's parts, from an arbitrary zero.
enum RadioClock {
    static var now: Duration { zero.duration(to: .now) }

    private static let zero = ContinuousClock.now
}
