import MynahCore

/// The queued requests that a manager's callbacks made; the phone carries them out one at a time, in order.
struct CallbackRequests {
    typealias Request = WorkQueue<Phone>.Work

    private var waiting: [Request] = []
    private var isAtWork = false
    /// The number of calls outside callbacks that have started or stopped advertising.
    ///
    /// A queued request of a callback is dropped if such a call was made after the request.
    var advertisingCalls = 0

    /// Adds a request; returns `true` if the queue was idle, so that the caller must start to carry it out.
    mutating func add(_ request: @escaping Request) -> Bool {
        waiting.append(request)
        defer { isAtWork = true }
        return !isAtWork
    }

    /// Removes and returns the oldest request, or returns `nil` if none is left.
    mutating func next() -> Request? {
        isAtWork = !waiting.isEmpty
        return isAtWork ? waiting.removeFirst() : nil
    }
}
