import MynahControl
import MynahEmulator
import MynahSupport
import MynahTestSupport
import Testing

/// 10,000 waits from 8 clients at once.
@Suite(.timeLimit(.minutes(5))) struct EventWaitRaceTests {
    private static let clients = 8
    private static let rounds = 125
    /// The waits of a round that are set before, during and after their event, and one whose event never
    /// happens.
    private static let waits = 10
    private static let limit = Duration.seconds(2)

    /// Waits for the event with this number; `nil` if it did not come.
    private static func wait(
        for number: Int, since: UInt64, on journal: Journal, _ clock: ManualClock
    ) async throws -> FoundEvents? {
        let wait = EventWait(
            try EventMatch(parsing: "mtu.changed mtu=\(number)"), within: limit, since: since)
        do throws(ControlProblem) {
            return try await wait.answer(from: journal, clock: clock)
        } catch {
            #expect(error.status == 408)
            return nil
        }
    }

    /// A round of a client: nine waits with events, and one without; returns the numbers of the events that
    /// answered.
    private static func round(
        _ number: Int, on journal: Journal, _ clock: ManualClock
    ) async throws -> [UInt64] {
        let since = journal.kept.upperBound
        let first = number * waits
        let never = Task { try await wait(for: first, since: since, on: journal, clock) }
        let answers = try await withThrowingTaskGroup(of: (number: Int, answer: FoundEvents?).self) {
            group in
            // Before: they wait when the event happens.
            for number in first + 1...first + 3 {
                group.addTask { (number, try await wait(for: number, since: since, on: journal, clock)) }
            }
            try await clock.waitForSleepers(4)
            // During: the event happens on one thread while the wait is set on another one.
            for number in first + 1...first + 6 {
                group.addTask {
                    journal.append(Events.numbered(number))
                    return (0, nil)
                }
                if number > first + 3 {
                    group.addTask { (number, try await wait(for: number, since: since, on: journal, clock)) }
                }
            }
            // After.
            for number in first + 7...first + 9 {
                journal.append(Events.numbered(number))
                group.addTask { (number, try await wait(for: number, since: since, on: journal, clock)) }
            }
            var answers: [(number: Int, answer: FoundEvents?)] = []
            for try await answer in group where answer.number > 0 { answers.append(answer) }
            return answers
        }
        #expect(Set(answers.map(\.number)) == Set(first + 1...first + 9))
        for (number, answer) in answers {
            #expect(answer?.events.map(\.event) == [Events.numbered(number)])
            #expect(answer?.next == answer?.events.last.map { $0.seq + 1 })
            #expect(answer?.lost == 0)
        }
        // The last one lasts exactly as long as its limit.
        clock.advance(by: limit - .nanoseconds(1))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .nanoseconds(1))
        #expect(try await never.value == nil)
        return answers.compactMap { $0.answer?.events.first?.seq }
    }

    @Test func `no wait misses its event, takes it twice or outlives its limit`() async throws {
        let journal = Journal()
        let answered = try await withThrowingTaskGroup(of: [UInt64].self) { group in
            for client in 0..<Self.clients {
                group.addTask {
                    let clock = ManualClock()
                    var answered: [UInt64] = []
                    for round in 0..<Self.rounds {
                        answered += try await Self.round(client * Self.rounds + round, on: journal, clock)
                    }
                    #expect(clock.sleeperCount == 0)
                    return answered
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let events = Self.clients * Self.rounds * (Self.waits - 1)
        #expect(answered.count == events)
        #expect(Set(answered) == Set(1...UInt64(events)))
        #expect(journal.kept == 1..<UInt64(events) + 1)
        #expect(journal.waiterCount == 0)
    }

    @Test func `a wait is answered or ends in time when its event and its limit come together`() async throws
    {
        for _ in 0..<500 {
            let journal = Journal()
            let clock = ManualClock()
            async let answer = Self.wait(for: 1, since: 1, on: journal, clock)
            try await clock.waitForSleepers(1)
            async let event = journal.append(Events.numbered(1))
            clock.advance(by: Self.limit)
            #expect(await event == 1)
            let found = try await answer
            #expect(found == nil || found?.events.map(\.seq) == [1])
            #expect(journal.waiterCount == 0)
        }
    }

    @Test func `an event that happened before the limit counts, also if nobody has looked at it yet`() async {
        let journal = Journal()
        let found = await Task {
            // Nobody reads any more when the event happens.
            withUnsafeCurrentTask { $0?.cancel() }
            return try? await EventWait(Events.anyWrite).answer(
                from: journal, clock: LastMomentClock { journal.append(Events.write("01")) })
        }.value
        #expect(found?.events.map(\.seq) == [1])
    }

    @Test func `an event that comes while its reader begins to wait wakes it`() async {
        // Two that answer each other: each event comes at the moment in which the other one begins to wait.
        let (ping, pong) = (Journal(capacity: 1), Journal(capacity: 1))
        let last: UInt64 = 30_000
        async let player: Void = {
            for number in 1...last {
                await ping.changed(from: number)
                pong.append(Events.numbered(0))
            }
        }()
        for number in 1...last {
            ping.append(Events.numbered(0))
            #expect(await pong.changed(from: number))
        }
        await player
        #expect(ping.kept == last..<last + 1)
    }
}

/// A clock whose sleepers wake at once, and do something just before.
private struct LastMomentClock: Clock {
    let body: @Sendable () -> Void

    let now = ManualClock().now
    let minimumResolution = Duration.nanoseconds(1)

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws { body() }
}
