package import MynahCore

/// The mode in which the phone scans for an app, or listens for its pending connection.
package enum ScanMode: String, Hashable, Sendable, CaseIterable {
    /// The phone does not scan for the app, and does not listen for its connection.
    case off
    /// The app scans as requested.
    case foreground
    /// The app scans for named services only, and without duplicates.
    case background

    /// The mode of a manager's scan.
    ///
    /// `rules` are those of its app, and `isRestorable` says whether the manager has a restore identifier. A
    /// scan continues in the background only with the background mode ("Core Bluetooth Background Processing
    /// for iOS Apps"), and after termination only for a manager with a restore identifier (TN3115).
    /// Assumptions: after termination the background mode is needed too, and an app with a Live Activity also
    /// needs it.
    package init(scanIn state: AppState, _ rules: AppRules, isRestorable: Bool, radioState: RadioState) {
        guard radioState == .poweredOn else {
            self = .off
            return
        }
        self =
            switch state {
            case .foreground: .foreground
            case .background, .suspended:
                if !rules.isBackgroundCentral {
                    .off
                } else if rules.keepsPrivileges {
                    .foreground
                } else {
                    .background
                }
            case .terminated: rules.isBackgroundCentral && isRestorable ? .background : .off
            case .quit:
                rules.isRelaunchedAfterQuit && rules.isBackgroundCentral && isRestorable ? .background : .off
            case .notRunning: .off
            }
    }

    /// The mode in which the phone listens for peripherals to which a manager has pending connections.
    ///
    /// Unlike a scan, this goes on for an app in the background without `bluetooth-central`. According to
    /// Core Bluetooth Background Processing for iOS Apps, connection events of such an app are queued, and it
    /// can request an alert on connection.
    package init(connectionIn state: AppState, _ rules: AppRules, isRestorable: Bool, radioState: RadioState)
    {
        self.init(scanIn: state, rules, isRestorable: isRestorable, radioState: radioState)
        if self == .off, radioState == .poweredOn, state == .background || state == .suspended {
            self = .background
        }
    }
}
