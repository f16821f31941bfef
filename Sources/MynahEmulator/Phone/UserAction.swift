package import MynahCore
package import MynahLifecycle

/// An action of a run's user on an app or its phone, planned by `--at` or triggered by a key of the terminal.
package enum UserAction: Hashable, Sendable {
    /// A transition in the app's life cycle.
    case transition(AppTransition)
    /// The user starts the app's advertising, in the app itself.
    case startAdvertising
    /// The user stops the app's advertising, in the app itself.
    case stopAdvertising
    /// The user starts the app's scan, in the app itself.
    case startScan
    /// The user stops the app's scan, in the app itself.
    case stopScan
    /// The user opens the last alert, which opens its app.
    case openAlert
    /// The user dismisses the last alert.
    case dismissAlert
    /// The user accepts or declines the newest pairing question.
    case answerPairing(Bool)
    /// The user turns Bluetooth off or on, for the whole phone; also possible for an accessory.
    case setPower(Bool)
    /// Another action of the user on the phone.
    case phone(PhoneChange)
    /// The user allows or denies the app to use Bluetooth, or the phone's restrictions forbid it.
    case setAuthorization(BluetoothAuthorization)
    /// The user forgets one device in the phone's Settings, or all of them.
    ///
    /// For an accessory, all its bonds are deleted.
    case forget
    /// The user picks an accessory for an app that uses AccessorySetupKit, or removes one.
    case setAccessory(Bool)
    /// The phone shows a text as a notification of the app.
    case alert(String)

    /// The actions that are not a transition in an app's life cycle, with their words for users.
    private static let others: [(word: String, action: UserAction)] = [
        ("startAdvertising", .startAdvertising), ("stopAdvertising", .stopAdvertising),
        ("startScan", .startScan), ("stopScan", .stopScan), ("openAlert", .openAlert),
        ("dismissAlert", .dismissAlert), ("acceptPairing", .answerPairing(true)),
        ("declinePairing", .answerPairing(false)), ("allowed", .setAuthorization(.allowedAlways)),
        ("denied", .setAuthorization(.denied)), ("restricted", .setAuthorization(.restricted)),
        ("forget", .forget), ("accessory", .setAccessory(true)), ("removeAccessory", .setAccessory(false)),
        ("poweredOff", .setPower(false)), ("poweredOn", .setPower(true)),
    ]

    /// The words for all actions.
    package static var words: [String] {
        AppTransition.allCases.map(\.rawValue) + others.map(\.word) + PhoneChange.allCases.map(\.rawValue)
    }

    /// The prefix of an action `alert`, before the text of the alert.
    package static let alertPrefix = "alert "

    /// `true` if the action affects the whole radio, and is therefore possible for an accessory too.
    package var isAboutRadio: Bool {
        switch self {
        case .setPower, .forget: true
        default: false
        }
    }

    /// `true` if the action turns Bluetooth off or on.
    package var setsPower: Bool {
        switch self {
        case .setPower: true
        case .phone(let change): change.setsPower
        default: false
        }
    }

    /// Parses the word of an action; returns `nil` for any other word.
    package init?(_ word: String) {
        if word.hasPrefix(Self.alertPrefix), word != Self.alertPrefix {
            self = .alert(String(word.dropFirst(Self.alertPrefix.count)))
        } else if let transition = AppTransition(rawValue: word) {
            self = .transition(transition)
        } else if let change = PhoneChange(rawValue: word) {
            self = .phone(change)
        } else if let other = Self.others.first(where: { $0.word == word }) {
            self = other.action
        } else {
            return nil
        }
    }

    /// `true` if the user does the action in the app itself, which must be in the foreground.
    var isOnScreen: Bool {
        switch self {
        case .startAdvertising, .stopAdvertising, .startScan, .stopScan: true
        case .transition, .openAlert, .dismissAlert, .answerPairing, .setPower, .phone, .setAuthorization,
            .forget, .setAccessory, .alert:
            false
        }
    }

    /// Whether the action can be limited to a peripheral, by its name in the app's profile.
    package var isOfPeripheral: Bool {
        switch self {
        case .forget, .setAccessory: true
        default: false
        }
    }

    /// The words of the actions that can be limited to a peripheral.
    package static var wordsOfPeripherals: [String] { others.filter { $0.action.isOfPeripheral }.map(\.word) }

    /// Whether the action brings an app to the foreground.
    var opensApp: Bool { self == .transition(.enterForeground) || self == .openAlert }

    /// `true` if the action is for a whole phone rather than for one of its apps.
    package var isForPhone: Bool { isOfPhone || isAboutRadio }

    /// `true` if the action is on the phone and not on one of its apps.
    package var isOfPhone: Bool {
        switch self {
        case .openAlert, .dismissAlert, .answerPairing, .phone, .alert: true
        default: false
        }
    }
}

extension AppTransition {
    /// Warns if an app in this state cannot make the transition.
    func warn(of app: String, in state: AppState?, _ events: EventReporter) {
        if let problem = problem(of: app, in: state) { events.warn("notRunning", problem) }
    }

    /// The reason that an app in this state cannot make the transition, or `nil` if it can.
    func problem(of app: String, in state: AppState?) -> String? {
        let what: String
        switch self {
        case .enterBackground: what = "leave the screen"
        case .suspend: what = "be suspended"
        case .terminate: what = "be terminated"
        case .crash: what = "crash"
        case .enterForeground, .quit, .memoryPressure: return nil
        }
        switch state {
        case .foreground, .background, .suspended, nil: return nil
        case .notRunning, .terminated, .quit: return "\(app) does not run, so it cannot \(what)"
        }
    }
}
