import MynahCore

/// The requests that callbacks of a manager made, which are carried out one at a time, in their order.
struct CallbackRequests {
    typealias Request = WorkQueue<Phone>.Work

    private var waiting: [Request] = []
    private var isAtWork = false
    /// The number of calls outside callbacks that have started or stopped advertising.
    ///
    /// A queued request of a callback is dropped if such a call was made after the request.
    var advertisingCalls = 0

    /// Adds a request; returns `true` if the caller has to begin carrying requests out.
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
