import MynahSupport
import MynahTestSupport
import Testing

@Suite struct ManualClockTests {
    let clock = ManualClock()

    @Test func `time stands still until it is moved, and then moves forwards`() {
        let start = clock.now
        #expect(start.duration(to: clock.now) == .zero)
        clock.advance(by: .seconds(3))
        #expect(start.duration(to: clock.now) == .seconds(3))
        #expect(clock.now > start)
        #expect(clock.now.duration(to: start) == .seconds(-3))
    }

    @Test func `a sleeper wakes at its deadline, not before`() async throws {
        let clock = clock
        let isAwake = Lock(false)
        let task = Task {
            try await clock.sleep(until: clock.now.advanced(by: .seconds(2)))
            isAwake.withLock { $0 = true }
        }
        await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(1999))
        #expect(clock.sleeperCount == 1)
        #expect(isAwake.withLock { !$0 })
        clock.advance(by: .milliseconds(1))
        try await task.value
        #expect(isAwake.withLock { $0 })
    }

    @Test func `a deadline that has passed is no sleep`() async throws {
        clock.advance(by: .seconds(1))
        try await clock.sleep(until: clock.now)
        #expect(clock.sleeperCount == 0)
    }

    @Test func `a cancelled sleeper throws and is forgotten`() async {
        let clock = clock
        let task = Task { try await clock.sleep(until: clock.now.advanced(by: .seconds(1))) }
        await clock.waitForSleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeperCount == 0)
        clock.advance(by: .seconds(2))
    }
}
