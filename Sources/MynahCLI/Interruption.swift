import MynahSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

// Any thread may be the one that the kernel interrupts: Dispatch keeps one that has every signal open, so that blocking
// them elsewhere and waiting for them would end the process. The handler writes the signal's number into this pipe.
private let arrivals: (read: Int32, write: Int32) = {
    var ends: [Int32] = [-1, -1]
    return pipe(&ends) == 0 ? (ends[0], ends[1]) : (-1, -1)
}()

private func tellOfArrival(_ number: Int32) {
    let before = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(arrivals.write, &byte, 1)
    errno = before
}

private func nextArrival() -> Int32 {
    var byte: UInt8 = 0
    while read(arrivals.read, &byte, 1) != 1 {}
    return Int32(byte)
}

/// The signals that end a run, as something to wait for.
final class Interruption: Sendable {
    private enum State {
        case waiting(CheckedContinuation<Void, Never>?)
        case interrupted(signal: Int32?)
    }

    private let state = Lock<State>(.waiting(nil))
    private let lastWork = Lock<(@Sendable () -> Void)?>(nil)

    init() {
        signal(SIGPIPE, SIG_IGN)
        let ends = arrivals
        precondition(ends.read >= 0, "no pipe for signals could be made")
        for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, tellOfArrival) }
        var thread = pthread_t()
        let box = Unmanaged.passRetained(self)
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                let interruption = Unmanaged<Interruption>.fromOpaque(context).takeRetainedValue()
                interruption.interrupt(by: nextArrival())
                // A second signal ends the process at once, whatever is still being withdrawn.
                let number = nextArrival()
                interruption.lastWork.withLock { $0 }?()
                _exit(128 + number)
            }, box.toOpaque())
        precondition(code == 0, "the signal thread could not be started")
        pthread_detach(thread)
    }

    /// Has this done when a second signal ends the process, on a thread of its own.
    func beforeTheSecondEndsAll(_ work: @escaping @Sendable () -> Void) {
        lastWork.withLock { $0 = work }
    }

    /// Ends the run, by a signal or as one would.
    func interrupt(by signal: Int32? = nil) {
        let continuation: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard case .waiting(let continuation) = state else { return nil }
            state = .interrupted(signal: signal)
            return continuation
        }
        continuation?.resume()
    }

    /// The signal that ended it; nil: it has not ended, or of itself.
    var cause: Int32? {
        state.withLock { if case .interrupted(let signal) = $0 { signal } else { nil } }
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
