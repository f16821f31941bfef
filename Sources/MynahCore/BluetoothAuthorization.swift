/// The user's permission for an app to use Bluetooth (CBManagerAuthorization).
public enum BluetoothAuthorization: String, Hashable, Sendable, CaseIterable {
    /// The user has not been asked, or has not answered.
    case notDetermined
    /// The restrictions of the phone forbid it, and the user cannot allow it.
    case restricted
    /// The user denied it.
    case denied
    /// The user allowed it.
    case allowedAlways
}
