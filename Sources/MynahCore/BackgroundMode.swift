/// A background mode of an iOS app (UIBackgroundModes).
public enum BackgroundMode: String, Hashable, Sendable, CaseIterable {
    /// Act as a peripheral.
    case bluetoothPeripheral = "bluetooth-peripheral"
    /// Act as a central.
    case bluetoothCentral = "bluetooth-central"
}
