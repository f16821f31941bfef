public import MynahCore
public import MynahLifecycle

/// The code of an app (after UIApplicationDelegate).
///
/// Methods are called synchronously on the phone's executor, and need no `await` for the app's methods. The
/// phone keeps its apps' delegates alive. A delegate keeps its state, such as the managers that it makes, in
/// plain properties, without a lock: it is called on that executor only.
public protocol AppDelegate {
    /// The app was launched; make its managers here.
    ///
    /// To restore a manager, make it with the same restore identifier at each launch.
    func app(_ app: isolated App, didFinishLaunching options: LaunchOptions)
    /// The state of the app changed.
    func app(_ app: isolated App, didChange change: AppChange)
}

/// How an app was launched, and the managers that it has to restore (after UIApplication.LaunchOptionsKey).
///
/// The lists of restore identifiers are empty for an app that uses scenes.
public struct LaunchOptions: Hashable, Sendable {
    /// The restore identifiers of the peripheral managers that the system preserved, sorted
    /// (`bluetoothPeripherals`).
    ///
    /// The list is empty if the user launched the app.
    public var restoreIdentifiers: [String]
    /// The restore identifiers of the central managers that the system preserved, sorted
    /// (`bluetoothCentrals`).
    ///
    /// The list is empty if the user launched the app.
    public var centralRestoreIdentifiers: [String]
    /// Whether an event launched the app in the background, rather than the user.
    public var isInBackground: Bool

    package init(
        restoreIdentifiers: [String] = [], centralRestoreIdentifiers: [String] = [],
        isInBackground: Bool = false
    ) {
        self.restoreIdentifiers = restoreIdentifiers
        self.centralRestoreIdentifiers = centralRestoreIdentifiers
        self.isInBackground = isInBackground
    }
}

/// A change of an app's state, as reported to its delegate.
public enum AppChange: Sendable {
    /// The app entered the foreground.
    case enteredForeground
    /// The app entered the background, where its code still runs.
    case enteredBackground
    /// The app was suspended: it is in memory, and its code does not run.
    case suspended
    /// An event woke the app; the values are the event's attribute and central, or `nil` if it has none.
    case woken(by: BluetoothEvent, AttributeKey?, Central?)
    /// The app exceeded its time in the background, and is about to be terminated.
    case throttled
    /// An event woke the app, and the app did work that is unrelated to the event.
    ///
    /// The value is the attribute whose value the app sent, or `nil` for other work.
    case extraneous(AttributeKey?)
    /// The system terminated the app, or it crashed.
    case terminated(TerminationReason)
    /// The user quit the app.
    case quit
    /// The app's permission to use Bluetooth changed; `notDetermined` means that the user is being asked.
    case authorizationChanged(BluetoothAuthorization)
}

extension AppChange {
    /// Makes the change to report for an action and the event that caused it, or `nil` if the action does not
    /// change the app's state.
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

/// Describes an app for `Phone.makeApp`.
public struct AppDescription: Hashable, Sendable {
    /// The app's name, which is unique on the phone, and part of the name of its preserved state.
    public var name: String
    /// The app's background modes, and how long it may run in the background.
    public var rules: AppRules
    /// The restore identifiers of the app's peripheral managers, which are unique within the app.
    public var restoreIdentifiers: [String]
    /// The restore identifiers of the app's central managers, which are unique within the app.
    public var centralRestoreIdentifiers: [String]
    /// The user's permission for the app to use Bluetooth at its first launch.
    ///
    /// With a state directory, later runs begin with the last permission instead.
    public var authorization = BluetoothAuthorization.allowedAlways
    /// Whether the app uses scenes; if so, `LaunchOptions` contains no restore identifiers.
    package var isSceneBased = false
    /// Whether the app uses AccessorySetupKit; if so, it needs no permission, and its central managers see
    /// only its accessories.
    package var usesAccessorySetup = false

    /// Describes an app; its managers with these restore identifiers are restored.
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
