public import MynahCore
public import MynahLifecycle

/// The code of an app: the system starts it, and reports each step of its life to it.
///
/// Called synchronously on the phone's executor.
public protocol AppDelegate: Sendable {
    /// The app was launched; it makes its managers here, with the restore identifiers that it always gives
    /// them.
    func app(_ app: App, didFinishLaunching options: LaunchOptions)
    /// Its life went on.
    func app(_ app: App, didChange change: AppChange)
}

/// Why and how an app was launched (UIApplication.LaunchOptionsKey).
public struct LaunchOptions: Hashable, Sendable {
    /// The restore identifiers of the peripheral managers that the system worked for while the app did not
    /// run (`bluetoothPeripherals`), sorted; empty if the user launched it.
    public var restoreIdentifiers: [String]
    /// The same of its central managers (`bluetoothCentrals`).
    public var centralRestoreIdentifiers: [String]
    /// Whether an event launched it, rather than the user.
    public var isInBackground: Bool

    /// Options.
    package init(
        restoreIdentifiers: [String] = [], centralRestoreIdentifiers: [String] = [],
        isInBackground: Bool = false
    ) {
        self.restoreIdentifiers = restoreIdentifiers
        self.centralRestoreIdentifiers = centralRestoreIdentifiers
        self.isInBackground = isInBackground
    }
}

/// A step of an app's life.
public enum AppChange: Sendable {
    /// It came onto the screen.
    case enteredForeground
    /// It left the screen.
    case enteredBackground
    /// It does not run any more, and stays in memory.
    case suspended
    /// An event made it run; with the attribute and the central that the event is about.
    case woken(by: BluetoothEvent, AttributeKey?, Central?)
    /// It overran the time of a wake, and is about to be ended.
    case throttled
    /// It did, while woken, what it was not woken for.
    case extraneous(AttributeKey?)
    /// The system ended it, or it crashed.
    case terminated(TerminationReason)
    /// The user ended it.
    case quit
}

extension AppChange {
    /// The step that an action is, with the event that caused it; `nil` if it is none, or an end.
    init?(_ action: AppAction, _ event: PeripheralEvent?) {
        switch action {
        case .enteredForeground: self = .enteredForeground
        case .enteredBackground: self = .enteredBackground
        case .suspended: self = .suspended
        case .woken(let kind): self = .woken(by: kind, event?.attribute, event?.central)
        case .throttled: self = .throttled
        case .extraneous: self = .extraneous(nil)
        default: return nil
        }
    }
}

/// What an app is before it runs.
public struct AppDescription: Hashable, Sendable {
    /// Its name for people; what is preserved is kept under it, so that each app of a phone needs one of its
    /// own.
    public var name: String
    /// The rules of its life.
    public var rules: AppRules
    /// The identifiers under which its peripheral managers' state may have been kept; unique within the app.
    public var restoreIdentifiers: [String]
    /// The same of its central managers.
    public var centralRestoreIdentifiers: [String]

    /// An app, which is restorable if it has restore identifiers.
    public init(
        name: String, rules: AppRules = AppRules(), restoreIdentifiers: [String] = [],
        centralRestoreIdentifiers: [String] = []
    ) {
        self.name = name
        self.rules = rules
        self.restoreIdentifiers = restoreIdentifiers
        self.centralRestoreIdentifiers = centralRestoreIdentifiers
        if !restoreIdentifiers.isEmpty { self.rules.isRestorable = true }
        if !centralRestoreIdentifiers.isEmpty { self.rules.isCentralRestorable = true }
    }
}
