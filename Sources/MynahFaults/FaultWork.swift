/// The queue of jobs of a `FaultyRadio` on its radio, which are done one after the other.
struct FaultWork: Sendable {
    private var jobs: [FaultJob] = []
    private var isRunning = false

    /// Adds a job at the end; returns `true` if no task is doing the jobs, so that one has to start.
    mutating func add(_ job: FaultJob) -> Bool {
        jobs.append(job)
        defer { isRunning = true }
        return !isRunning
    }

    /// Removes and returns the next job, or returns `nil` if there is none, and the task has to end.
    mutating func next() -> FaultJob? {
        guard !jobs.isEmpty else {
            isRunning = false
            return nil
        }
        return jobs.removeFirst()
    }
}
