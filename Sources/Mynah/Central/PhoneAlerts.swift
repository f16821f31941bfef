import MynahCore
import MynahLifecycle

/// A phone's alerts, for suspended apps that requested alerts when they connected, and for apps that need
/// Bluetooth while it is off.
///
/// Belongs to a phone, and runs on the phone's executor.
final class PhoneAlerts {
    private var policy = AlertPolicy()
    private let phone: PhoneMemory
    private let memory: CentralMemory
    private let subscriptions: SubscriptionWriter
    private let reports: PhoneReports

    init(_ common: PhoneCommon, _ subscriptions: SubscriptionWriter) {
        (phone, memory, reports) = (common.memory, common.central, common.reports)
        self.subscriptions = subscriptions
    }

    /// The candidates for an alert about a device: the apps of those managers that use its link or wait for
    /// it.
    func candidates(_ keys: [ManagerKey], for address: DeviceAddress) -> [AlertPolicy.Candidate] {
        keys.compactMap { key in
            guard let app = memory.manager(key)?.app,
                let options = memory.ledger.options(of: address, for: key)
            else { return nil }
            return AlertPolicy.Candidate(
                app: key.app, options: options, state: app.state, isWoken: app.rules.isBackgroundCentral)
        }
    }

    /// Shows an alert for an event of a device, if an app asked for one.
    func happened(
        _ cause: AlertPolicy.Cause, to address: DeviceAddress, for candidates: [AlertPolicy.Candidate]
    ) {
        guard !candidates.isEmpty else { return }
        change { $0.happened(cause, to: address, for: candidates, into: &$1) }
    }

    /// Shows an alert that leads to Settings, if Bluetooth is off when an app in the foreground makes a
    /// central manager.
    func madeManager(_ options: CentralManager.Options, of app: AppProcess) {
        guard options.showsPowerAlert, phone.radioState == .poweredOff, app.state == .foreground,
            app.condition.permission.isAllowed
        else { return }
        change { $0.madeManager(app.number, into: &$1) }
    }

    /// Shows an alert for a received notification, if an app asked for one.
    func notified(_ handle: AttributeHandle, of link: Peer.ID) {
        guard let address = memory.ledger.address(of: link) else { return }
        let hearing = memory.ledger.holders(of: link).filter {
            subscriptions.hears($0, .init(link: link, handle: handle))
        }
        happened(.notification, to: address, for: candidates(hearing, for: address))
    }

    /// Opens the top alert, as the user does.
    ///
    /// Returns the alert's app and the transition of that app: to the foreground, or to the background if the
    /// alert leads to Settings. Returns `nil` if there is no alert.
    func open() -> (app: UInt64, AppTransition)? {
        var actions: [AlertPolicy.Action] = []
        policy.open(into: &actions)
        guard case .opened(let alert)? = actions.first else { return nil }
        report(alert, .opened)
        return (alert.app, alert.cause == .power ? .enterBackground : .enterForeground)
    }

    /// Dismisses the top alert, as the user does.
    func dismiss() {
        change { $0.dismiss(into: &$1) }
    }

    /// Updates the alerts after the state of an app changed.
    func appChanged(_ app: AppProcess) {
        switch app.state {
        case .foreground: change { $0.enteredForeground(app.number, into: &$1) }
        case .quit: change { $0.quit(app.number, into: &$1) }
        case .notRunning, .background, .suspended, .terminated: break
        }
    }

    /// Removes an app's alerts, because the phone restarted.
    func restarted(_ app: AppProcess) {
        change { $0.quit(app.number, into: &$1) }
    }

    /// Removes all alerts, because the phone has stopped.
    func stop() {
        policy = AlertPolicy()
    }

    private func change(_ body: (inout AlertPolicy, inout [AlertPolicy.Action]) -> Void) {
        var actions: [AlertPolicy.Action] = []
        body(&policy, &actions)
        for action in actions {
            switch action {
            case .shown(let alert): report(alert, .shown)
            // Only `open()` opens alerts.
            case .opened: break
            case .dismissed(let alert): report(alert, .dismissed)
            }
        }
    }

    private func report(_ alert: AlertPolicy.Alert, _ step: PhoneAlert.Step) {
        guard let app = phone.app(alert.app), let cause = PhoneAlert.Cause(rawValue: alert.cause.rawValue)
        else { return }
        reports.report(
            .alert(
                PhoneAlert(app: app.description.name, cause: cause, address: alert.address), step))
    }
}
