import MynahLifecycle

/// A moment on an app's clock.
struct AppInstant: InstantProtocol {
    var offset: Duration

    func advanced(by duration: Duration) -> AppInstant { AppInstant(offset: offset + duration) }
    func duration(to other: AppInstant) -> Duration { other.offset - offset }
    static func < (left: AppInstant, right: AppInstant) -> Bool { left.offset < right.offset }
}

/// Any clock, so that what is timed need not be generic over it.
struct AppClock: Sendable {
    private let read: @Sendable () -> Duration
    private let wait: @Sendable (Duration) async throws -> Void

    init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let start = clock.now
        read = { start.duration(to: clock.now) }
        wait = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
    }

    var now: AppInstant { AppInstant(offset: read()) }

    func sleep(until instant: AppInstant) async throws {
        try await wait(instant.offset)
    }
}
