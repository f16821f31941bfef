import MynahSupport

/// The signal that ends a run, for which one caller can wait.
package final class Interruption: Sendable {
    /// The reason that a run is ended from outside.
    package enum Cause: Sendable {
        /// The user ends the run, and app state is not preserved.
        case quit
        /// The system ends the run, for example at shutdown, and app state is preserved for restoration.
        case terminated
    }

    private enum State {
        case waiting(CheckedContinuation<Void, Never>?)
        case interrupted(Cause?)
    }

    private let state = Lock<State>(.waiting(nil))

    /// Makes an interruption that has not happened yet.
    package init() {}

    /// Ends the run; `cause` is `nil` if the run ends itself.
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

    /// Whether the interruption has happened.
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
