import MynahDBus
import MynahSupport

/// A wait on the executor that ends with an event or after a time limit, without a thread or a task of its
/// own.
final class BoundedWait: Sendable {
    private let waiting = Lock<CheckedContinuation<Void, Never>?>(nil)

    /// Returns when `end` is called, or after `limit`.
    func wait(atMost limit: Duration) async {
        let timer = GLibTimer { [self] in end() }
        await withCheckedContinuation { continuation in
            waiting.withLock { $0 = continuation }
            timer.schedule(after: limit)
        }
        withExtendedLifetime(timer) {}
    }

    /// Ends the wait, if there is one.
    func end() {
        let continuation = waiting.withLock { waiting in
            let continuation = waiting
            waiting = nil
            return continuation
        }
        continuation?.resume()
    }
}
