/// A radio in any role.
///
/// The radio is an actor, whose executor the phone and its managers share, so that a request does not change
/// threads.
public protocol Radio: Actor {
    /// The executor that tasks which use the radio should prefer.
    ///
    /// The value is `nil` if tasks may start on the concurrent pool. With virtual time, everything in a run
    /// shares one executor.
    nonisolated var preferredExecutor: (any TaskExecutor)? { get }
}

extension Radio {
    /// Returns `nil`, because the radio does not use virtual time.
    public nonisolated var preferredExecutor: (any TaskExecutor)? { nil }
}
