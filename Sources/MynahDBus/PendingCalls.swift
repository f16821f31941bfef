/// The calls that wait for their answers, by serial.
struct PendingCalls {
    typealias Completion = @Sendable (Result<DBusMessage, DBusError>) -> Void

    struct Call {
        let timeout: Duration
        let deadline: Int64
        let completion: Completion
    }

    private var calls: [UInt32: Call] = [:]
    /// No call's deadline is before this; a call that was answered may leave it too early, which costs one look.
    private(set) var nextDeadline: Int64?

    /// Adds a call and says whether the next deadline has moved.
    mutating func add(_ serial: UInt32, _ call: Call) -> Bool {
        calls[serial] = call
        guard call.deadline < nextDeadline ?? .max else { return false }
        nextDeadline = call.deadline
        return true
    }

    mutating func take(_ serial: UInt32) -> Call? {
        guard let call = calls.removeValue(forKey: serial) else { return nil }
        // Nothing to wait for: a sleep without a deadline costs the kernel no timer.
        if calls.isEmpty { nextDeadline = nil }
        return call
    }

    /// Takes out the calls whose time is up, in the order they were made in.
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
