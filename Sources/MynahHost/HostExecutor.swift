import MynahSupport
import Synchronization

import Glibc

/// Runs a radio's work on the thread that brings it.
///
/// A packet from a transport is handled in the call that delivers it, so a request needs no change of
/// thread. If another thread is already at work, it also handles the new packet. Jobs of actors that are
/// not brought by a thread run on the concurrent pool.
final class HostExecutor: SerialExecutor {
    private enum Work {
        case job(UnownedJob)
        /// Of a task that prefers to be here, and is isolated to nothing.
        case guest(UnownedJob, HostTaskExecutor)
        case body(@Sendable () -> Void)
    }

    private struct State {
        var waiting: [Work] = []
        /// Somebody works through it, or is on his way.
        var isClaimed = false
    }

    /// How many pieces of work a thread that brought one does at most, before it goes on with what is its
    /// own.
    private static let visit = 1000

    private let state = Lock(State())
    /// The thread that runs the work, or 0.
    ///
    /// Only the owner can ever compare equal, so a relaxed load is enough.
    private let owner = Atomic<UInt>(0)

    /// Queues a job of an actor.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if add(.job(job)) { callWorker() }
    }

    /// Queues a job of a task that prefers to be here.
    func enqueue(_ job: UnownedJob, of executor: HostTaskExecutor) {
        if add(.guest(job, executor)) { callWorker() }
    }

    /// Runs `body` in this call, or leaves it to the thread that is at work.
    func perform(_ body: @escaping @Sendable () -> Void) {
        let isMine = state.withLock { state in
            guard !state.isClaimed else {
                state.waiting.append(.body(body))
                return false
            }
            // Where nobody is at work nothing waits.
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
        Task.detached { self.work(atMost: .max) }
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
            if isOver { return callWorker() }
            for work in taken {
                switch work {
                case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
                case .guest(let job, let executor):
                    job.runSynchronously(on: executor.asUnownedTaskExecutor())
                case .body(let body): body()
                }
            }
            done += taken.count
            batch = taken
            batch.removeAll(keepingCapacity: true)
        }
    }

    /// Whether the caller is at work on it.
    func isIsolatingCurrentContext() -> Bool? {
        owner.load(ordering: .relaxed) == Self.thisThread
    }

    private static var thisThread: UInt { UInt(pthread_self()) }

    func checkIsolated() {
        precondition(isIsolatingCurrentContext() == true, "this is not the radio's executor")
    }
}

/// Lets a task go on where a radio's answers come.
///
/// Apart from the radio's own executor: a job that ran under both would be queued anew at each `await` of a
/// task that does not prefer it, and others could come between.
final class HostTaskExecutor: TaskExecutor {
    private let executor: HostExecutor

    init(_ executor: HostExecutor) {
        self.executor = executor
    }

    func enqueue(_ job: consuming ExecutorJob) {
        executor.enqueue(UnownedJob(job), of: self)
    }
}
