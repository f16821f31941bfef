/// The callbacks of a `FaultyRadio` to its owner, made on the radio's executor.
package struct FaultyRadioOwner: Sendable {
    /// Returns whether the condition of a fault holds now.
    package var holds: @Sendable (_ condition: FaultCondition, _ fault: String) -> Bool
    /// Handles a report that a fault was applied.
    package var applied: @Sendable (FaultFiring) -> Void

    /// Makes callbacks; by default, no condition holds, and applied faults are ignored.
    package init(
        holds: @escaping @Sendable (_ condition: FaultCondition, _ fault: String) -> Bool = { _, _ in false },
        applied: @escaping @Sendable (FaultFiring) -> Void = { _ in }
    ) {
        self.holds = holds
        self.applied = applied
    }
}
