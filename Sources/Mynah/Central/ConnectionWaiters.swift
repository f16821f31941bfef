import MynahCore
import MynahLifecycle

/// Calls that wait for a connection.
struct ConnectionWaiters {
    /// One call that waits.
    struct Waiter {
        let number: UInt64
        let manager: ManagerKey
        let address: DeviceAddress
        /// Whether the call itself requested the connection; if so, the request is withdrawn when the call
        /// fails.
        let isOwn: Bool
        let continuation: CheckedContinuation<Result<Void, RadioError>, Never>
    }

    private var waiting: [Waiter] = []
    private var lastNumber: UInt64 = 0

    mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    mutating func add(_ waiter: Waiter) {
        waiting.append(waiter)
    }

    /// Removes and returns a call that still waits.
    mutating func remove(_ number: UInt64) -> Waiter? {
        waiting.firstIndex { $0.number == number }.map { waiting.remove(at: $0) }
    }

    /// Ends the calls that wait for a connection, with the result of the connection.
    mutating func end(_ manager: ManagerKey, _ address: DeviceAddress, _ result: Result<Void, RadioError>) {
        end(with: result) { $0.manager == manager && $0.address == address }
    }

    /// Ends the calls of a manager that has ended.
    mutating func end(_ manager: ManagerKey, _ error: RadioError) {
        end(with: .failure(error)) { $0.manager == manager }
    }

    mutating func endAll(_ error: RadioError) {
        end(with: .failure(error)) { _ in true }
    }

    private mutating func end(with result: Result<Void, RadioError>, _ isOver: (Waiter) -> Bool) {
        let over = waiting.filter(isOver)
        waiting.removeAll(where: isOver)
        for waiter in over { waiter.continuation.resume(returning: result) }
    }
}
