/// What both roles of a radio have in common: an executor.
///
/// An actor whose executor the phone and its managers share, so that a request needs no change of thread.
public protocol Radio: Actor {
    /// For tasks about the radio that are isolated to no actor: they start on the radio's executor, in order.
    ///
    /// `nil` if such tasks start on the concurrent pool, where their order is not defined.
    nonisolated var taskExecutor: (any TaskExecutor)? { get }
}

extension Radio {
    /// Returns `nil`: tasks start on the concurrent pool.
    public nonisolated var taskExecutor: (any TaskExecutor)? { nil }
}
