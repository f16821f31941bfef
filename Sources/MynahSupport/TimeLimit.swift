/// A time limit for asynchronous work.
package enum TimeLimit {
    /// Runs `work` and returns its result.
    ///
    /// If the limit passes first, the work is cancelled and the result is `nil`.
    package static func value<Value: Sendable>(
        within limit: Duration, of work: @escaping @Sendable () async -> Value
    ) async -> Value? {
        await withTaskGroup(of: Value?.self) { tasks in
            tasks.addTask { await work() }
            tasks.addTask {
                // The group cancels this sleep when the work ends first; nothing polls.
                try? await Task.sleep(for: limit)
                return nil
            }
            let first = await tasks.next() ?? nil
            tasks.cancelAll()
            return first
        }
    }
}
