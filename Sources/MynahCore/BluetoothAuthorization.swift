/// The user's permission for an app to use Bluetooth (CBManagerAuthorization).
public enum BluetoothAuthorization: String, Hashable, Sendable, CaseIterable {
    /// The user has not been asked, or has not answered.
    case notDetermined
    /// The phone's restrictions forbid the use of Bluetooth, and the user cannot allow it.
    case restricted
    /// The user denied the use of Bluetooth.
    case denied
    /// The user allowed the use of Bluetooth.
    case allowedAlways
}
