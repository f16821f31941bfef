import MynahCore
import MynahLifecycle

/// A phone's alerts, for suspended apps that asked for them with their connections, and for apps that need
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

    /// The apps that something of a device is for, as they are before it happens.
    func candidates(_ keys: [ManagerKey], for address: DeviceAddress) -> [AlertPolicy.Candidate] {
        keys.compactMap { key in
            guard let app = memory.manager(key)?.app,
                let options = memory.ledger.options(of: address, for: key)
            else { return nil }
            return AlertPolicy.Candidate(
                app: key.app, options: options, state: app.state, isWoken: app.rules.isBackgroundCentral)
        }
    }

    /// Something happened to a device; an app that asked for an alert may get one.
    func happened(
        _ cause: AlertPolicy.Cause, to address: DeviceAddress, for candidates: [AlertPolicy.Candidate]
    ) {
        guard !candidates.isEmpty else { return }
        change { $0.happened(cause, to: address, for: candidates, into: &$1) }
    }

    /// An app made a central manager: if Bluetooth is off, the system offers its user to turn it on.
    func madeManager(_ options: CentralManager.Options, of app: AppProcess) {
        guard options.showsPowerAlert, phone.radioState == .poweredOff, app.state == .foreground,
            app.permission.isAllowed
        else { return }
        change { $0.madeManager(app.number, into: &$1) }
    }

    /// A device sent a value.
    func notified(_ handle: AttributeHandle, of link: Peer.ID) {
        guard let address = memory.ledger.address(of: link) else { return }
        let hearing = memory.ledger.holders(of: link).filter {
            subscriptions.hears($0, .init(link: link, handle: handle))
        }
        happened(.notification, to: address, for: candidates(hearing, for: address))
    }

    /// The user opens the alert on top.
    ///
    /// Returns its app, and what the user does with that: the alert leads to the app or to Settings. Returns
    /// `nil` if there is no alert.
    func open() -> (app: UInt64, AppTransition)? {
        var actions: [AlertPolicy.Action] = []
        policy.open(into: &actions)
        guard case .opened(let alert)? = actions.first else { return nil }
        report(alert, .opened)
        return (alert.app, alert.cause == .power ? .enterBackground : .enterForeground)
    }

    /// The user dismisses the alert on top.
    func dismiss() {
        change { $0.dismiss(into: &$1) }
    }

    /// The state of an app changed.
    func appChanged(_ app: AppProcess) {
        switch app.state {
        case .foreground: change { $0.enteredForeground(app.number, into: &$1) }
        case .quit: change { $0.quit(app.number, into: &$1) }
        case .notRunning, .background, .suspended, .terminated: break
        }
    }

    /// The phone restarted, so an app's alerts are gone.
    func restarted(_ app: AppProcess) {
        change { $0.quit(app.number, into: &$1) }
    }

    /// The phone stopped.
    func stop() {
        policy = AlertPolicy()
    }

    private func change(_ body: (inout AlertPolicy, inout [AlertPolicy.Action]) -> Void) {
        var actions: [AlertPolicy.Action] = []
        body(&policy, &actions)
        for action in actions {
            switch action {
            case .shown(let alert): report(alert, .shown)
            // Only `open()` opens one.
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
