import MynahSupport

/// Numbers the requests that a test is asked to answer, over all devices of a run.
package final class RequestNumbers: Sendable {
    private let last = Lock(0)

    /// Numbers from 1 on.
    package init() {}

    /// The next number.
    func next() -> Int {
        last.withLock { last in
            last += 1
            return last
        }
    }
}
