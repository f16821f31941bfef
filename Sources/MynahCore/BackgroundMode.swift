/// What iOS lets an app do while it is not on the screen (UIBackgroundModes).
public enum BackgroundMode: String, Hashable, Sendable, CaseIterable {
    /// Act as a peripheral.
    case bluetoothPeripheral = "bluetooth-peripheral"
    /// Act as a central.
    case bluetoothCentral = "bluetooth-central"
}
