import MynahSupport
import MynahTestSupport
import Testing

/// Lets a few tests at a time have processes, so that each process gets enough of the machine to be heard.
struct ProcessSlots: SuiteTrait, TestTrait, TestScoping {
    private struct State {
        var free = 8
        var waiting: [Waiter<Void>] = []
    }

    private static let state = Lock(State())

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        try await Self.take()
        defer { Self.giveBack() }
        try await function()
    }

    private static func take() async throws {
        // As long as a suite may take.
        try await waiting(for: "the turn of a test with processes", limit: .seconds(900)) { waiter in
            let isFree = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(waiter)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { waiter.resume() }
        }
    }

    private static func giveBack() {
        while true {
            let next: Waiter<Void>? = state.withLock { state in
                guard !state.waiting.isEmpty else {
                    state.free += 1
                    return nil
                }
                return state.waiting.removeFirst()
            }
            // One whose test was cancelled does not take it.
            guard let next, !next.resume() else { return }
        }
    }
}

extension Trait where Self == ProcessSlots {
    /// Its tests have processes.
    static var processes: Self { ProcessSlots() }
}
