import MynahSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The signals that end a run, as something to wait for.
final class Interruption: Sendable {
    private enum State {
        case waiting(CheckedContinuation<Void, Never>?)
        case interrupted
    }

    private let state = Lock<State>(.waiting(nil))

    /// Must be made before any other thread: each inherits the blocked signals.
    init() {
        signal(SIGPIPE, SIG_IGN)
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        var thread = pthread_t()
        let box = Unmanaged.passRetained(self)
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                let interruption = Unmanaged<Interruption>.fromOpaque(context).takeRetainedValue()
                var signals = sigset_t()
                sigemptyset(&signals)
                for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, number) }
                var number: Int32 = 0
                sigwait(&signals, &number)
                interruption.interrupt()
                // A second signal ends the process at once, whatever is still being withdrawn.
                sigwait(&signals, &number)
                _exit(128 + number)
            }, box.toOpaque())
        precondition(code == 0, "the signal thread could not be started")
        pthread_detach(thread)
    }

    /// Ends the run as a signal would.
    func interrupt() {
        let continuation: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard case .waiting(let continuation) = state else { return nil }
            state = .interrupted
            return continuation
        }
        continuation?.resume()
    }

    /// Whether it has happened.
    var isInterrupted: Bool {
        state.withLock { if case .interrupted = $0 { true } else { false } }
    }

    /// Returns when it happens; for one waiter.
    func wait() async {
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
