import Glibc

/// A thread that does one thing.
package enum SystemThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs the work on a new thread or, if none can be started, on the caller's.
    package static func start(_ body: @escaping @Sendable () -> Void) {
        if !attempt(body) { body() }
    }

    /// Starts the thread; returns `false` if the system has no thread to give.
    package static func attempt(_ body: @escaping @Sendable () -> Void) -> Bool {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(Work(body))
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            context.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// Keeps signals from this thread, also those that its own writing causes: SIGPIPE and SIGXFSZ would end
    /// the process.
    package static func blockSignals() {
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
    }
}
