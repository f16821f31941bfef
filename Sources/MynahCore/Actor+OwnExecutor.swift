extension Actor {
    /// Runs `body` at once; the caller already runs on this actor's executor.
    ///
    /// A phone, its radio and the handles that it gives out are different actors on one executor.
    package nonisolated func onOwnExecutor<Value: Sendable, Failure: Error>(
        _ body: @Sendable (isolated Self) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        do {
            return try assumeIsolated { try body($0) }
        } catch {
            // `assumeIsolated` throws what its closure does, untyped.
            guard let failure = error as? Failure else {
                preconditionFailure("\(error) is no \(Failure.self)")
            }
            throw failure
        }
    }
}

/// A value that may only be used on one executor, such as a delegate that keeps its state in plain
/// properties.
///
/// A phone, its apps and its managers are several actors on one executor, which protects the value like an
/// actor's own properties. The compiler does not consider executors, and would let only one of the actors use
/// the value.
@usableFromInline package struct Owned<Value>: @unchecked Sendable {
    // `@unchecked`: `value` is handed to the code of `call` only, which traps unless the caller is on the
    // executor of the actor that it names; all those actors belong to one phone. The caller of `init` runs on
    // the executor too, or does not use the value afterwards. A value that is an object may end on any
    // thread.
    @usableFromInline let value: Value

    /// Wraps a value that may only be used on one executor.
    package init(_ value: Value) { self.value = value }

    /// Calls `body` at once with an actor, the value and an event; the caller already runs on the executor of
    /// the actor.
    ///
    /// `assumeIsolated` does the same, but allocates memory at each call. This function allocates nothing if
    /// `body` captures nothing.
    @inlinable package func call<Owner: Actor, Event, Result>(
        on owner: Owner, _ event: Event, _ body: @escaping @Sendable (isolated Owner, Value, Event) -> Result
    ) -> Result {
        owner.preconditionIsolated()
        return unsafeBitCast(body, to: (@Sendable (Owner, Value, Event) -> Result).self)(owner, value, event)
    }
}
