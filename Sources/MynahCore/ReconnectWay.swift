/// A way to connect to a known device again (Core Bluetooth Programming Guide, "Reconnecting to
/// Peripherals").
package enum ReconnectWay: String, Hashable, Sendable, CaseIterable {
    /// The app retrieves the device by its saved identifier (retrievePeripherals(withIdentifiers:)).
    case known
    /// The app retrieves the device because the phone is already connected to it
    /// (retrieveConnectedPeripherals(withServices:)).
    case connected
    /// The app scans for the device.
    case scan
}
