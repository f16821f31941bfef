/// A time limit for asynchronous work.
package enum TimeLimit {
    /// The result of work, or `nil` if it takes longer than the limit; the work is cancelled then.
    package static func value<Value: Sendable>(
        within limit: Duration, of work: @escaping @Sendable () async -> Value
    ) async -> Value? {
        await withTaskGroup(of: Value?.self) { tasks in
            tasks.addTask { await work() }
            tasks.addTask {
                // Cancelled with the work; nothing polls.
                try? await Task.sleep(for: limit)
                return nil
            }
            let first = await tasks.next() ?? nil
            tasks.cancelAll()
            return first
        }
    }
}
