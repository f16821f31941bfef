package import MynahCore

/// Decides which app's alert the system shows.
///
/// An alert is about an event of a device while apps are suspended, or about Bluetooth that is off when an
/// app makes a manager.
///
/// The phone drives this state machine: it passes in each connection, each disconnection and each received
/// value, with the apps whose managers hold the link, and the user's actions. It reports the resulting
/// actions, and opens the app of an opened alert.
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
/// the app; an app has one alert for each device and cause, and a repeated event shows that alert again.
///
/// The alert that Bluetooth is off belongs to the app in the foreground, and leads to Settings
/// (CBCentralManagerOptionShowPowerAlertKey). Assumptions: it is shown for an app in the foreground only,
/// once until the user opens or dismisses it, and stays if Bluetooth is turned on elsewhere.
package struct AlertPolicy: Sendable {
    /// The cause of an alert.
    package enum Cause: String, Hashable, Sendable, CaseIterable {
        /// A connection was made.
        case connection
        /// A connection ended.
        case disconnection
        /// The device sent a notification or an indication.
        case notification
        /// An app made a central manager while Bluetooth was off.
        case power
    }

    /// An alert on the phone's screen.
    package struct Alert: Hashable, Sendable {
        /// The number of the app.
        package var app: UInt64
        /// The event that caused the alert.
        package var cause: Cause
        /// The address of the device, or `nil` if the alert concerns none.
        package var address: DeviceAddress?

        package init(app: UInt64, cause: Cause, address: DeviceAddress?) {
            self.app = app
            self.cause = cause
            self.address = address
        }
    }

    /// An app with a manager that uses the link on which the event happened.
    package struct Candidate: Hashable, Sendable {
        /// The number of the app.
        package var app: UInt64
        /// The options that the app's manager passed to connect(_:options:).
        package var options: ConnectOptions
        /// The state of the app before the event wakes it.
        package var state: AppState
        /// Whether the app declares `bluetooth-central`, so that the event wakes it instead of showing an
        /// alert.
        package var isWoken: Bool

        /// Makes an app that may have requested an alert.
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
        /// An alert was shown.
        case shown(Alert)
        /// The user opened an alert: bring its app to the foreground, or to the background if the alert leads
        /// to Settings.
        case opened(Alert)
        /// An alert was removed without being opened.
        case dismissed(Alert)
    }

    /// The alerts on the screen, the last one on top.
    package private(set) var alerts: [Alert] = []
    /// The apps that have been in the foreground, the most recent one last.
    private var lastInForeground: [UInt64] = []

    /// Makes a policy without alerts, before any app has been in the foreground.
    package init() {}

    /// Shows an alert for an event of a device, if one of the candidates requested it.
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

    /// Shows the alert that Bluetooth is off, unless the app has one already.
    ///
    /// The caller checks that the app is in the foreground, and that its manager requested the alert.
    package mutating func madeManager(_ app: UInt64, into actions: inout [Action]) {
        let alert = Alert(app: app, cause: .power, address: nil)
        guard !alerts.contains(alert) else { return }
        alerts.append(alert)
        actions.append(.shown(alert))
    }

    /// Opens the alert on top, as the user does.
    package mutating func open(into actions: inout [Action]) {
        if let alert = alerts.popLast() { actions.append(.opened(alert)) }
    }

    /// Dismisses the alert on top, as the user does.
    package mutating func dismiss(into actions: inout [Action]) {
        if let alert = alerts.popLast() { actions.append(.dismissed(alert)) }
    }

    /// Handles an app that came to the foreground: its alerts about devices are dismissed.
    package mutating func enteredForeground(_ app: UInt64, into actions: inout [Action]) {
        lastInForeground.removeAll { $0 == app }
        lastInForeground.append(app)
        dismiss(into: &actions) { $0.app == app && $0.cause != .power }
    }

    /// Handles an app that the user quit, or that was removed from the phone: its alerts are dismissed.
    package mutating func quit(_ app: UInt64, into actions: inout [Action]) {
        lastInForeground.removeAll { $0 == app }
        dismiss(into: &actions) { $0.app == app }
    }

    private mutating func dismiss(into actions: inout [Action], where isOver: (Alert) -> Bool) {
        actions += alerts.filter(isOver).map { .dismissed($0) }
        alerts.removeAll(where: isOver)
    }
}
