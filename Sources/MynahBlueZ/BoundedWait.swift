import MynahDBus
import MynahSupport

/// A wait on the executor that ends with an event or after a time limit, without a thread or task.
final class BoundedWait: Sendable {
    private let waiting = Lock<CheckedContinuation<Void, Never>?>(nil)

    /// Waits until `end` is called, or until the limit has passed.
    func wait(atMost limit: Duration) async {
        let timer = GLibTimer { [self] in end() }
        await withCheckedContinuation { continuation in
            waiting.withLock { $0 = continuation }
            timer.schedule(after: limit)
        }
        withExtendedLifetime(timer) {}
    }

    /// Ends the current wait, if there is one.
    func end() {
        let continuation = waiting.withLock { waiting in
            let continuation = waiting
            waiting = nil
            return continuation
        }
        continuation?.resume()
    }
}
