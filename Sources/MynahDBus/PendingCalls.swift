/// The calls that have no reply yet, by serial.
struct PendingCalls {
    typealias Completion = @Sendable (Result<DBusMessage, DBusError>) -> Void

    struct Call {
        let timeout: Duration
        let deadline: Int64
        let completion: Completion
    }

    private var calls: [UInt32: Call] = [:]
    /// A time at or before the earliest deadline, or `nil` if no call can time out.
    ///
    /// After the call with the earliest deadline was answered, the time stays the same.
    private(set) var nextDeadline: Int64?

    /// Adds a call; returns whether `nextDeadline` changed.
    mutating func add(_ serial: UInt32, _ call: Call) -> Bool {
        calls[serial] = call
        guard call.deadline < nextDeadline ?? .max else { return false }
        nextDeadline = call.deadline
        return true
    }

    mutating func remove(_ serial: UInt32) -> Call? {
        guard let call = calls.removeValue(forKey: serial) else { return nil }
        // Without a deadline, the loop's sleep needs no timer.
        if calls.isEmpty { nextDeadline = nil }
        return call
    }

    /// Removes and returns the calls whose deadline has passed, in the order in which they were made.
    mutating func takeExpired(now: Int64) -> [Call] {
        guard let next = nextDeadline, next <= now else { return [] }
        let expired = calls.filter { $0.value.deadline <= now }.sorted { $0.key < $1.key }
        for (serial, _) in expired {
            calls[serial] = nil
        }
        nextDeadline = calls.values.lazy.map(\.deadline).min().flatMap { $0 == .max ? nil : $0 }
        return expired.map(\.value)
    }

    mutating func takeAll() -> [Call] {
        let all = calls.sorted { $0.key < $1.key }.map(\.value)
        self = PendingCalls()
        return all
    }
}
