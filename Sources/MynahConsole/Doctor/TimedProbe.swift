import MynahSupport

/// A probe that may block, as a file on a server that is gone does.
package enum TimedProbe {
    /// The longest time that a probe may take.
    package static let limit = Duration.seconds(5)

    /// The result of blocking work on a thread of its own, or `nil` if it takes longer than the limit; the
    /// thread is abandoned then.
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

    /// The fact that blocking work finds out, or that it takes too long.
    package static func fact<Value>(
        limit: Duration = limit, _ work: @escaping @Sendable () -> Fact<Value>
    ) async -> Fact<Value> {
        await value(limit: limit, work) ?? .unknown("it took longer than \(limit.text) to find out")
    }
}
