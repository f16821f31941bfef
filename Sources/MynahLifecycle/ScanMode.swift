package import MynahCore

/// How the phone scans for one app, or listens for a connection that the app waits for.
package enum ScanMode: String, Hashable, Sendable, CaseIterable {
    /// Not now: a scan is paused, a connection is not listened for.
    case off
    /// As asked for.
    case foreground
    /// For named services alone, and without duplicates.
    case background

    /// The mode of a manager's scan.
    ///
    /// `hasMode` says whether its app declares `bluetooth-central`, and `isRestorable` whether the manager
    /// has a restore identifier. A scan goes on off the screen with the mode only ("Core Bluetooth Background
    /// Processing for iOS Apps"), and after termination for a restorable manager only (TN3115). That
    /// termination asks for the mode as well is an assumption.
    package init(scanIn state: AppState, hasMode: Bool, isRestorable: Bool, radioState: RadioState) {
        guard radioState == .poweredOn else {
            self = .off
            return
        }
        self =
            switch state {
            case .foreground: .foreground
            case .background, .suspended: hasMode ? .background : .off
            case .terminated: hasMode && isRestorable ? .background : .off
            case .notRunning, .quit: .off
            }
    }

    /// The mode in which a manager's pending connections are listened for.
    ///
    /// Unlike a scan, the system keeps them for a suspended app without `bluetooth-central` too: the guide
    /// queues connection events for such an app, and offers it an alert on connection.
    package init(connectionIn state: AppState, hasMode: Bool, isRestorable: Bool, radioState: RadioState) {
        switch state {
        case .background where radioState == .poweredOn, .suspended where radioState == .poweredOn:
            self = .background
        case .notRunning, .foreground, .background, .suspended, .terminated, .quit:
            self.init(scanIn: state, hasMode: hasMode, isRestorable: isRestorable, radioState: radioState)
        }
    }
}
