package import MynahCore
package import MynahLifecycle

/// An action of a run's user on an app or its phone, by `--at` or by a key of the terminal.
package enum UserAction: Hashable, Sendable {
    /// A step of its life.
    case transition(AppTransition)
    /// The user starts what the app advertises, on the app's own screen.
    case startAdvertising
    /// The user stops what the app advertises, on the app's own screen.
    case stopAdvertising
    /// The user starts what the app scans for, on the app's own screen.
    case startScan
    /// The user stops what the app scans for, on the app's own screen.
    case stopScan
    /// The user opens the alert that was shown last, and with it its app.
    case openAlert
    /// The user dismisses the alert that was shown last.
    case dismissAlert
    /// The user accepts or declines the pairing that asks.
    case answerPairing(Bool)
    /// The user turns Bluetooth off or on, for all that is on the phone; an accessory's too.
    case setPower(Bool)
    /// The user does something else to the phone.
    case phone(PhoneChange)
    /// The user allows or denies the app to use Bluetooth, or the phone's restrictions forbid it.
    case setAuthorization(BluetoothAuthorization)
    /// The user forgets a device in the phone's Settings, or all; of an accessory, all its bonds are deleted.
    case forget
    /// The user picks an accessory for an app that uses AccessorySetupKit, or removes one.
    case setAccessory(Bool)
    /// The phone shows a text as a notification of the app.
    case alert(String)

    /// Those that are no step of an app's life.
    private static let others: [(word: String, action: UserAction)] = [
        ("startAdvertising", .startAdvertising), ("stopAdvertising", .stopAdvertising),
        ("startScan", .startScan), ("stopScan", .stopScan), ("openAlert", .openAlert),
        ("dismissAlert", .dismissAlert), ("acceptPairing", .answerPairing(true)),
        ("declinePairing", .answerPairing(false)), ("allowed", .setAuthorization(.allowedAlways)),
        ("denied", .setAuthorization(.denied)), ("restricted", .setAuthorization(.restricted)),
        ("forget", .forget), ("accessory", .setAccessory(true)), ("removeAccessory", .setAccessory(false)),
        ("poweredOff", .setPower(false)), ("poweredOn", .setPower(true)),
    ]

    /// The words for all of them.
    package static var words: [String] {
        AppTransition.allCases.map(\.rawValue) + others.map(\.word) + PhoneChange.allCases.map(\.rawValue)
    }

    /// The begin of an action with a text.
    package static let alertPrefix = "alert "

    /// `true` if the action is about the whole radio, and so about an accessory too.
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

    /// Reads one of the words; `nil` if it is none of them.
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

    /// `true` if the action is done on the screen that an app has of its own.
    var isOnScreen: Bool {
        switch self {
        case .startAdvertising, .stopAdvertising, .startScan, .stopScan: true
        case .transition, .openAlert, .dismissAlert, .answerPairing, .setPower, .phone, .setAuthorization,
            .forget, .setAccessory, .alert:
            false
        }
    }

    /// Whether its name can be that of a peripheral in an app's profile.
    package var isOfPeripheral: Bool {
        switch self {
        case .forget, .setAccessory: true
        default: false
        }
    }

    /// Those that can, as a user writes them.
    package static var wordsOfPeripherals: [String] { others.filter { $0.action.isOfPeripheral }.map(\.word) }

    /// Whether the user turns to an app on the screen.
    var opensApp: Bool { self == .transition(.enterForeground) || self == .openAlert }

    /// `true` if the action is for a whole phone rather than for one of its apps.
    package var isForPhone: Bool { isOfPhone || isAboutRadio }

    /// `true` if the action is about the phone rather than one of its apps.
    package var isOfPhone: Bool {
        switch self {
        case .openAlert, .dismissAlert, .answerPairing, .phone, .alert: true
        default: false
        }
    }
}

extension AppTransition {
    /// Reports that an app in this state cannot take the step, if it cannot.
    func warn(of app: String, in state: AppState?, _ events: EventReporter) {
        if let problem = problem(of: app, in: state) { events.warn("notRunning", problem) }
    }

    /// Why an app in this state cannot take the step, which then changes nothing; `nil` if it can.
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
