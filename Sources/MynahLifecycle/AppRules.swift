public import MynahCore

/// The rules of an app's life: its Info.plist, its managers' options, and the phone's time limits.
public struct AppRules: Hashable, Sendable {
    /// The app's background modes (UIBackgroundModes).
    public var backgroundModes: Set<BackgroundMode> = []
    /// Whether a peripheral manager of it has a restore identifier.
    package var isRestorable = false
    /// Whether a central manager of it has one.
    package var isCentralRestorable = false
    /// Whether the app scans and advertises in the background as in the foreground, because it shows a Live
    /// Activity (iOS 26; CoreBluetooth, Overview).
    package var keepsPrivileges = false
    /// Whether the system works on for its central managers after its user has quit it, because it uses
    /// AccessorySetupKit (iOS 26; TN3115, note 5).
    ///
    /// The note names no role. That its peripheral managers end is an assumption: the kit is for centrals.
    package var isRelaunchedAfterQuit = false
    /// The time between leaving the screen and suspension.
    ///
    /// Apple says "shortly after"; 5 s is an assumption.
    public var suspendAfter: Duration = .seconds(5)
    /// The time that an event grants to a suspended app that it wakes: "around 10 seconds" (Core
    /// Bluetooth Background Processing).
    package var wakeAllowance: Duration = .seconds(10)
    /// The app's work for each event in the background, or `nil` to use all of the allowance.
    ///
    /// The app is suspended when this work is done. Work that goes on for longer than `wakeAllowance` after
    /// the last event overruns: the app is throttled, and ended when `throttledAllowance` is over too.
    public var taskTime: Duration?
    /// The time between throttling and termination of an app that overruns.
    ///
    /// Apple names both and no figure; 10 s is an assumption.
    package var throttledAllowance: Duration = .seconds(10)

    /// An app without background modes and restoration by default.
    public init() {}

    /// `true` if the app advertises and answers while it is not on the screen.
    package var isBackgroundPeripheral: Bool { hasMode(for: .peripheral) }

    /// `true` if the app scans, and is woken for its connections, while it is not on the screen.
    package var isBackgroundCentral: Bool { hasMode(for: .central) }

    /// Whether the system works for its managers of a role after it has ended it, and relaunches it for their
    /// events.
    ///
    /// Apple ties this to the restore identifier; that the background mode is needed too is an assumption,
    /// since without it none of the app's services is served, and none of its scans goes on, while it does
    /// not run.
    package func isRelaunched(for role: BluetoothRole) -> Bool {
        switch role {
        case .peripheral: isRestorable && isBackgroundPeripheral
        case .central: isCentralRestorable && isBackgroundCentral
        }
    }

    /// The roles whose managers the system works for after it has ended the app.
    var relaunchedRoles: Set<BluetoothRole> {
        Set(BluetoothRole.allCases.filter { isRelaunched(for: $0) })
    }

    /// The roles whose managers the system works for after the user has quit the app.
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
