import MynahSupport

/// The end of a run, as something to wait for.
package final class Interruption: Sendable {
    /// The end of the run from outside.
    package enum Cause: Sendable {
        /// The user interrupts, and wants nothing of the run to be kept.
        case quit
        /// A shutdown or the like: what would be restored is kept.
        case terminated
    }

    private enum State {
        case waiting(CheckedContinuation<Void, Never>?)
        case interrupted(Cause?)
    }

    private let state = Lock<State>(.waiting(nil))

    /// One that has not happened.
    package init() {}

    /// Ends the run; without a cause, the run ends itself.
    package func interrupt(by cause: Cause? = nil) {
        let continuation: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard case .waiting(let continuation) = state else { return nil }
            state = .interrupted(cause)
            return continuation
        }
        continuation?.resume()
    }

    /// The cause from outside; `nil` if it has not happened, or the run ended itself.
    package var cause: Cause? {
        state.withLock { if case .interrupted(let cause) = $0 { cause } else { nil } }
    }

    /// `true` if the interruption has happened.
    package var isInterrupted: Bool {
        state.withLock { if case .interrupted = $0 { true } else { false } }
    }

    /// Returns when it happens; for one waiter.
    package func wait() async {
        await withCheckedContinuation { continuation in
            let isLate: Bool = state.withLock { state in
                guard case .waiting = state else { return true }
                state = .waiting(continuation)
                return false
            }
            if isLate { continuation.resume() }
        }
    }
}
