/// Lets tasks that are isolated to no actor start on the thread of the D-Bus connections, in order.
public final class GLibTaskExecutor: TaskExecutor {
    /// The executor for tasks beside the actors on `GLibExecutor.shared`.
    public static let shared = GLibTaskExecutor()

    private init() {}

    /// Queues a job.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        GLibExecutor.shared.enqueueWork { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
