import MynahSupport
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct ManualClockTests {
    let clock = ManualClock()

    @Test func `time stops until it is moved, and then moves forwards`() {
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
        try await clock.waitForSleepers(1)
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

    @Test func `a cancelled sleeper throws and is forgotten`() async throws {
        let clock = clock
        let task = Task { try await clock.sleep(until: clock.now.advanced(by: .seconds(1))) }
        try await clock.waitForSleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeperCount == 0)
        clock.advance(by: .seconds(2))
    }

    @Test func `sleepers wake in the order of their deadlines, and of equal ones in the order they lay down`()
        async throws
    {
        let clock = clock
        let diary = Diary()
        var tasks: [Task<Void, any Error>] = []
        for (seconds, name) in [(3, "last"), (1, "first"), (2, "second"), (2, "third")] {
            tasks.append(Task { try await diary.sleep(on: clock, .seconds(seconds), thenNote: name) })
            try await clock.waitForSleepers(tasks.count)
        }
        clock.advance(by: .seconds(5))
        for task in tasks { _ = await task.result }
        #expect(await diary.notes == ["first", "second", "third", "last"])
    }

    @Test func `a wait for sleepers ends when there are that many`() async throws {
        let clock = clock
        let sleepers = (0..<3).map { _ in
            Task { try await clock.sleep(until: clock.now.advanced(by: .seconds(1))) }
        }
        try await clock.waitForSleepers(3)
        #expect(clock.sleeperCount == 3)
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(1))
        for sleeper in sleepers { await #expect(throws: Never.self) { try await sleeper.value } }
        #expect(clock.sleeperCount == 0)
        try await clock.waitForSleepers(0)
    }

    @Test func `a task that is cancelled before it sleeps does not sleep`() async {
        let clock = clock
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(until: clock.now.advanced(by: .seconds(1)))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test func `the library's own sleep and deadlines work on it`() async throws {
        let clock = clock
        let task = Task { try await clock.sleep(for: .seconds(2)) }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        try await task.value
        #expect(clock.now.offset == .seconds(2))
    }

    /// Wakes on one executor, which keeps the order of the wakings.
    private actor Diary {
        var notes: [String] = []

        func sleep(on clock: ManualClock, _ duration: Duration, thenNote name: String) async throws {
            try await clock.sleep(until: clock.now.advanced(by: duration))
            notes.append(name)
        }
    }
}

@Suite struct SeededGeneratorTests {
    @Test func `one seed gives one run of numbers, which is SplitMix64's`() {
        var generator = SeededGenerator(seed: 0)
        #expect(generator.next() == 0xE220_A839_7B1D_CDAF)
        #expect(generator.next() == 0x6E78_9E6A_A1B9_65F4)
        var other = SeededGenerator(seed: 1)
        #expect(other.next() != 0xE220_A839_7B1D_CDAF)
        #expect(other.bytes(upTo: 5).count <= 5)
    }
}
