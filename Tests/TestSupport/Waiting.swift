import MynahSupport

/// A wait that ended without what it waited for.
package struct WaitFailure: Error, CustomStringConvertible {
    /// The event that was awaited, and why the wait ended.
    package let description: String

    static func limit(_ limit: Duration, _ awaited: String) -> WaitFailure {
        WaitFailure(description: "waited \(limit.components.seconds) s in vain: \(awaited)")
    }

    static func cancelled(_ awaited: String) -> WaitFailure {
        WaitFailure(description: "the test was cancelled while it waited: \(awaited)")
    }
}

/// The time that a wait may take.
///
/// It is longer than the whole run takes on a busy machine of two cores, because every test is under way at
/// once, and shorter than the time limit of a suite.
package let waitLimit: Duration = .seconds(600)

/// Returns when `condition` holds.
///
/// Throws `WaitFailure` if the limit passes or the test is cancelled before.  `awaited` says in words what
/// holds then.
package func until(
    _ awaited: String, limit: Duration = waitLimit, _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    var rounds = 0
    while try await !condition() {
        if Task.isCancelled { throw WaitFailure.cancelled(awaited) }
        if ContinuousClock.now >= deadline { throw WaitFailure.limit(limit, awaited) }
        rounds += 1
        // An awaited event is usually a few turns of an executor away. After that, leave the processor
        // to others.
        if rounds < 200 {
            await Task.yield()
        } else {
            try? await Task.sleep(for: .milliseconds(1))
        }
    }
}

/// A test's suspended wait.
///
/// It ends once: with a value, or with the failure of its limit or its test.
package final class Waiter<Value: Sendable>: Sendable {
    private enum State {
        case new
        case suspended(CheckedContinuation<Value, any Error>)
        case ended(Result<Value, any Error>)
    }

    private let state = Lock(State.new)

    fileprivate init() {}

    /// Ends the wait with a value.
    ///
    /// Returns false if it had ended before.
    @discardableResult
    package func resume(returning value: Value) -> Bool { end(.success(value)) }

    fileprivate var hasEnded: Bool {
        state.withLock { if case .ended = $0 { true } else { false } }
    }

    @discardableResult
    fileprivate func end(_ result: Result<Value, any Error>) -> Bool {
        let (isFirst, continuation): (Bool, CheckedContinuation<Value, any Error>?) = state.withLock {
            switch $0 {
            case .ended: return (false, nil)
            case .new:
                $0 = .ended(result)
                return (true, nil)
            case .suspended(let continuation):
                $0 = .ended(result)
                return (true, continuation)
            }
        }
        continuation?.resume(with: result)
        return isFirst
    }

    fileprivate func value() async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let result: Result<Value, any Error>? = state.withLock {
                if case .ended(let result) = $0 { return result }
                $0 = .suspended(continuation)
                return nil
            }
            if let result { continuation.resume(with: result) }
        }
    }
}

extension Waiter where Value == Void {
    /// Ends the wait.
    ///
    /// Returns false if it had ended before.
    @discardableResult
    package func resume() -> Bool { resume(returning: ()) }
}

/// Suspends until somebody resumes the waiter.
///
/// Throws `WaitFailure` if the limit passes or the test is cancelled before; the limit begins anew while
/// `progress` changes. `register` keeps the waiter for the code that resumes it, or resumes it at once.
/// `awaited` says in words what is waited for.
package func waiting<Value: Sendable>(
    for awaited: String, limit: Duration = waitLimit, progress: @escaping @Sendable () -> Int = { 0 },
    _ register: (Waiter<Value>) -> Void
) async throws -> Value {
    let waiter = Waiter<Value>()
    register(waiter)
    if waiter.hasEnded { return try await waiter.value() }
    let alarm = Task {
        var (seen, isStill) = (progress(), false)
        while !isStill {
            try await Task.sleep(for: limit)
            let now = progress()
            (seen, isStill) = (now, now == seen)
        }
        waiter.end(.failure(WaitFailure.limit(limit, awaited)))
    }
    defer { alarm.cancel() }
    return try await withTaskCancellationHandler {
        try await waiter.value()
    } onCancel: {
        waiter.end(.failure(WaitFailure.cancelled(awaited)))
    }
}

/// Values that one side puts in and a test takes out, in order.
package final class Mailbox<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var waiters: [(count: Int, waiter: Waiter<[Element]>)] = []
    }

    private let name: String
    private let state = Lock(State())

    /// An empty mailbox.
    ///
    /// A wait that fails says the name.
    package init(_ name: String) { self.name = name }

    /// Adds an element.
    package func put(_ element: Element) {
        state.withLock { state in
            state.elements.append(element)
            Self.serve(&state)
        }
    }

    /// Waits for this many elements, takes them out and returns them.
    package func take(_ count: Int = 1) async throws -> [Element] {
        try await waiting(for: "\(count) of \(name)") { waiter in
            state.withLock { state in
                state.waiters.append((count, waiter))
                Self.serve(&state)
            }
        }
    }

    private static func serve(_ state: inout State) {
        while let next = state.waiters.first, next.waiter.hasEnded || next.count <= state.elements.count {
            state.waiters.removeFirst()
            // A wait that has failed takes nothing.
            if next.waiter.resume(returning: Array(state.elements.prefix(next.count))) {
                state.elements.removeFirst(next.count)
            }
        }
    }
}
