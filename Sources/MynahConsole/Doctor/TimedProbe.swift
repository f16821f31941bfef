import MynahSupport

/// Runs a probe that may block, for example by reading a file from a server that does not respond.
package enum TimedProbe {
    /// The longest time that a probe may take.
    package static let limit = Duration.seconds(5)

    /// Runs blocking work on a thread of its own, and returns its result.
    ///
    /// If the work takes longer than the limit, the result is `nil`, and the thread is abandoned.
    package static func value<Value: Sendable>(
        limit: Duration = limit, _ work: @escaping @Sendable () -> Value
    ) async -> Value? {
        let (results, result) = AsyncStream.makeStream(of: Value.self)
        SystemThread.start {
            result.yield(work())
            result.finish()
        }
        return await TimeLimit.value(within: limit) { () -> Value? in
            for await value in results { return value }
            return nil
        } ?? nil
    }

    /// Runs blocking work, and returns its fact; if it takes too long, the fact is `unknown`.
    package static func fact<Value>(
        limit: Duration = limit, _ work: @escaping @Sendable () -> Fact<Value>
    ) async -> Fact<Value> {
        await value(limit: limit, work) ?? .unknown("it took longer than \(limit.text) to find out")
    }
}
