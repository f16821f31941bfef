/// The central-role procedures that a radio's controller can run at the same time as others.
///
/// Unless the controller says otherwise, it can do all of it.
public struct CentralCapabilities: Hashable, Sendable {
    /// Whether it can scan while it is connected to a peripheral.
    package var scansBesidePeripherals = true
    /// Whether it can scan while a central is connected to it.
    package var scansBesideCentrals = true
    /// Whether it can scan while it advertises for connections.
    package var scansBesideAdvertising = true

    /// All of it.
    package init() {}
}
