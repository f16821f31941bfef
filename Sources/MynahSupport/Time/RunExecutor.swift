import Synchronization

import Glibc

/// Runs the work of a radio, or of a whole run with virtual time: one piece after the other, in order.
///
/// With the machine's time, a packet from a transport is handled in the call that delivers it, so a request
/// needs no change of thread. If another thread is already at work, that thread also handles the new packet.
/// Jobs of actors that no thread brings run on the concurrent pool.
///
/// With virtual time, all work is on one thread of the run, and the time moves when no work is left. All
/// tasks prefer this executor then: one that did not would be resumed on the concurrent pool.
package final class RunExecutor: SerialExecutor, TaskExecutor {
    private enum Work {
        case job(UnownedJob)
        /// A job of a task that prefers this executor, and is isolated to no actor.
        case guest(UnownedJob, RunTaskExecutor)
        case body(@Sendable () -> Void)
    }

    private struct State {
        var waiting: [Work] = []
        /// A thread is at work, or about to be.
        var isClaimed = false
    }

    /// How many pieces of work a thread that brought one does at most, before it returns to its caller.
    private static let visit = 1000

    private let state = Lock(State())
    /// The deadlines that move the time, or `nil` with the machine's time.
    private let timeline: Timeline?
    /// The thread that runs the work, or 0.
    ///
    /// Only the owner can ever compare equal, so a relaxed load is enough.
    private let owner = Atomic<UInt>(0)

    /// An executor with the machine's time.
    package convenience init() { self.init(timeline: nil) }

    init(timeline: Timeline?) {
        self.timeline = timeline
    }

    /// Queues a job of an actor, or with virtual time of any task.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if add(.job(job)) { callWorker() }
    }

    /// Queues a job of a task that prefers to be here.
    func enqueue(_ job: UnownedJob, of executor: RunTaskExecutor) {
        if add(.guest(job, executor)) { callWorker() }
    }

    /// Runs `body` in this call, or leaves it to the thread that is at work.
    ///
    /// With virtual time `body` is always queued.
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
            // If no thread is at work, nothing waits.
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
            // Not on the pool: a run without a pause would keep one of its few threads.
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

    /// Whether the caller is at work on it.
    package func isIsolatingCurrentContext() -> Bool? {
        owner.load(ordering: .relaxed) == Self.thisThread
    }

    private static var thisThread: UInt { UInt(pthread_self()) }

    package func checkIsolated() {
        precondition(isIsolatingCurrentContext() == true, "this is not the radio's executor")
    }
}

/// Lets a task continue on a `RunExecutor` between its calls of actors, with the machine's time.
///
/// The task executor is a separate object because a job that ran under both would be queued anew at each
/// `await` of a task that does not prefer it, and other work could come between.
package final class RunTaskExecutor: TaskExecutor {
    private let executor: RunExecutor

    /// An executor for tasks beside the actors on `executor`.
    package init(_ executor: RunExecutor) {
        self.executor = executor
    }

    /// Queues a job.
    package func enqueue(_ job: consuming ExecutorJob) {
        executor.enqueue(UnownedJob(job), of: self)
    }
}
