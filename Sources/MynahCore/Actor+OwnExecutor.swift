extension Actor {
    /// Runs `body` synchronously; the caller must already run on this actor's executor.
    ///
    /// A phone, its radio and the objects that it returns are different actors on one executor.
    package nonisolated func onOwnExecutor<Value: Sendable, Failure: Error>(
        _ body: @Sendable (isolated Self) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        do {
            return try assumeIsolated { try body($0) }
        } catch {
            // `assumeIsolated` throws the error of its closure, but untyped.
            guard let failure = error as? Failure else {
                preconditionFailure("\(error) is no \(Failure.self)")
            }
            throw failure
        }
    }
}

/// A value that may be used only on one executor, such as a delegate that keeps its state in plain
/// properties.
///
/// A phone, its apps and its managers are several actors on one executor. That executor protects the value
/// in the same way as an actor's own properties. The compiler does not know this, and would let only one of
/// the actors use the value.
@usableFromInline package struct Owned<Value>: @unchecked Sendable {
    // `@unchecked`: only the closure of `call` can use `value`, and `call` traps unless the caller is on the
    // executor of the given actor; all those actors belong to one phone. The caller of `init` runs on the
    // executor too, or does not use the value afterwards. If the value is an object, it may be released on
    // any thread.
    @usableFromInline let value: Value

    /// Wraps a value that may be used only on one executor.
    package init(_ value: Value) { self.value = value }

    /// Calls `body` synchronously with an actor, the value and an event.
    ///
    /// The caller must already run on the executor of the actor. `assumeIsolated` does the same, but
    /// allocates memory in each call. This function allocates nothing if `body` captures nothing.
    @inlinable package func call<Owner: Actor, Event, Result>(
        on owner: Owner, _ event: Event, _ body: @escaping @Sendable (isolated Owner, Value, Event) -> Result
    ) -> Result {
        owner.preconditionIsolated()
        return unsafeBitCast(body, to: (@Sendable (Owner, Value, Event) -> Result).self)(owner, value, event)
    }
}
