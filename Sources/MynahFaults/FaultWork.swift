/// The jobs of a layer of faults on its radio: one after the other, in order.
struct FaultWork: Sendable {
    private var jobs: [FaultJob] = []
    private var isRunning = false

    /// Adds a job at the end; returns `true` if no task works on the jobs, so that one has to start.
    mutating func add(_ job: FaultJob) -> Bool {
        jobs.append(job)
        defer { isRunning = true }
        return !isRunning
    }

    /// The next job, or `nil` if there is none and the task ends.
    mutating func next() -> FaultJob? {
        guard !jobs.isEmpty else {
            isRunning = false
            return nil
        }
        return jobs.removeFirst()
    }
}
