/// A time that advances only when a run has no work left, and the executor of that run.
///
/// All work, deadlines and requests from outside are carried out on one executor, in an order that depends
/// only on the run. So two runs with the same input have the same history.
///
/// A request is work that code outside of the run passes to `carryOut`.
package struct VirtualTime: Sendable {
    /// The rule for when the time advances.
    package enum Pace: String, Sendable {
        /// Time jumps to the next deadline whenever no work is left.
        case fast
        /// Time advances as with `fast`, but only during a request from outside.
        case manual
    }

    private let timeline: Timeline
    /// The executor of everything in the run.
    package let executor: RunExecutor

    /// Makes a virtual time, beginning at zero.
    package init(_ pace: Pace) {
        timeline = Timeline(pace)
        executor = RunExecutor(timeline: timeline)
    }

    /// The rule for when the time advances.
    package var pace: Pace { timeline.pace }
    /// The last time that can be represented, 292 years after the beginning.
    ///
    /// Work that is scheduled for this time is never done.
    package static let end = Duration.nanoseconds(Int64.max)
    /// The time since the beginning.
    package var now: Duration { .nanoseconds(timeline.now) }
    /// The time since the beginning, in whole microseconds.
    package var microseconds: Int64 { timeline.now / 1000 }

    /// Schedules a call of `body` on the executor, at a time since the beginning.
    ///
    /// The result can be passed to `cancel`.
    @discardableResult
    package func schedule(at due: Duration, _ body: @escaping @Sendable () -> Void) -> UInt64 {
        let token = timeline.add(at: Self.nanoseconds(due), body)
        wake()
        return token
    }

    /// Cancels a scheduled call.
    package func cancel(_ token: UInt64) { timeline.cancel(token) }

    /// Sleeps until a time since the beginning; throws `CancellationError` if the task is cancelled or the
    /// run is over.
    package func sleep(until due: Duration) async throws {
        let (token, due) = (timeline.reserve(), Self.nanoseconds(due))
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { sleeper in
                timeline.sleep(token, until: due, sleeper)
                wake()
            }
        } onCancel: {
            timeline.cancel(token)
        }
    }

    /// Queues work from outside of the run, and returns its result.
    ///
    /// The work begins when the run has no work left and all earlier requests are done. The time then
    /// advances as far as the work needs. The result is returned when the run has no more work at that time.
    ///
    /// If the calling task is cancelled, so is the work, even if its turn comes later. Work that takes longer
    /// than `limit`, in the machine's time, is also cancelled, so that other requests get their turn;
    /// `isOverdue` is then `true`.
    package func carryOut<Value: Sendable>(
        within limit: Duration? = nil, _ body: @escaping @Sendable () async -> Value
    ) async -> Value {
        let request = Lock((cancel: nil as (@Sendable () -> Void)?, isCancelled: false))
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                timeline.add { [timeline, executor] in
                    let task = Task(executorPreference: executor) {
                        let value = await body()
                        timeline.finish { continuation.resume(returning: value) }
                    }
                    let isCancelled = request.withLock { request in
                        request.cancel = { task.cancel() }
                        return request.isCancelled
                    }
                    if isCancelled { task.cancel() }
                    if let limit { timeline.limitRequest(to: limit) { task.cancel() } }
                }
                wake()
            }
        } onCancel: {
            let cancel = request.withLock { request in
                request.isCancelled = true
                return request.cancel
            }
            cancel?()
        }
    }

    /// Waits for something outside of the run, and stops the virtual time meanwhile.
    package func waitOutside<Value, Failure: Error>(
        _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        timeline.hold()
        defer {
            timeline.endHold()
            wake()
        }
        return try await body()
    }

    /// Whether the current work of `carryOut` was cancelled at its limit.
    package var isOverdue: Bool { timeline.isOverdue }

    /// Sleeps for a duration inside the work of `carryOut`; returns the time that has passed.
    ///
    /// The result is shorter than `duration` if the task is cancelled, if the run ends, or if the time
    /// reaches `end`.
    package func advance(by duration: Duration) async -> Duration {
        let start = timeline.now
        let due = start.addingClamped(Self.nanoseconds(duration))
        try? await sleep(until: .nanoseconds(min(due, .max - 1)))
        return .nanoseconds(timeline.now - start)
    }

    /// Lets the time move without a request from now on, so that the run can stop.
    package func release() {
        timeline.release()
        wake()
    }

    /// Sets the time to zero, removes all deadlines, and cancels sleeping tasks.
    package func restart() { timeline.restart() }

    /// Whether the run is over.
    package var isOver: Bool { timeline.isOver }

    /// Ends the run: the time no longer advances, and sleeping tasks are cancelled.
    package func end() {
        timeline.end()
        wake()
    }

    /// Starts the executor, if it is idle, so that it carries out the next step of the timeline.
    private func wake() {
        if executor.isIsolatingCurrentContext() != true { executor.perform {} }
    }

    /// A duration in nanoseconds, rounded up and clamped to the range of the type.
    private static func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        let (product, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !isTooLarge else { return seconds < 0 ? .min : .max }
        return product.addingClamped((attoseconds + 999_999_999) / 1_000_000_000)
    }
}

extension Int64 {
    /// The sum, clamped to the range of the type.
    fileprivate func addingClamped(_ other: Int64) -> Int64 {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? (other < 0 ? .min : .max) : sum
    }
}
