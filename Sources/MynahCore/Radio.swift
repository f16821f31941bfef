/// A radio in any role.
///
/// The radio is an actor, whose executor the phone and its managers share, so that a request needs no change
/// of thread.
public protocol Radio: Actor {
    /// The executor that tasks about the radio must prefer, or `nil` if they start on the concurrent pool.
    ///
    /// With virtual time, everything in a run shares one executor.
    nonisolated var preferredExecutor: (any TaskExecutor)? { get }
}

extension Radio {
    /// Returns `nil`, because the radio uses the machine's time.
    public nonisolated var preferredExecutor: (any TaskExecutor)? { nil }
}
