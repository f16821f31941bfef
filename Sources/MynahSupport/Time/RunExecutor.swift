import Synchronization

import Glibc

/// Runs the work of a radio, or of a whole run with virtual time, one job after the other, in order.
///
/// With the machine's time, a packet from a transport is handled in the call that delivers it, without a
/// change of thread. If another thread is running jobs already, that thread also handles the packet. If an
/// actor's job is queued while no thread is running jobs, the job runs on the concurrent pool.
///
/// With virtual time, all jobs run on one thread of the run, and the time advances when no job is left. All
/// tasks must then prefer this executor; any other task would resume on the concurrent pool.
package final class RunExecutor: SerialExecutor, TaskExecutor {
    private enum Work {
        case job(UnownedJob)
        /// A job of a task that prefers this executor and is not isolated to an actor.
        case guest(UnownedJob, RunTaskExecutor)
        case body(@Sendable () -> Void)
    }

    private struct State {
        var waiting: [Work] = []
        /// Whether a thread is running jobs, or is about to.
        var isClaimed = false
    }

    /// The number of jobs after which a thread that called `perform` returns to its caller.
    private static let visit = 1000

    private let state = Lock(State())
    /// The deadlines that advance virtual time, or `nil` if the run uses the machine's time.
    private let timeline: Timeline?
    /// The thread that is running jobs, or 0.
    ///
    /// A thread compares this only with its own number, which no other thread stores, so a relaxed load is
    /// enough.
    private let owner = Atomic<UInt>(0)

    /// Makes an executor with the machine's time.
    package convenience init() { self.init(timeline: nil) }

    init(timeline: Timeline?) {
        self.timeline = timeline
    }

    /// Queues a job of an actor, or, with virtual time, of any task.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if add(.job(job)) { callWorker() }
    }

    /// Queues a job of a task that prefers this executor.
    func enqueue(_ job: UnownedJob, of executor: RunTaskExecutor) {
        if add(.guest(job, executor)) { callWorker() }
    }

    /// Runs `body` in this call, or queues it if another thread is running jobs.
    ///
    /// With virtual time, `body` is always queued.
    package func perform(_ body: @escaping @Sendable () -> Void) {
        guard timeline == nil else {
            if add(.body(body)) { callWorker() }
            return
        }
        let isMine = state.withLock { state in
            guard !state.isClaimed else {
                state.waiting.append(.body(body))
                return false
            }
            // If no thread is running jobs, the queue is empty.
            state.isClaimed = true
            return true
        }
        guard isMine else { return }
        owner.store(Self.thisThread, ordering: .relaxed)
        body()
        work(atMost: Self.visit)
    }

    private func add(_ work: Work) -> Bool {
        state.withLock { state in
            state.waiting.append(work)
            defer { state.isClaimed = true }
            return !state.isClaimed
        }
    }

    private func callWorker() {
        if timeline == nil {
            Task.detached { self.work(atMost: .max) }
        } else {
            // Not on the pool: a run that never pauses would occupy one of its few threads.
            SystemThread.start { self.work(atMost: .max) }
        }
    }

    private func work(atMost limit: Int) {
        var done = 0
        var batch: [Work] = []
        owner.store(Self.thisThread, ordering: .relaxed)
        while true {
            let emptied = batch
            let isOver = done >= limit
            let taken: [Work]? = state.withLock { state in
                guard !state.waiting.isEmpty else {
                    guard timeline?.hasNext != true else { return [] }
                    owner.store(0, ordering: .relaxed)
                    state.isClaimed = false
                    return nil
                }
                guard !isOver else {
                    owner.store(0, ordering: .relaxed)
                    return []
                }
                defer { state.waiting = emptied }
                return state.waiting
            }
            guard let taken else { return }
            guard !taken.isEmpty else {
                if isOver { return callWorker() }
                timeline?.carryOutNext()
                continue
            }
            for work in taken { carryOut(work) }
            done += taken.count
            batch = taken
            batch.removeAll(keepingCapacity: true)
        }
    }

    private func carryOut(_ work: Work) {
        switch work {
        case .job(let job) where timeline == nil: job.runSynchronously(on: asUnownedSerialExecutor())
        case .job(let job):
            job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        case .guest(let job, let executor): job.runSynchronously(on: executor.asUnownedTaskExecutor())
        case .body(let body): body()
        }
    }

    /// `true` if the calling thread is the one that is running this executor's jobs.
    package func isIsolatingCurrentContext() -> Bool? {
        owner.load(ordering: .relaxed) == Self.thisThread
    }

    private static var thisThread: UInt { UInt(pthread_self()) }

    package func checkIsolated() {
        precondition(isIsolatingCurrentContext() == true, "this is not the radio's executor")
    }
}

/// Lets a task run on a `RunExecutor` between its calls to actors, with the machine's time.
///
/// The task executor is a separate object: if one object were both, each `await` of a task that does not
/// prefer it would queue the job again, and other work could come between.
package final class RunTaskExecutor: TaskExecutor {
    private let executor: RunExecutor

    /// Makes an executor for tasks that call the actors on `executor`.
    package init(_ executor: RunExecutor) {
        self.executor = executor
    }

    /// Queues a job.
    package func enqueue(_ job: consuming ExecutorJob) {
        executor.enqueue(UnownedJob(job), of: self)
    }
}
