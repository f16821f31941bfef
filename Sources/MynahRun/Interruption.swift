import MynahSupport

/// The end of a run, for which one caller can wait.
package final class Interruption: Sendable {
    /// The reason that a run is ended from outside.
    package enum Cause: Sendable {
        /// The user ends the run, and nothing is preserved.
        case quit
        /// The system ends the run, for example to shut down; the state that would be restored is preserved.
        case terminated
    }

    private enum State {
        case waiting(CheckedContinuation<Void, Never>?)
        case interrupted(Cause?)
    }

    private let state = Lock<State>(.waiting(nil))

    /// Begins without an interruption.
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

    /// The reason that the run was ended from outside, or `nil` if it was not.
    package var cause: Cause? {
        state.withLock { if case .interrupted(let cause) = $0 { cause } else { nil } }
    }

    /// `true` after the interruption.
    package var isInterrupted: Bool {
        state.withLock { if case .interrupted = $0 { true } else { false } }
    }

    /// Waits for the interruption; only one caller can wait.
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
