package import MynahCore
package import MynahSupport

/// Runs work on radios, from its start until the user or a failure ends it, for `run`, `scan` and `connect`.
package enum RadioWork {
    /// Starts the work, waits for the interruption and stops everything; returns the failure that ended it.
    ///
    /// `work` returns when everything is started, or later. `stop` is called once, even during the start,
    /// which then fails; that failure is not returned. The first failure is an interruption. `interrupted` is
    /// called before the work is cancelled, and wakes it if it waits.
    package static func play(
        until interruption: Interruption, clock: RunClock, interrupted: @escaping @Sendable () -> Void = {},
        stop: @escaping @Sendable () async -> Void,
        _ work: @escaping @Sendable () async throws(RadioError) -> Void
    ) async -> RadioError? {
        let starting = Task<RadioError?, Never>(executorPreference: clock.taskExecutor) {
            do throws(RadioError) {
                try await work()
                return nil
            } catch {
                return error
            }
        }
        let stopping = Task(executorPreference: clock.taskExecutor) {
            await interruption.wait()
            interrupted()
            starting.cancel()
            await stop()
        }
        let failure = await starting.value
        let wasInterrupted = interruption.isInterrupted
        if failure != nil { interruption.interrupt() }
        await stopping.value
        return wasInterrupted ? nil : failure
    }
}
