package import MynahCore

/// How the phone scans for one app, or listens for a connection that the app waits for.
package enum ScanMode: String, Hashable, Sendable, CaseIterable {
    /// Not now: a scan is paused, a connection is not listened for.
    case off
    /// The app scans as it asked.
    case foreground
    /// The app scans for named services only, and without duplicates.
    case background

    /// The mode of a manager's scan.
    ///
    /// `rules` are those of its app, and `isRestorable` says whether the manager has a restore identifier. A
    /// scan goes on off the screen with the background mode only ("Core Bluetooth Background Processing for
    /// iOS Apps"), and after termination for a restorable manager only (TN3115). Assumptions: that
    /// termination asks for the mode as well, and that an app with a Live Activity needs it too.
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

    /// The mode in which a manager's pending connections are listened for.
    ///
    /// Unlike a scan, the system keeps them for a suspended app without `bluetooth-central` too: the guide
    /// queues connection events for such an app, and offers it an alert on connection.
    package init(connectionIn state: AppState, _ rules: AppRules, isRestorable: Bool, radioState: RadioState)
    {
        self.init(scanIn: state, rules, isRestorable: isRestorable, radioState: radioState)
        if self == .off, radioState == .poweredOn, state == .background || state == .suspended {
            self = .background
        }
    }
}
