import Logging

/// A job that recovers a part of the radio.
enum RecoveryJob: Hashable {
    /// Connect to the bus again.
    case reconnect
    /// List bluetoothd's objects.
    case learnObjects
    /// Prepare the adapter and register everything again, in the recovery with this epoch.
    case registerAll(epoch: Int)

    /// The log level for a failure of the job, which is lower for jobs that may fail every two seconds.
    var logLevel: Logger.Level { if case .registerAll = self { .info } else { .debug } }
}

/// The queue of recovery jobs, which one task carries out in order.
struct RecoveryLoop {
    private var jobs: [RecoveryJob] = []
    private var task: Task<Void, Never>?

    /// Adds a job, and starts the task unless it is running.
    ///
    /// `work` carries out the jobs that `next` returns, until it returns `nil`.
    mutating func add(_ job: RecoveryJob, _ work: @escaping @Sendable () async -> Void) {
        if !jobs.contains(job) { jobs.append(job) }
        if task == nil { task = Task { await work() } }
    }

    /// Returns the next job, or `nil` if there is none, after which the task must end.
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
