import MynahSupport

/// A clock whose time moves only when a test says so.
package final class ManualClock: Clock {
    /// A moment, counted from when the clock was made.
    package struct Instant: InstantProtocol {
        package var offset: Duration

        package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Duration { other.offset - offset }
        package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        var number: Int
        var deadline: Instant
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleepers: [Sleeper] = []
        var lastNumber = 0
        var waiting: [(count: Int, waiter: Waiter<Void>)] = []
        var cancelled: Set<Int> = []
    }

    private let state = Lock(State())

    package init() {}

    package var now: Instant { state.withLock { $0.now } }
    package var minimumResolution: Duration { .nanoseconds(1) }

    /// How many sleep now.
    package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// How long those who sleep now have yet to sleep.
    package var pauses: [Duration] {
        state.withLock { state in state.sleepers.map { state.now.duration(to: $0.deadline) } }
    }

    package func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                lieDown(Sleeper(number: number, deadline: deadline, continuation: continuation))
            }
        } onCancel: {
            let sleeper: Sleeper? = state.withLock { state in
                guard let index = state.sleepers.firstIndex(where: { $0.number == number }) else {
                    state.cancelled.insert(number)
                    return nil
                }
                return state.sleepers.remove(at: index)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    private func lieDown(_ sleeper: Sleeper) {
        enum Outcome {
            case sleeps([Waiter<Void>])
            case isDue
            case isCancelled
        }
        let outcome: Outcome = state.withLock { state in
            if state.cancelled.remove(sleeper.number) != nil { return .isCancelled }
            if sleeper.deadline <= state.now { return .isDue }
            state.sleepers.append(sleeper)
            let count = state.sleepers.count
            let told = state.waiting.filter { $0.count <= count }.map(\.waiter)
            state.waiting.removeAll { $0.count <= count }
            return .sleeps(told)
        }
        switch outcome {
        case .sleeps(let told): for waiter in told { waiter.resume() }
        case .isDue: sleeper.continuation.resume()
        case .isCancelled: sleeper.continuation.resume(throwing: CancellationError())
        }
    }

    /// Moves the time on and wakes those whose deadline it reaches, the earliest first.
    package func advance(by duration: Duration) {
        precondition(duration >= .zero, "time does not run backwards")
        let woken: [Sleeper] = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let now = state.now
            let woken = state.sleepers.filter { $0.deadline <= now }
            state.sleepers.removeAll { $0.deadline <= now }
            return woken.sorted { ($0.deadline, $0.number) < ($1.deadline, $1.number) }
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }

    /// Returns when at least this many sleep at once.
    package func waitForSleepers(_ count: Int) async throws {
        try await waiting(for: "\(count) sleepers on the manual clock") { waiter in
            let isSo: Bool = state.withLock { state in
                if state.sleepers.count >= count { return true }
                state.waiting.append((count, waiter))
                return false
            }
            if isSo { waiter.resume() }
        }
    }
}
