import Logging

/// A job that recovers a part of the radio.
enum RecoveryJob: Hashable {
    /// Connect to the bus again.
    case reconnect
    /// List bluetoothd's objects.
    case learnObjects
    /// Prepare the adapter and register everything again, in the recovery with this epoch.
    case registerAll(epoch: Int)

    /// The level at which a failure of the job is logged, lower for jobs that are repeated every two seconds.
    var logLevel: Logger.Level { if case .registerAll = self { .info } else { .debug } }
}

/// The queue of recovery jobs, which one task carries out in order.
struct RecoveryLoop {
    private var jobs: [RecoveryJob] = []
    private var task: Task<Void, Never>?

    /// Adds a job, and starts the task unless it is running.
    ///
    /// The task calls `work`, which must carry out the jobs from `next()` until `next()` returns `nil`.
    mutating func add(_ job: RecoveryJob, _ work: @escaping @Sendable () async -> Void) {
        if !jobs.contains(job) { jobs.append(job) }
        if task == nil { task = Task { await work() } }
    }

    /// Removes and returns the next job; returns `nil` if there is none, and the task must then end.
    mutating func next() -> RecoveryJob? {
        guard !jobs.isEmpty else {
            task = nil
            return nil
        }
        return jobs.removeFirst()
    }

    /// Cancels the current job, and removes the others.
    mutating func cancel() {
        jobs = []
        task?.cancel()
    }
}
