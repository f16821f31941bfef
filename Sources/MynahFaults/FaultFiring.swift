package import MynahCore

/// A report that a fault was applied.
package struct FaultFiring: Hashable, Sendable {
    /// The name of the fault.
    package var fault: String
    /// The kind of trigger.
    package var trigger: FaultTrigger.Kind
    /// The central that the fault affected, or `nil` if it affected none or several.
    package var central: Peer.ID?

    package init(fault: String, trigger: FaultTrigger.Kind, central: Peer.ID? = nil) {
        self.fault = fault
        self.trigger = trigger
        self.central = central
    }
}
