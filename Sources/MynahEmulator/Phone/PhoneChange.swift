import MynahCore

/// An act of the user on a phone, beside turning Bluetooth off or on.
///
/// The raw value is the word for it on the command line and in the event `phone.changed`.
package enum PhoneChange: String, Hashable, Sendable, CaseIterable {
    /// Bluetooth is turned off in Settings.
    case settingsOff
    /// Bluetooth is turned off in Control Center, as `poweredOff` does.
    case controlCenterOff
    /// Airplane Mode is turned on, and Bluetooth off with it.
    case airplaneMode
    /// The phone restarts, and is locked from then on.
    case restart
    /// The phone is unlocked for the first time after a restart.
    case unlock
    /// The screen is turned off.
    case screenOff
    /// The screen is turned on; the app that was on it comes back when its user opens it.
    case screenOn

    /// `true` if the change turns Bluetooth off, which other programs may use with BlueZ.
    var setsPower: Bool {
        switch self {
        case .settingsOff, .controlCenterOff, .airplaneMode, .restart: true
        case .unlock, .screenOff, .screenOn: false
        }
    }

    /// The change's column in the rules for relaunching, or `nil` if they do not name it.
    var relaunchCause: RelaunchCause? { RelaunchCause(rawValue: rawValue) }
}
