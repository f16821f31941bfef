import MynahSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Runs a radio's work on whichever thread brings it.
///
/// What a transport delivers is handled in the call that delivers it, so that a request costs no hop between threads; where
/// another thread is at work already, it takes over what comes meanwhile. Jobs of actors that nobody brings run on the
/// concurrent pool.
final class HostExecutor: SerialExecutor, TaskExecutor {
    private enum Work {
        case job(UnownedJob)
        case body(@Sendable () -> Void)
    }

    private struct State {
        var waiting: [Work] = []
        /// Who works through it; nil: nobody, or somebody is on his way.
        var owner: pthread_t?
        var isClaimed = false
    }

    /// How many pieces of work a thread that brought one does at most, before it goes on with what is its own.
    private static let visit = 1000

    private let state = Lock(State())

    /// Queues a job of an actor.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if add(.job(job)) { callWorker() }
    }

    /// Runs `body` in this call, or leaves it to the thread that is at work.
    func perform(_ body: @escaping @Sendable () -> Void) {
        if add(.body(body)) { work(atMost: Self.visit) }
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
        while true {
            let emptied = batch
            let isOver = done >= limit
            let taken: [Work]? = state.withLock { state in
                guard !state.waiting.isEmpty else {
                    state.owner = nil
                    state.isClaimed = false
                    return nil
                }
                state.owner = isOver ? nil : pthread_self()
                guard !isOver else { return [] }
                defer { state.waiting = emptied }
                return state.waiting
            }
            guard let taken else { return }
            if isOver { return callWorker() }
            for work in taken {
                switch work {
                case .job(let job):
                    job.runSynchronously(
                        isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
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
        state.withLock { $0.owner == pthread_self() }
    }

    func checkIsolated() {
        precondition(isIsolatingCurrentContext() == true, "this is not the radio's executor")
    }
}
