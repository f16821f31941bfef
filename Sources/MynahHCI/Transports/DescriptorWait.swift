import MynahSupport

/// A wait for a descriptor that can be cancelled; only one caller can wait at a time.
final class DescriptorWait: Sendable {
    enum Outcome: Sendable {
        case ready
        case timedOut
        case cancelled
    }

    private struct State {
        var isCancelled = false
        var continuation: CheckedContinuation<Outcome, Never>?
        var watch: EventLoop.Watch?
        var alarm: EventLoop.Alarm?
    }

    private let state = Lock(State())

    /// Waits until the descriptor is ready, or until a number of microseconds has elapsed.
    ///
    /// The call also returns when the wait or its task is cancelled.
    func wait(for descriptor: Int32, _ interest: EventLoop.Interest, microseconds: Int64? = nil) async
        -> Outcome
    {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if state.isCancelled { return true }
                    state.continuation = continuation
                    state.watch = EventLoop.shared.watch(descriptor, interest) { [weak self] _ in
                        self?.finish(.ready)
                    }
                    if let microseconds {
                        let alarm = EventLoop.shared.alarm { [weak self] in self?.finish(.timedOut) }
                        EventLoop.shared.set(alarm, by: EventLoop.now &+ microseconds)
                        state.alarm = alarm
                    }
                    return false
                }
                if isCancelled { continuation.resume(returning: .cancelled) }
            }
        } onCancel: {
            finish(.cancelled)
        }
    }

    /// Cancels the current wait, or the next one if nobody is waiting.
    func cancel() { finish(.cancelled) }

    private func finish(_ outcome: Outcome) {
        let continuation = state.withLock { state in
            if outcome == .cancelled { state.isCancelled = true }
            if let watch = state.watch { EventLoop.shared.remove(watch) }
            if let alarm = state.alarm { EventLoop.shared.remove(alarm) }
            defer {
                state.continuation = nil
                state.watch = nil
                state.alarm = nil
            }
            return state.continuation
        }
        continuation?.resume(returning: outcome)
    }
}
