import MynahCore

/// The requests that callbacks of a manager made, which are carried out one after the other.
struct CallbackRequests {
    typealias Request = WorkQueue<Phone>.Work

    private var waiting: [Request] = []
    private var isAtWork = false
    /// The number of calls outside callbacks that have started or stopped advertising.
    ///
    /// A request of a callback that waited is dropped if such a call came after it.
    var advertisingCalls = 0

    /// Adds a request; returns `true` if the caller has to begin with them.
    mutating func add(_ request: @escaping Request) -> Bool {
        waiting.append(request)
        defer { isAtWork = true }
        return !isAtWork
    }

    /// Removes the oldest request; `nil` if none is left, which ends the work.
    mutating func next() -> Request? {
        isAtWork = !waiting.isEmpty
        return isAtWork ? waiting.removeFirst() : nil
    }
}
