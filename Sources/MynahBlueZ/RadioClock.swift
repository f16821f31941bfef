/// The clock of the radio's parts; the time counts from an arbitrary instant.
enum RadioClock {
    static var now: Duration { zero.duration(to: .now) }

    private static let zero = ContinuousClock.now
}
