/// A background mode of an iOS app (UIBackgroundModes).
public enum BackgroundMode: String, Hashable, Sendable, CaseIterable {
    /// The app acts as a peripheral in the background.
    case bluetoothPeripheral = "bluetooth-peripheral"
    /// The app acts as a central in the background.
    case bluetoothCentral = "bluetooth-central"
}
