import MynahSupport

/// A value that is set once and received once, in either order.
struct OneShot<Value: Sendable>: Sendable {
    private enum State {
        case waiting
        case givenEarly(Value)
        case awaited(@Sendable (Value) -> Void)
        case done
    }

    private let state = Lock<State>(.waiting)

    /// Calls `continuation` with the value, now or when it is set, on the thread that sets it.
    ///
    /// A second call receives `fallback` at once, because the first call receives the value.
    func whenGiven(otherwise fallback: Value, _ continuation: @escaping @Sendable (Value) -> Void) {
        let early: Value? = state.withLock { state in
            switch state {
            case .waiting:
                state = .awaited(continuation)
                return nil
            case .givenEarly(let value):
                state = .done
                return value
            case .awaited, .done: return fallback
            }
        }
        if let early { continuation(early) }
    }

    /// Sets the value; returns `false`, and does nothing, if it was set before.
    @discardableResult
    func give(_ value: Value) -> Bool {
        let (isFirst, continuation): (Bool, (@Sendable (Value) -> Void)?) = state.withLock { state in
            switch state {
            case .waiting:
                state = .givenEarly(value)
                return (true, nil)
            case .awaited(let continuation):
                state = .done
                return (true, continuation)
            case .givenEarly, .done: return (false, nil)
            }
        }
        continuation?(value)
        return isFirst
    }
}
