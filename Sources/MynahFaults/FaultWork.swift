/// The asynchronous jobs of a layer of faults on its radio: one after the other, in order.
struct FaultWork: Sendable {
    typealias Job = @Sendable (isolated FaultyRadio) async -> Void

    private var jobs: [Job] = []
    private var isRunning = false

    /// Puts a job at the end of the queue.
    mutating func add(of radio: FaultyRadio, _ job: @escaping Job) {
        jobs.append(job)
        guard !isRunning else { return }
        isRunning = true
        Task(executorPreference: radio.preferredExecutor) { [weak radio] in
            while let job = await radio?.nextJob(), let radio { await job(radio) }
        }
    }

    /// The next job, or `nil` if there is none and the task ends.
    mutating func next() -> Job? {
        guard !jobs.isEmpty else {
            isRunning = false
            return nil
        }
        return jobs.removeFirst()
    }
}
