import MynahTestSupport
import Testing

@testable import MynahSupport

@Suite(.timeLimit(.minutes(5))) struct VirtualTimeTests {
    private let log = Mailbox<String>("entries of the log")

    /// Starts a task of a run that sleeps until each time, in milliseconds, and logs it.
    private func sleeper(_ name: String, on time: VirtualTime, _ times: [Int]) {
        let clock = RunClock(time)
        Task(executorPreference: time.executor) {
            for each in times {
                try? await clock.sleep(until: .init(offset: .milliseconds(each)))
                log.put("\(name) \(clock.now.offset.components.attoseconds / 1_000_000_000_000_000)")
            }
        }
    }

    /// A run whose tasks start together, when `body` has made all of them.
    private func start(_ time: VirtualTime, _ body: @escaping @Sendable () -> Void) {
        time.executor.perform(body)
    }

    @Test func `fast time jumps from one deadline to the next`() async throws {
        let time = VirtualTime(.fast)
        start(time) {
            sleeper("a", on: time, [10, 300])
            sleeper("b", on: time, [20, 30, 500])
        }
        #expect(try await log.take(5) == ["a 10", "b 20", "b 30", "a 300", "b 500"])
        #expect(time.now == .milliseconds(500))
    }

    @Test func `deadlines of one time come in the order in which they were set`() async throws {
        let time = VirtualTime(.fast)
        start(time) {
            for name in ["a", "b", "c", "d"] { sleeper(name, on: time, [10, 20]) }
        }
        #expect(
            try await log.take(8) == ["a 10", "b 10", "c 10", "d 10", "a 20", "b 20", "c 20", "d 20"])
    }

    @Test func `manual time moves for a request only, and by no more than it asks for`() async throws {
        let time = VirtualTime(.manual)
        start(time) { sleeper("a", on: time, [10, 20, 30]) }
        #expect(await time.carryOut { 7 } == 7)
        #expect(time.now == .zero)
        #expect(await time.carryOut { await time.advance(by: .milliseconds(15)) } == .milliseconds(15))
        #expect(time.now == .milliseconds(15))
        #expect(await time.carryOut { await time.advance(by: .milliseconds(5)) } == .milliseconds(5))
        // A task that is due at the end of an advance runs before its answer.
        #expect(try await log.take(2) == ["a 10", "a 20"])
        #expect(await time.carryOut { await time.advance(by: .zero) } == .zero)
        #expect(await time.carryOut { await time.advance(by: .seconds(-1)) } == .zero)
        #expect(time.now == .milliseconds(20))
    }

    @Test func `requests are carried out one after the other`() async throws {
        let time = VirtualTime(.manual)
        let clock = RunClock(time)
        async let first = time.carryOut {
            try? await clock.sleep(for: .seconds(2))
            return clock.now.offset
        }
        async let second = time.carryOut {
            try? await clock.sleep(for: .seconds(3))
            return clock.now.offset
        }
        #expect(Set(await [first, second]).contains(.seconds(5)))
    }

    @Test func `an advance by a year is an answer`() async {
        let time = VirtualTime(.manual)
        let year = Duration.seconds(365 * 86_400)
        #expect(await time.carryOut { await time.advance(by: year) } == year)
        #expect(await time.carryOut { await time.advance(by: .seconds(Int64.max)) } > year)
    }

    @Test func `a deadline at the end of time is not reached`() async {
        let time = VirtualTime(.manual)
        let clock = RunClock(time)
        let ticks = Lock(0)
        start(time) {
            Task(executorPreference: time.executor) {
                _ = await time.advance(by: VirtualTime.end)
                while (try? await clock.sleep(for: .seconds(1))) != nil { ticks.withLock { $0 += 1 } }
            }
        }
        let moved = await time.carryOut { await time.advance(by: VirtualTime.end) }
        #expect(moved == VirtualTime.end - .nanoseconds(1))
        #expect(await time.carryOut { ticks.withLock { $0 } } == 0)
        time.end()
    }

    @Test func `an advance that takes too long stops and says how far it came`() async {
        let time = VirtualTime(.manual)
        let clock = RunClock(time)
        start(time) {
            Task(executorPreference: time.executor) {
                while (try? await clock.sleep(for: .nanoseconds(1))) != nil {}
            }
        }
        let moved = await time.carryOut(within: .milliseconds(20)) {
            let moved = await time.advance(by: .seconds(1000))
            return (by: moved, isOverdue: time.isOverdue)
        }
        #expect(moved.by > .zero && moved.by < .seconds(1000) && moved.isOverdue)
        #expect(await time.carryOut { time.isOverdue } == false)
        time.end()
    }

    @Test func `a task that is cancelled wakes at once, and its deadline is forgotten`() async throws {
        let time = VirtualTime(.manual)
        let clock = RunClock(time)
        let task = Task(executorPreference: time.executor) {
            do { try await clock.sleep(for: .seconds(1)) } catch { log.put("\(type(of: error))") }
        }
        task.cancel()
        #expect(try await log.take(1) == ["CancellationError"])
        #expect(await time.carryOut { await time.advance(by: .seconds(2)) } == .seconds(2))
    }

    @Test func `the end of a run wakes tasks and requests`() async throws {
        let time = VirtualTime(.manual)
        let clock = RunClock(time)
        let task = Task(executorPreference: time.executor) {
            (try? await clock.sleep(for: .seconds(1))) == nil
        }
        #expect(await time.carryOut { 1 } == 1)
        time.end()
        #expect(await task.value)
        #expect(await time.carryOut { (try? await clock.sleep(for: .seconds(1))) == nil })
        #expect(time.now == .zero)
    }

    @Test func `a request whose caller is cancelled is cancelled too, also while it waits for its turn`()
        async throws
    {
        let time = VirtualTime(.manual)
        let clock = RunClock(time)
        let sleep: @Sendable () async -> Bool = { (try? await clock.sleep(for: .seconds(1))) != nil }
        // Its sleep keeps the others waiting: with a hold, no time passes.
        let first = Task {
            await time.carryOut {
                log.put("first")
                return await time.waitOutside { await sleep() }
            }
        }
        #expect(try await log.take(1) == ["first"])
        let second = Task { await time.carryOut { await sleep() } }
        second.cancel()
        first.cancel()
        #expect(await first.value == false)
        #expect(await second.value == false)
        #expect(time.now == .zero)
        #expect(await time.carryOut { await sleep() })
        #expect(time.now == .seconds(1))
    }

    @Test func `time that is released moves without a request`() async throws {
        let time = VirtualTime(.manual)
        start(time) { sleeper("a", on: time, [10, 20]) }
        #expect(await time.carryOut { 1 } == 1)
        #expect(time.now == .zero)
        time.release()
        #expect(try await log.take(2) == ["a 10", "a 20"])
    }

    @Test func `time that begins anew forgets its deadlines, and what sleeps is cancelled`() async throws {
        let time = VirtualTime(.manual)
        let clock = RunClock(time)
        let task = Task(executorPreference: time.executor) {
            (try? await clock.sleep(for: .seconds(3))) == nil
        }
        let old = time.schedule(at: .seconds(3)) { log.put("old") }
        #expect(await time.carryOut { await time.advance(by: .seconds(2)) } == .seconds(2))
        await time.carryOut { time.restart() }
        #expect(time.now == .zero)
        #expect(await task.value)
        time.schedule(at: .seconds(1)) { log.put("new") }
        time.cancel(old)
        #expect(await time.carryOut { await time.advance(by: .seconds(5)) } == .seconds(5))
        #expect(try await log.take(1) == ["new"])
    }

    @Test func `a scheduled call can be cancelled`() async throws {
        let time = VirtualTime(.manual)
        let token = time.schedule(at: .seconds(1)) { log.put("cancelled") }
        time.schedule(at: .seconds(1)) { log.put("kept") }
        time.cancel(token)
        #expect(await time.carryOut { await time.advance(by: .seconds(2)) } == .seconds(2))
        #expect(try await log.take(1) == ["kept"])
    }

    @Test func `the calendar begins at 2026 and moves with the time`() async {
        let time = VirtualTime(.manual)
        let clock = RunClock(time)
        #expect(clock.wallMicroseconds == 1_767_225_600_000_000)
        _ = await time.carryOut { await time.advance(by: .seconds(90)) }
        #expect(clock.wallMicroseconds == 1_767_225_690_000_000)
    }
}
