/// The procedures that a radio's controller can run at the same time as scanning.
///
/// All are possible by default.
public struct CentralCapabilities: Hashable, Sendable {
    /// `true` if the radio can scan while it is connected to a peripheral.
    package var scansBesidePeripherals = true
    /// `true` if the radio can scan while a central is connected to it.
    package var scansBesideCentrals = true
    /// `true` if the radio can scan while it advertises for connections.
    package var scansBesideAdvertising = true

    /// Makes the capabilities of a radio that can do everything.
    package init() {}
}
