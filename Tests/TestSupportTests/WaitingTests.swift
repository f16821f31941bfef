import MynahSupport
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct WaitingTests {
    /// The failure of a wait, in words.
    private func failure(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test func `a condition that holds ends the wait, at once or later`() async throws {
        try await until("it holds") { true }
        var rounds = 0
        try await until("the round 250") {
            rounds += 1
            return rounds == 250
        }
        #expect(rounds == 250)
    }

    @Test func `a wait whose limit passes fails with what it waited for`() async {
        let text = await failure { try await until("the cows come home", limit: .milliseconds(1)) { false } }
        #expect(text == "waited 0 s in vain: the cows come home")
        let other = await failure {
            let _: Int = try await waiting(for: "a number", limit: .milliseconds(1)) { _ in }
        }
        #expect(other == "waited 0 s in vain: a number")
    }

    @Test func `a wait ends with its test, and says what it waited for`() async throws {
        let waiters = Mailbox<Waiter<Int>>("the waiters")
        let polling = Task { await failure { try await until("never") { false } } }
        let suspended = Task {
            await failure { let _: Int = try await waiting(for: "a number") { waiters.put($0) } }
        }
        let waiter = try await waiters.take()[0]
        polling.cancel()
        suspended.cancel()
        #expect(await polling.value == "the test was cancelled while it waited: never")
        #expect(await suspended.value == "the test was cancelled while it waited: a number")
        #expect(!waiter.resume(returning: 1), "it had ended")
    }

    @Test func `a wait returns the first value that it is given, also before it is suspended`() async throws {
        let early: Int = try await waiting(for: "a number") { waiter in
            #expect(waiter.resume(returning: 1))
            #expect(!waiter.resume(returning: 2))
        }
        #expect(early == 1)
        let late: Int = try await waiting(for: "a number") { waiter in
            Task { waiter.resume(returning: 3) }
        }
        #expect(late == 3)
    }

    @Test func `a mailbox gives what was put in, in order, and as much as is asked for`() async throws {
        let box = Mailbox<Int>("numbers")
        for number in 1...3 { box.put(number) }
        #expect(try await box.take() == [1])
        #expect(try await box.take(2) == [2, 3])
        let next = Task { try await box.take(2) }
        box.put(4)
        box.put(5)
        #expect(try await next.value == [4, 5])
    }

    @Test func `a take that was cancelled takes nothing from the next`() async throws {
        let box = Mailbox<Int>("numbers")
        let task = Task { await failure { _ = try await box.take() } }
        task.cancel()
        #expect(await task.value?.hasSuffix("1 of numbers") == true)
        box.put(1)
        #expect(try await box.take() == [1])
    }
}
