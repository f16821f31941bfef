package import MynahCore

/// Which app's alert the system shows when something happens to a device while apps are suspended, or when an
/// app makes a manager while Bluetooth is off.
///
/// The phone drives it: it gives each connection, each disconnection and each value that comes, with the apps
/// whose managers hold the link, and what the user does. It reports the actions, and opens the app of an
/// alert that is opened.
///
/// | the app is | with `bluetooth-central` | without it |
/// |---|---|---|
/// | in the foreground, or in the background and not yet suspended | no alert | no alert |
/// | suspended | no alert, it is woken | an alert if it asked for one |
/// | not running | no alert | no alert |
///
/// "If more than one app has requested this notification for a given peripheral, the one that was most
/// recently in the foreground receives the alert" (CBConnectPeripheralOptionNotifyOnConnectionKey).
/// Assumptions: an alert stays until the user opens or dismisses it, opens its app in another way, or quits
/// the app; an app has one alert for each device and cause, and what happens again is shown again in its
/// place.
///
/// The alert about Bluetooth that is off is of the app in front, and leads to Settings
/// (CBCentralManagerOptionShowPowerAlertKey). Assumptions: it is shown to an app in front only, once until
/// the user opens or dismisses it, and stays if Bluetooth is turned on elsewhere.
package struct AlertPolicy: Sendable {
    /// The cause of an alert.
    package enum Cause: String, Hashable, Sendable, CaseIterable {
        /// A connection was made.
        case connection
        /// A connection ended.
        case disconnection
        /// A value came without being asked for.
        case notification
        /// An app made a central manager while Bluetooth was off.
        case power
    }

    /// An alert on the phone's screen.
    package struct Alert: Hashable, Sendable {
        /// The number of the app.
        package var app: UInt64
        /// The event that caused it.
        package var cause: Cause
        /// The device, or `nil` if it is about none.
        package var address: DeviceAddress?

        /// An alert of an app.
        package init(app: UInt64, cause: Cause, address: DeviceAddress?) {
            self.app = app
            self.cause = cause
            self.address = address
        }
    }

    /// An app whose manager holds the link that something happens to.
    package struct Candidate: Hashable, Sendable {
        /// The number of the app.
        package var app: UInt64
        /// The options that its manager passed to connect(_:options:).
        package var options: ConnectOptions
        /// Where the app is in its life, before what happens now wakes it.
        package var state: AppState
        /// Whether the app declares `bluetooth-central`, so that it is woken instead.
        package var isWoken: Bool

        /// An app that may ask for an alert.
        package init(app: UInt64, options: ConnectOptions, state: AppState, isWoken: Bool) {
            self.app = app
            self.options = options
            self.state = state
            self.isWoken = isWoken
        }

        fileprivate func asks(for cause: Cause) -> Bool {
            guard state == .suspended, !isWoken else { return false }
            return switch cause {
            case .connection: options.notifyOnConnection
            case .disconnection: options.notifyOnDisconnection
            case .notification: options.notifyOnNotification
            case .power: false
            }
        }
    }

    /// A change of the alerts on the screen.
    package enum Action: Hashable, Sendable {
        /// An alert is shown.
        case shown(Alert)
        /// The user opened an alert: its app is to come to the foreground, or to leave it for Settings if the
        /// alert is about Bluetooth that is off.
        case opened(Alert)
        /// An alert is gone without being opened.
        case dismissed(Alert)
    }

    /// The alerts on the screen, the last one on top.
    package private(set) var alerts: [Alert] = []
    /// The apps that have been in the foreground, the last one at the end.
    private var lastInForeground: [UInt64] = []

    /// No alerts, and no app has been in the foreground.
    package init() {}

    /// Something happened to a device.
    package mutating func happened(
        _ cause: Cause, to address: DeviceAddress, for candidates: [Candidate], into actions: inout [Action]
    ) {
        let asking = candidates.filter { $0.asks(for: cause) }.map(\.app)
        let latest = lastInForeground.last { asking.contains($0) }
        // An app that was never in the foreground was launched suspended or in the background.
        guard let app = latest ?? asking.first else { return }
        let alert = Alert(app: app, cause: cause, address: address)
        alerts.removeAll { $0 == alert }
        alerts.append(alert)
        actions.append(.shown(alert))
    }

    /// An app in front made a manager that asks for the alert while Bluetooth is off.
    package mutating func madeManager(_ app: UInt64, into actions: inout [Action]) {
        let alert = Alert(app: app, cause: .power, address: nil)
        guard !alerts.contains(alert) else { return }
        alerts.append(alert)
        actions.append(.shown(alert))
    }

    /// The user opens the alert on top.
    package mutating func open(into actions: inout [Action]) {
        if let alert = alerts.popLast() { actions.append(.opened(alert)) }
    }

    /// The user dismisses the alert on top.
    package mutating func dismiss(into actions: inout [Action]) {
        if let alert = alerts.popLast() { actions.append(.dismissed(alert)) }
    }

    /// An app came to the foreground.
    package mutating func enteredForeground(_ app: UInt64, into actions: inout [Action]) {
        lastInForeground.removeAll { $0 == app }
        lastInForeground.append(app)
        dismiss(into: &actions) { $0.app == app && $0.cause != .power }
    }

    /// The user quit an app, or it is gone from the phone.
    package mutating func quit(_ app: UInt64, into actions: inout [Action]) {
        lastInForeground.removeAll { $0 == app }
        dismiss(into: &actions) { $0.app == app }
    }

    private mutating func dismiss(into actions: inout [Action], where isOver: (Alert) -> Bool) {
        actions += alerts.filter(isOver).map { .dismissed($0) }
        alerts.removeAll(where: isOver)
    }
}
