import Glibc
import MynahCGLib
import MynahSupport

/// The executor for all D-Bus connections: a thread that runs a GLib main loop and the jobs of actors.
///
/// An actor uses this executor if its `unownedExecutor` returns
/// `GLibExecutor.shared.asUnownedSerialExecutor()`. The actor can then use a `DBusConnection` without a
/// change of thread, and the callbacks of the connection run isolated to the actor.
public final class GLibExecutor: SerialExecutor {
    /// The only executor, whose thread runs until the process ends.
    public static let shared = GLibExecutor()

    // `unsafe`: a GMainContext has a lock of its own.
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

    /// Runs `work` immediately on the executor's thread, or queues it if called on another thread.
    public func run(_ work: @escaping @Sendable () -> Void) {
        if isCurrent { work() } else { enqueue(.work(work)) }
    }

    /// Queues `work`, even on the executor's thread.
    public func enqueueWork(_ work: @escaping @Sendable () -> Void) {
        enqueue(.work(work))
    }

    /// Runs `work` on the executor and returns its result; on the executor's thread, `work` runs immediately.
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

    /// Stops the process if the caller is not on the executor's thread.
    public func checkIsolated() {
        precondition(isCurrent, "not on the D-Bus executor")
    }

    /// Whether the caller is on the executor's thread.
    public func isIsolatingCurrentContext() -> Bool? { isCurrent }

    private func enqueue(_ item: JobSource.Item) {
        // The loop checks the queue before it sleeps, so only the first item of another thread must wake it.
        if jobs.append(item), !isCurrent { g_main_context_wakeup(context) }
    }
}

/// The queue of jobs, as a source of the GLib loop.
private final class JobSource: LoopSource, @unchecked Sendable {
    // `@unchecked`: the queue has a lock, `isFilled` is atomic, and only the loop's thread touches `taken`.
    enum Item: Sendable {
        case job(UnownedJob)
        case work(@Sendable () -> Void)
    }

    private let queue = Lock<[Item]>([])
    /// Points to an atomic integer that is 1 if the queue has jobs, or else 0.
    ///
    /// The loop reads this twice in each turn, so reading must be fast.
    private let isFilled = UnsafeMutablePointer<gint>.allocate(capacity: 1)
    private var taken: [Item] = []

    override init() {
        isFilled.initialize(to: 0)
    }

    deinit { isFilled.deallocate() }

    /// Appends an item; returns whether the queue was empty.
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

    /// Runs the queued jobs.
    ///
    /// Jobs that are queued meanwhile run in the next turn, so that the bus gets a turn in between.
    override func dispatch() {
        takeQueue()
        let executor = GLibExecutor.shared.asUnownedSerialExecutor()
        for item in taken {
            switch item {
            case .job(let job): job.runSynchronously(on: executor)
            case .work(let work): work()
            }
        }
        taken.removeAll(keepingCapacity: taken.capacity <= 1024)
    }

    /// Moves the queued items to `taken` by swapping two arrays, so that usually no memory is
    /// allocated.
    private func takeQueue() {
        g_atomic_int_set(isFilled, 0)
        let emptied = taken
        taken = queue.withLock { queue in
            let filled = queue
            queue = emptied
            return filled
        }
    }
}
