import MynahSupport

/// A value for which one caller waits; if several values are given, the first one counts.
final class FirstResult<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var call: CheckedContinuation<Value, Never>?
    }

    private let state = Lock(State())

    /// Gives a value, unless one was given before.
    func give(_ value: Value) {
        let call = state.withLock { state -> CheckedContinuation<Value, Never>? in
            guard state.value == nil else { return nil }
            state.value = value
            defer { state.call = nil }
            return state.call
        }
        call?.resume(returning: value)
    }

    /// The first value; only one caller can wait.
    var value: Value {
        get async {
            await withCheckedContinuation { call in
                let early = state.withLock { state -> Value? in
                    if state.value == nil { state.call = call }
                    return state.value
                }
                if let early { call.resume(returning: early) }
            }
        }
    }
}
