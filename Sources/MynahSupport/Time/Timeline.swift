/// The deadlines and waiting requests of a run with virtual time, and the rule for advancing the time.
///
/// A request is work that code outside of the run asks the run to do, for example a command of the user.
///
/// The timeline has no thread. Its executor carries out the next step when no job is left.
final class Timeline: Sendable {
    /// Identifies a waiter, which is a sleeping task or a scheduled call.
    typealias Token = UInt64

    private struct Entry: Comparable, Sendable {
        var due: Int64
        var token: Token

        /// Orders entries by time, and entries with the same time by the order in which they were added.
        static func < (left: Entry, right: Entry) -> Bool {
            left.due == right.due ? left.token < right.token : left.due < right.due
        }
    }

    private enum Waiter: Sendable {
        /// A task has this token, and is about to sleep.
        case reserved
        case sleeper(CheckedContinuation<Void, any Error>)
        case body(@Sendable () -> Void)
    }

    private enum Request: Sendable {
        /// A request from outside is being carried out.
        case running
        /// The work of the request is done; the function returns the result to the caller.
        case done(@Sendable () -> Void)
    }

    private struct State {
        /// The virtual time, in nanoseconds since the beginning.
        var now: Int64 = 0
        var entries = MinHeap<Entry>()
        /// The waiters by token.
        ///
        /// A heap entry whose token has no waiter is out of date.
        var waiters: [Token: Waiter] = [:]
        var lastToken: Token = 0
        /// The requests from outside that wait for their turn, in order.
        var inbox: [@Sendable () -> Void] = []
        var request: Request?
        /// The time limit of the current request, in the machine's time, and the function that stops the
        /// request.
        var limit: (end: ContinuousClock.Instant, stop: @Sendable () -> Void)?
        /// Whether the current request was stopped at its limit.
        var isOverdue = false
        /// Whether the run is stopping; the time then advances without a request, as with the pace `fast`.
        var isReleased = false
        /// The number of calls of `hold` without a matching `endHold`; if it is above 0, the time does not
        /// advance.
        var holds = 0
        /// Whether the run is over; the time then no longer advances.
        var isOver = false

        /// Removes out-of-date entries from the top of the heap.
        mutating func prune() {
            while let first = entries.first, waiters[first.token] == nil { entries.removeFirst() }
        }

        func mayMove(_ pace: VirtualTime.Pace) -> Bool {
            guard !isOver, holds == 0 else { return false }
            return switch (pace, request) {
            case (.fast, _), (.manual, .running): true
            case (.manual, .done), (.manual, nil): isReleased
            }
        }
    }

    private enum Step {
        case fire(Waiter)
        case call(@Sendable () -> Void)
    }

    let pace: VirtualTime.Pace
    private let state = Lock(State())

    init(_ pace: VirtualTime.Pace) {
        self.pace = pace
    }

    /// The virtual time, in nanoseconds since the beginning.
    var now: Int64 { state.withLock { $0.now } }

    // MARK: Deadlines

    /// Schedules a call of `body` at a time.
    ///
    /// If the time has passed, `body` is called when no other work is left.
    func add(at due: Int64, _ body: @escaping @Sendable () -> Void) -> Token {
        state.withLock { state in
            state.lastToken += 1
            state.waiters[state.lastToken] = .body(body)
            state.entries.insert(Entry(due: due, token: state.lastToken))
            return state.lastToken
        }
    }

    /// Makes a token for a task that is about to sleep.
    func reserve() -> Token {
        state.withLock { state in
            state.lastToken += 1
            state.waiters[state.lastToken] = .reserved
            return state.lastToken
        }
    }

    /// Resumes a sleeping task at a time.
    ///
    /// If the token was cancelled or the run is over, the task resumes at once with a `CancellationError`.
    func sleep(_ token: Token, until due: Int64, _ sleeper: CheckedContinuation<Void, any Error>) {
        let isCancelled = state.withLock { state in
            guard state.waiters[token] != nil, !state.isOver else { return true }
            state.waiters[token] = .sleeper(sleeper)
            state.entries.insert(Entry(due: due, token: token))
            return false
        }
        if isCancelled { sleeper.resume(throwing: CancellationError()) }
    }

