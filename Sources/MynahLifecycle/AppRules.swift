public import MynahCore

/// What decides over an app's life: its Info.plist, its managers' options, and the phone's patience.
public struct AppRules: Hashable, Sendable {
    /// What the app may do while it is not on the screen (UIBackgroundModes).
    public var backgroundModes: Set<BackgroundMode> = []
    /// Whether a manager of it has a restore identifier.
    public var isRestorable = false
    /// From leaving the screen to suspension.
    ///
    /// Apple says "shortly after"; 5 s is an assumption.
    public var suspendAfter: Duration = .seconds(5)
    /// What an event that wakes a suspended app grants it: "around 10 seconds" (Core Bluetooth Background Processing).
    public var wakeAllowance: Duration = .seconds(10)
    /// From throttling to termination of an app that overruns.
    ///
    /// Apple names both and no figure; 10 s is an assumption.
    public var throttledAllowance: Duration = .seconds(10)

    /// An app without background modes or restoration, unless changed.
    public init() {}

    /// Whether it advertises and answers while it is not on the screen.
    public var isBackgroundPeripheral: Bool { backgroundModes.contains(.bluetoothPeripheral) }

    /// Whether an event relaunches it after the system has ended it.
    ///
    /// Apple ties this to the restore identifier; that the background mode is needed too is an assumption, since without
    /// it none of the app's services is served while it does not run.
    public var isRelaunched: Bool { isRestorable && isBackgroundPeripheral }
}
