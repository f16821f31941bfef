import Dispatch
import Glibc
import MynahTestSupport
import Testing

@testable import MynahSupport

/// An actor on a host executor, as a radio is.
private actor Resident {
    let executor: RunExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private(set) var numbers: [Int] = []
    private var isInside = false

    init(_ executor: RunExecutor) { self.executor = executor }

    func add(_ number: Int) {
        precondition(!isInside, "two pieces of work run at once")
        isInside = true
        numbers.append(number)
        isInside = false
    }
}

/// A gate that holds a thread until a test opens it.
private final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    func open() { semaphore.signal() }
    /// Blocks the thread.
    ///
    /// Returns false if nobody has opened the gate within a minute.
    func pass() -> Bool { semaphore.wait(timeout: .now() + 60) == .success }
}

@Suite(.timeLimit(.minutes(15))) struct RunExecutorTests {
    private let executor = RunExecutor()
    private let done = Mailbox<String>("the pieces of work")

    /// Runs `body` on a thread of its own, as a transport delivers.
    private func onThread(_ body: @escaping @Sendable () -> Void) {
        Thread.start(body)
    }

    @Test func `work runs in the call that brings it, on the thread that brings it`() {
        let here = pthread_self()
        let seen = Lock<[Bool]>([])
        executor.perform {
            seen.withLock { $0.append(pthread_equal(pthread_self(), here) != 0) }
            self.executor.checkIsolated()
        }
        #expect(seen.withLock { $0 } == [true])
        #expect(executor.isIsolatingCurrentContext() == false)
    }

    @Test func `an actor is entered without a hop from work that a thread brings`() async {
        let resident = Resident(executor)
        executor.perform { resident.assumeIsolated { $0.add(1) } }
        #expect(await resident.numbers == [1])
    }

    @Test func `work that work brings runs after it, in order, before the call returns`() {
        let order = Lock<[Int]>([])
        executor.perform {
            for number in 1...3 { self.executor.perform { order.withLock { $0.append(number) } } }
            order.withLock { $0.append(0) }
        }
        #expect(order.withLock { $0 } == [0, 1, 2, 3])
    }

    @Test func `a thread that is at work takes over what others bring, and they do not wait`() async throws {
        let (begun, gate) = (Mailbox<Void>("the first piece of work"), Gate())
        let (executor, done) = (executor, done)
        onThread {
            executor.perform {
                begun.put(())
                done.put(gate.pass() ? "first" : "first was not released")
            }
            done.put("the first thread is back")
        }
        _ = try await begun.take()
        // It is held inside. If this call waited for it, it would never return.
        executor.perform { done.put("second") }
        #expect(executor.isIsolatingCurrentContext() == false)
        gate.open()
        #expect(try await done.take(3) == ["first", "second", "the first thread is back"])
    }

    @Test func `a job that nobody brings runs by itself`() async {
        let resident = Resident(executor)
        for number in 0..<100 { await resident.add(number) }
        #expect(await resident.numbers == Array(0..<100))
    }

    @Test func `pieces of work from many threads and tasks run one at a time, and none is lost`() async throws
    {
        let resident = Resident(executor)
        let (executor, done) = (executor, done)
        let (threads, each) = (4, 500)
        for thread in 0..<threads {
            onThread {
                for number in 0..<each {
                    executor.perform { resident.assumeIsolated { $0.add(thread * each + number) } }
                }
                done.put("thread")
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<each { group.addTask { await resident.add(threads * each + number) } }
        }
        _ = try await done.take(threads)
        try await until("all work is done") { await resident.numbers.count == (threads + 1) * each }
        let numbers = await resident.numbers
        #expect(Set(numbers).count == numbers.count)
        // Work that one thread brings keeps its order.
        for thread in 0..<threads {
            let own = numbers.filter { $0 / each == thread }
            #expect(own == own.sorted())
        }
    }

    @Test func `a thread that brought one piece of work is not kept for all that others bring`() async throws
    {
        let (executor, done) = (executor, done)
        let (isOver, count) = (Lock(false), Lock(0))
        // Work that brings itself again is endless until the call that brought it has returned.
        @Sendable func again() {
            count.withLock { $0 += 1 }
            if !isOver.withLock({ $0 }) { executor.perform { again() } } else { done.put("over") }
        }
        onThread {
            executor.perform { again() }
            isOver.withLock { $0 = true }
            done.put("returned")
        }
        #expect(try await Set(done.take(2)) == ["returned", "over"])
        #expect(count.withLock { $0 } >= 1000)
    }

    @Test func `a task that prefers the executor runs where answers come, and is isolated to nothing`()
        async throws
    {
        let guests = RunTaskExecutor(executor)
        let (executor, done) = (executor, done)
        let resident = Resident(executor)
        let task = Task(executorPreference: guests) {
            done.put(executor.isIsolatingCurrentContext() == true ? "here" : "elsewhere")
            await resident.add(1)
            done.put(executor.isIsolatingCurrentContext() == true ? "here" : "elsewhere")
        }
        #expect(try await done.take(2) == ["here", "here"])
        await task.value
        #expect(await resident.numbers == [1])
    }
}

/// A POSIX thread, so that work is brought from outside the concurrent pool.
private enum Thread {
    private final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    static func start(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let box = Unmanaged.passRetained(Box(body)).toOpaque()
        let code = pthread_create(
            &thread, nil,
            { pointer in
                if let pointer { Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue().body() }
                return nil
            }, box)
        precondition(code == 0, "no thread could be started")
        pthread_detach(thread)
    }
}
