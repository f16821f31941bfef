import Testing

@Suite struct TimeRuleTests {
    @Test func `the machine's time is used in listed sources only`() throws {
        for (path, source) in try SourceFolder.sources.get() {
            let count = TimeRules.clockCount(source)
            #expect(count == TimeRules.clocks[path]?.count ?? 0, "\(path): take the time from the RunClock")
        }
    }

    @Test func `tasks away from the run's executor are started in listed sources only`() throws {
        for (path, source) in try SourceFolder.sources.get() {
            let count = TimeRules.strayCount(source)
            #expect(
                count <= TimeRules.strays[path]?.count ?? 0, "\(path): give each task an executorPreference")
        }
    }

    @Test func `no lock has a function as its value`() throws {
        for (path, source) in try SourceFolder.sources.get() {
            #expect(TimeRules.lockedFunctions(of: path, source) == [])
        }
    }

    @Test func `every listed source exists`() throws {
        let paths = Set(try SourceFolder.sources.get().map(\.path))
        #expect(Set(TimeRules.clocks.keys).union(TimeRules.strays.keys).isSubset(of: paths))
    }

    @Test(arguments: [
        ("let a = ContinuousClock.now", 1), ("try await Task.sleep(for: .seconds(1))", 1),
        ("clock_gettime(CLOCK_REALTIME, &time); queue.asyncAfter(deadline: .now()) {}", 2),
        ("try await clock.sleep(for: .seconds(1)) // ContinuousClock", 0), ("let a = \"usleep\"", 0),
    ])
    func `the machine's time is found where it is used`(text: String, count: Int) {
        #expect(TimeRules.clockCount(SourceText(text)) == count)
    }

    @Test(arguments: [
        ("Task { await run() }", 1), ("Task.detached { run() }", 1), ("Task(priority: .high) { run() }", 1),
        ("Task(executorPreference: clock.taskExecutor) { await run() }", 0),
        ("Task(executorPreference: executor) { Task { await run() } }", 1),
    ])
    func `a task away from the executor is found`(text: String, count: Int) {
        #expect(TimeRules.strayCount(SourceText(text)) == count)
    }

    @Test(arguments: [
        ("let a = Lock<@Sendable () -> Void>({})", 1), ("let a = Lock<(@Sendable () -> Bool)?>(nil)", 1),
        ("private let a = Lock<(id: Int, end: () -> Void)?>(nil)", 1), ("let a: Lock<[Int: () -> Int]>", 1),
        ("let a = Lock<Closing?>(nil)", 0), ("func f(_ a: Lock<Int>) -> Int { 1 }", 0),
        ("let a: Lock<Box<Int>>; let f: (Int) -> Int", 0),
    ])
    func `a lock around a function is found`(text: String, count: Int) {
        #expect(TimeRules.lockedFunctions(of: "A.swift", SourceText(text)).count == count)
    }
}
