/// The owner of a layer of faults: its calls are made on the radio's executor.
package struct FaultyRadioOwner: Sendable {
    /// Whether a condition of a fault holds now.
    package var holds: @Sendable (_ condition: FaultCondition, _ fault: String) -> Bool
    /// Notes a fault that was applied.
    package var applied: @Sendable (FaultFiring) -> Void

    /// An owner; by default no condition holds, and firings are ignored.
    package init(
        holds: @escaping @Sendable (_ condition: FaultCondition, _ fault: String) -> Bool = { _, _ in false },
        applied: @escaping @Sendable (FaultFiring) -> Void = { _ in }
    ) {
        self.holds = holds
        self.applied = applied
    }
}
