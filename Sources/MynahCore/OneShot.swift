import MynahSupport

/// A value that is given once and taken once, whichever comes first.
struct OneShot<Value: Sendable>: Sendable {
    private enum State {
        case waiting
        case givenEarly(Value)
        case awaited(@Sendable (Value) -> Void)
        case done
    }

    private let state = Lock<State>(.waiting)

    /// Takes the value when it is given, once, on the thread that gives it.
    func whenGiven(_ continuation: @escaping @Sendable (Value) -> Void) {
        let early: Value? = state.withLock { state in
            switch state {
            case .waiting:
                state = .awaited(continuation)
                return nil
            case .givenEarly(let value):
                state = .done
                return value
            case .awaited, .done:
                preconditionFailure("a reply was taken twice")
            }
        }
        if let early { continuation(early) }
    }

    /// Gives the value; traps if there is one already, unless it is given only `ifMissing`.
    func give(_ value: Value, ifMissing: Bool = false) {
        let continuation: (@Sendable (Value) -> Void)? = state.withLock { state in
            switch state {
            case .waiting:
                state = .givenEarly(value)
                return nil
            case .awaited(let continuation):
                state = .done
                return continuation
            case .givenEarly, .done:
                precondition(ifMissing, "a request was answered twice")
                return nil
            }
        }
        continuation?(value)
    }
}
