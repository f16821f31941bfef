import Glibc

/// Starts threads of the system.
package enum SystemThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a new thread, or in this call if no thread can be started.
    package static func start(_ body: @escaping @Sendable () -> Void) {
        if !attempt(body) { body() }
    }

    /// Runs `body` on a new thread; returns `false` if no thread can be started.
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

    /// Blocks all signals on this thread.
    ///
    /// Otherwise the thread's own writes could cause SIGPIPE or SIGXFSZ, which end the process.
    package static func blockSignals() {
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
    }
}