    /// Removes the deadline of a token.
    ///
    /// A task that sleeps until this deadline is resumed with a `CancellationError`.
    func cancel(_ token: Token) {
        let waiter = state.withLock { state in
            let waiter = state.waiters.removeValue(forKey: token)
            if state.entries.count > 64 + 2 * state.waiters.count {
                let waiters = state.waiters
                state.entries.removeAll { waiters[$0.token] == nil }
            }
            return waiter
        }
        if case .sleeper(let sleeper)? = waiter { sleeper.resume(throwing: CancellationError()) }
    }

    // MARK: Requests

    /// Queues a request from outside; `start` begins its work.
    func add(_ start: @escaping @Sendable () -> Void) {
        state.withLock { $0.inbox.append(start) }
    }

    /// Calls `stop` if the current request takes longer than `limit`, in the machine's time.
    func limitRequest(to limit: Duration, _ stop: @escaping @Sendable () -> Void) {
        state.withLock { $0.limit = (.now + limit, stop) }
    }

    /// Whether the current request was stopped at its limit.
    var isOverdue: Bool { state.withLock { $0.isOverdue } }

    /// Ends the current request; `answer` is called when no other work is left.
    func finish(_ answer: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.request = .done(answer)
            state.limit = nil
            state.isOverdue = false
        }
    }

    /// Lets the time move without a request from now on, so that the run can stop.
    func release() { state.withLock { $0.isReleased = true } }

    /// Stops the time until `endHold` is called as often as `hold`.
    func hold() { state.withLock { $0.holds += 1 } }

    func endHold() { state.withLock { $0.holds -= 1 } }

    /// Ends the run: the time no longer advances, and sleeping tasks are cancelled.
    func end() {
        state.withLock { $0.isOver = true }
        forgetAll()
    }

    /// Sets the time to zero, removes all deadlines, and cancels sleeping tasks.
    func restart() {
        // Tokens are not reused: those of removed deadlines may be cancelled later.
        state.withLock { $0.now = 0 }
        forgetAll()
    }

    /// Whether the run is over, so that the time no longer advances.
    var isOver: Bool { state.withLock { $0.isOver } }

    private func forgetAll() {
        for token in state.withLock({ $0.waiters.keys.sorted() }) { cancel(token) }
    }

    // MARK: Steps

    /// Whether `carryOutNext` has something to do.
    var hasNext: Bool {
        state.withLock { state in
            state.prune()
            if case .done? = state.request { return true }
            if state.request == nil, !state.inbox.isEmpty { return true }
            guard let first = state.entries.first else { return false }
            return first.due <= state.now || first.due < .max && state.mayMove(pace)
        }
    }

    /// Carries out the next step.
    ///
    /// A deadline that has passed comes first, then the end or the start of a request, then the next
    /// deadline.
    func carryOutNext() {
        let step: Step? = state.withLock { state in
            state.prune()
            if let first = state.entries.first, first.due <= state.now { return removeFirst(first, &state) }
            if case .done(let answer)? = state.request {
                state.request = nil
                return .call(answer)
            }
            if state.request == nil, !state.inbox.isEmpty {
                state.request = .running
                return .call(state.inbox.removeFirst())
            }
            // An entry at the end of time would be carried out at once, again and again.
            guard let first = state.entries.first, first.due < .max, state.mayMove(pace) else { return nil }
            if let limit = state.limit, limit.end < .now {
                state.limit = nil
                state.isOverdue = true
                return .call(limit.stop)
            }
            state.now = first.due
            return removeFirst(first, &state)
        }
        switch step {
        case .fire(.sleeper(let sleeper)): sleeper.resume()
        case .fire(.body(let body)), .call(let body): body()
        case .fire(.reserved), nil: break
        }
    }

    private func removeFirst(_ entry: Entry, _ state: inout State) -> Step? {
        state.entries.removeFirst()
        return state.waiters.removeValue(forKey: entry.token).map { .fire($0) }
    }
}
