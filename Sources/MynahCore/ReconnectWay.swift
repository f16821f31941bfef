/// A way back to a device (Core Bluetooth Programming Guide, "Reconnecting to Peripherals").
package enum ReconnectWay: String, Hashable, Sendable, CaseIterable {
    /// A device whose identifier the app has saved (retrievePeripherals(withIdentifiers:)).
    case known
    /// A device that the phone is connected to already (retrieveConnectedPeripherals(withServices:)).
    case connected
    /// A device that a scan discovers.
    case scan
}
