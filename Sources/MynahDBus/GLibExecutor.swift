import Glibc
import MynahCGLib
import MynahSupport

/// The one thread on which D-Bus is spoken: a GLib main loop that runs the jobs of the actors that share it.
///
/// An actor joins by returning `GLibExecutor.shared.asUnownedSerialExecutor()` as its `unownedExecutor`; it can then use a
/// `DBusConnection` without a hop between threads, and is entered from its callbacks with `assumeIsolated`.
public final class GLibExecutor: SerialExecutor {
    /// The executor; its thread lives as long as the process.
    public static let shared = GLibExecutor()

    // `unsafe`: a GMainContext has its own lock.
    nonisolated(unsafe) let context: OpaquePointer
    private let jobs = JobSource()
    private let thread: pthread_t

    private init() {
        let context: OpaquePointer = g_main_context_new()
        self.context = context
        jobs.attach(to: context)
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                let context = OpaquePointer(context)
                g_main_context_acquire(context)
                while true {
                    g_main_context_iteration(context, 1)
                }
            }, UnsafeMutableRawPointer(context))
        precondition(code == 0, "the D-Bus thread could not be started")
        pthread_detach(thread)
        self.thread = thread
    }

    /// Whether the caller runs on the executor's thread.
    public var isCurrent: Bool { pthread_equal(pthread_self(), thread) != 0 }

    /// Queues a job of an actor.
    public func enqueue(_ job: consuming ExecutorJob) {
        enqueue(.job(UnownedJob(job)))
    }

    /// Runs `work` at once when called on the executor, else as soon as its turn comes.
    public func run(_ work: @escaping @Sendable () -> Void) {
        if isCurrent { work() } else { enqueue(.work(work)) }
    }

    /// Runs `work` on the executor, never from inside this call.
    public func enqueueWork(_ work: @escaping @Sendable () -> Void) {
        enqueue(.work(work))
    }

    /// Runs `work` on the executor and returns or throws what it does; without a hop when called on it.
    public func perform<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        if isCurrent { return try work() }
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Value, Failure>, Never>) in
            enqueue(.work { continuation.resume(returning: Result { () throws(Failure) in try work() }) })
        }
        return try result.get()
    }

    /// Stops the process when the caller is not on the executor.
    public func checkIsolated() {
        precondition(isCurrent, "not on the D-Bus executor")
    }

    /// Whether the caller is on the executor.
    public func isIsolatingCurrentContext() -> Bool? { isCurrent }

    private func enqueue(_ item: JobSource.Item) {
        // The loop looks at the queue before it sleeps, so only another thread, and only the first, has to wake it.
        if jobs.append(item), !isCurrent { g_main_context_wakeup(context) }
    }
}

/// The queue of jobs, as the loop sees it.
private final class JobSource: LoopSource, @unchecked Sendable {
    // `@unchecked`: the queue is behind a lock, its being filled an atomic; `batch` is touched on the loop's thread only.
    enum Item: Sendable {
        case job(UnownedJob)
        case work(@Sendable () -> Void)
    }

    private let queue = Lock<[Item]>([])
    /// Asked twice a round of the loop, which is on every request's way.
    private let isFilled = UnsafeMutablePointer<gint>.allocate(capacity: 1)
    private var batch: [Item] = []

    override init() {
        isFilled.initialize(to: 0)
    }

    deinit { isFilled.deallocate() }

    /// Appends an item and says whether the queue was empty before.
    func append(_ item: Item) -> Bool {
        let isFirst = queue.withLock { queue in
            queue.append(item)
            return queue.count == 1
        }
        if isFirst { g_atomic_int_set(isFilled, 1) }
        return isFirst
    }

    override func prepare() -> Bool {
        g_atomic_int_get(isFilled) != 0
    }

    /// Runs what was queued until now; what these jobs queue waits for the next round, so that the bus gets its turn.
    override func dispatch() {
        takeBatch()
        let executor = GLibExecutor.shared.asUnownedSerialExecutor()
        for item in batch {
            switch item {
            case .job(let job): job.runSynchronously(on: executor)
            case .work(let work): work()
            }
        }
        batch.removeAll(keepingCapacity: batch.capacity <= 1024)
    }

    /// Swaps the arrays, so that neither side allocates in a steady state.
    private func takeBatch() {
        g_atomic_int_set(isFilled, 0)
        let emptied = batch
        batch = queue.withLock { queue in
            let taken = queue
            queue = emptied
            return taken
        }
    }
}
