import MynahCore

/// An action of the user on a phone, other than turning Bluetooth off or on.
///
/// The raw value is its name on the command line and in the event `phone.changed`.
package enum PhoneChange: String, Hashable, Sendable, CaseIterable {
    /// Bluetooth is turned off in Settings.
    case settingsOff
    /// Bluetooth is turned off in Control Center, with the same effect as `poweredOff`.
    case controlCenterOff
    /// Airplane Mode is turned on, which turns Bluetooth off.
    case airplaneMode
    /// The phone restarts, and is locked from then on.
    case restart
    /// The phone is unlocked for the first time after a restart.
    case unlock
    /// The screen is turned off.
    case screenOff
    /// The screen is turned on; the app that was in the foreground does not return until its user opens it.
    case screenOn

    /// `true` if the change turns Bluetooth off.
    ///
    /// With BlueZ that is not possible, because other programs may use the adapter.
    var setsPower: Bool {
        switch self {
        case .settingsOff, .controlCenterOff, .airplaneMode, .restart: true
        case .unlock, .screenOff, .screenOn: false
        }
    }

    /// The change as a cause in the rules for relaunching apps, or `nil` if those do not mention it.
    var relaunchCause: RelaunchCause? { RelaunchCause(rawValue: rawValue) }
}
