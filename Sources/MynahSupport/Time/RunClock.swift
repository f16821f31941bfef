import Glibc

/// The clock of a run: the machine's clock, or virtual time.
///
/// A run is everything that one process emulates. All of it takes its time, its pauses and the executor of
/// its tasks from this clock.
package struct RunClock: Clock {
    /// A point in time, counted from the beginning of the clock.
    package struct Instant: InstantProtocol {
        /// The time since the beginning of the clock.
        package var offset: Duration

        /// Makes the instant at a time after the beginning.
        package init(offset: Duration) { self.offset = offset }

        /// The instant that is later by a duration.
        package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// The time from this instant to another.
        package func duration(to other: Instant) -> Duration { other.offset - offset }
        /// Whether the left instant is before the right one.
        package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private enum Source: Sendable {
        case machine
        case virtual(VirtualTime)
        /// Another clock, as two functions: one returns the time since this case was made, the other sleeps
        /// until such a time.
        case other(@Sendable () -> Duration, @Sendable (Duration) async throws -> Void)
    }

    private let source: Source

    /// The clock of the machine.
    package static let real = RunClock(.machine)

    private init(_ source: Source) { self.source = source }

    /// Makes a clock with virtual time.
    package init(_ time: VirtualTime) { self.init(.virtual(time)) }

    /// Makes a run clock from any other clock.
    package init<C: Clock>(_ clock: C) where C.Duration == Duration {
        switch clock {
        case let clock as RunClock: self = clock
        case is ContinuousClock: self = .real
        default:
            let start = clock.now
            self.init(
                .other(
                    { start.duration(to: clock.now) },
                    { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }))
        }
    }

    /// The virtual time of the clock, or `nil` if it has another source.
    package var virtual: VirtualTime? {
        if case .virtual(let time) = source { time } else { nil }
    }

    private static let start = ContinuousClock.now

    /// The current time.
    package var now: Instant {
        switch source {
        case .machine: Instant(offset: Self.start.duration(to: .now))
        case .virtual(let time): Instant(offset: time.now)
        case .other(let now, _): Instant(offset: now())
        }
    }

    /// The shortest duration that the clock can measure.
    package var minimumResolution: Duration { .nanoseconds(1) }

    /// Sleeps until a time; throws `CancellationError` if the task is cancelled.
    package func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        switch source {
        case .machine:
            try await ContinuousClock().sleep(
                until: Self.start.advanced(by: deadline.offset), tolerance: tolerance)
        case .virtual(let time): try await time.sleep(until: deadline.offset)
        case .other(_, let sleep): try await sleep(deadline.offset)
        }
    }

    /// The virtual time if its pace is `manual`, or `nil` for other clocks.
    package var manual: VirtualTime? {
        if let virtual, virtual.pace == .manual { virtual } else { nil }
    }

    /// The value of the option `--clock` that selects this clock.
    package var name: String { virtual?.pace.rawValue ?? "real" }

    /// Carries out work that code outside of the run requests, such as a user's command, and returns its
    /// result.
    ///
    /// With a `manual` clock the work is queued as a request; otherwise it runs directly in this call.
    package func carryOut<Value: Sendable>(
        _ body: @escaping @Sendable () async -> Value
    ) async -> Value {
        guard let manual else { return await body() }
        return await manual.carryOut(body)
    }

    /// The executor that all tasks of a run must prefer if its time is virtual, or `nil` for other clocks.
    package var taskExecutor: (any TaskExecutor)? { virtual?.executor }

    /// The calendar time at which virtual time begins: 2026-01-01T00:00:00Z, in seconds since 1970.
    package static let virtualStart: Int64 = 1_767_225_600

    /// The calendar time, in microseconds since 1970 in UTC.
    package var wallMicroseconds: Int64 {
        if let virtual { return Self.virtualStart * 1_000_000 + virtual.microseconds }
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    /// Runs `body` after a delay, outside of any actor.
    package func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
        let due = now.advanced(by: delay)
        Task(executorPreference: taskExecutor) {
            if (try? await sleep(until: due)) != nil { body() }
        }
    }
}
