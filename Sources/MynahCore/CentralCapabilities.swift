/// The procedures that a radio's controller can run at the same time as a scan.
///
/// By default, all of them are possible.
public struct CentralCapabilities: Hashable, Sendable {
    /// `true` if the radio can scan while it is connected to a peripheral.
    package var scansBesidePeripherals = true
    /// `true` if the radio can scan while a central is connected to it.
    package var scansBesideCentrals = true
    /// `true` if the radio can scan while it sends connectable advertising.
    package var scansBesideAdvertising = true

    /// Makes the capabilities of a radio that can scan at any time.
    package init() {}
}
