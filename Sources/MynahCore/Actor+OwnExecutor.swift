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
