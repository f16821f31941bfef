package import MynahCore

/// A report that a fault was applied.
package struct FaultFiring: Hashable, Sendable {
    /// The name of the fault.
    package var fault: String
    /// The kind of trigger.
    package var trigger: FaultTrigger.Kind
    /// The central, or `nil` if there is none, or if there are several.
    package var central: Peer.ID?

    /// Makes a firing.
    package init(fault: String, trigger: FaultTrigger.Kind, central: Peer.ID? = nil) {
        self.fault = fault
        self.trigger = trigger
        self.central = central
    }
}
