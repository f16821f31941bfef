package import MynahCore
package import MynahSupport

/// Runs work on radios for `run`, `scan` and `connect`, until the user or a failure ends it.
package enum RadioWork {
    /// Starts the work, waits for the interruption, and stops everything.
    ///
    /// The result is the failure that ended the work, or `nil` if it was interrupted first. A failure also
    /// causes the interruption.
    ///
    /// `work` may return when everything is started, or later. `stop` is called once, possibly during the
    /// start, which then fails. `interrupted` is called before the work is cancelled, and must wake the work
    /// if it waits.
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
