import MynahSupport

/// Runs a probe that may block, for example on a file of a server that does not answer.
package enum TimedProbe {
    /// The longest time that a probe may take.
    package static let limit = Duration.seconds(5)

    /// Runs blocking work on a separate thread, and returns its result, or `nil` if it takes longer than the
    /// limit.
    ///
    /// The thread is then abandoned.
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

    /// Runs blocking work, and returns the fact, or that it takes too long.
    package static func fact<Value>(
        limit: Duration = limit, _ work: @escaping @Sendable () -> Fact<Value>
    ) async -> Fact<Value> {
        await value(limit: limit, work) ?? .unknown("it took longer than \(limit.text) to find out")
    }
}
