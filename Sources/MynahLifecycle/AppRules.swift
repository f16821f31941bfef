public import MynahCore

/// The rules for an app's life cycle: its Info.plist, its managers' options, and the phone's time limits.
public struct AppRules: Hashable, Sendable {
    /// The app's background modes (UIBackgroundModes).
    public var backgroundModes: Set<BackgroundMode> = []
    /// Whether a peripheral manager of the app has a restore identifier.
    package var isRestorable = false
    /// Whether a central manager of the app has a restore identifier.
    package var isCentralRestorable = false
    /// Whether the app scans and advertises in the background as in the foreground, because it shows a Live
    /// Activity (iOS 26; CoreBluetooth, Overview).
    package var keepsPrivileges = false
    /// Whether the system keeps the app's central managers after its user has quit it, because the app uses
    /// AccessorySetupKit (iOS 26; TN3115, note 5).
    ///
    /// The note names no role. It is an assumption that the app's peripheral managers end: AccessorySetupKit
    /// is for centrals.
    package var isRelaunchedAfterQuit = false
    /// The time between leaving the foreground and suspension.
    ///
    /// Apple says "shortly after"; 5 s is an assumption.
    public var suspendAfter: Duration = .seconds(5)
    /// The time that an event grants to a suspended app that it wakes: "around 10 seconds" (Core
    /// Bluetooth Background Processing).
    package var wakeAllowance: Duration = .seconds(10)
    /// The duration of the app's own work for each event in the background, or `nil` to use the whole
    /// allowance.
    ///
    /// The app is suspended when this work is done. If the work lasts longer than `wakeAllowance` after the
    /// last event, the app is throttled, and it is ended after `throttledAllowance`.
    public var taskTime: Duration?
    /// The time between throttling and termination of an app that exceeds its allowance.
    ///
    /// Apple mentions throttling and termination without a duration; 10 s is an assumption.
    package var throttledAllowance: Duration = .seconds(10)

    /// Makes the rules of an app without background modes and restoration.
    public init() {}

    /// `true` if the app advertises and answers requests in the background.
    package var isBackgroundPeripheral: Bool { hasMode(for: .peripheral) }

    /// `true` if the app scans in the background, and is woken for its connections.
    package var isBackgroundCentral: Bool { hasMode(for: .central) }

    /// Whether the system keeps the app's managers of a role after it has terminated the app, and relaunches
    /// the app for their events.
    ///
    /// Apple requires a restore identifier for this. It is an assumption that the background mode is needed
    /// too: without it, the app's services are not served and its scans do not continue while it does not
    /// run.
    package func isRelaunched(for role: BluetoothRole) -> Bool {
        switch role {
        case .peripheral: isRestorable && isBackgroundPeripheral
        case .central: isCentralRestorable && isBackgroundCentral
        }
    }

    /// The roles whose managers the system keeps after it has terminated the app.
    var relaunchedRoles: Set<BluetoothRole> {
        Set(BluetoothRole.allCases.filter { isRelaunched(for: $0) })
    }

    /// The roles whose managers the system keeps after the user has quit the app.
    var rolesAfterQuit: Set<BluetoothRole> {
        isRelaunchedAfterQuit ? relaunchedRoles.intersection([.central]) : []
    }

    func hasMode(for role: BluetoothRole) -> Bool {
        switch role {
        case .peripheral: backgroundModes.contains(.bluetoothPeripheral)
        case .central: backgroundModes.contains(.bluetoothCentral)
        }
    }
}
