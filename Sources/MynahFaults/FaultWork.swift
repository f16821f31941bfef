/// The queue of a `FaultyRadio`'s jobs on the wrapped radio, which are done one at a time.
struct FaultWork: Sendable {
    private var jobs: [FaultJob] = []
    private var isRunning = false

    /// Adds a job at the end; returns `true` if no task is doing the jobs, so that the caller has to start
    /// one.
    mutating func add(_ job: FaultJob) -> Bool {
        jobs.append(job)
        defer { isRunning = true }
        return !isRunning
    }

    /// Removes and returns the next job, or returns `nil` if there is none, after which the task must end.
    mutating func next() -> FaultJob? {
        guard !jobs.isEmpty else {
            isRunning = false
            return nil
        }
        return jobs.removeFirst()
    }
}
