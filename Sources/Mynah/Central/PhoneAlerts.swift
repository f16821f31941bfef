import MynahCore
import MynahLifecycle

/// A phone's alerts, for suspended apps that asked for them with their connections, and for apps that need
/// Bluetooth while it is off.
///
/// Belongs to a phone, and runs on the phone's executor.
final class PhoneAlerts {
    private var policy = AlertPolicy()

    /// The apps that something of a device is for, as they are before it happens.
    func candidates(
        _ keys: [ManagerKey], for address: DeviceAddress, on phone: isolated Phone
    ) -> [AlertPolicy.Candidate] {
        let central = phone.central
        return keys.compactMap { key in
            guard let app = central.manager(key)?.app,
                let options = central.connections.ledger.options(of: address, for: key)
            else { return nil }
            return AlertPolicy.Candidate(
                app: key.app, options: options, state: app.state, isWoken: app.rules.isBackgroundCentral)
        }
    }

    /// Something happened to a device; an app that asked for an alert may get one.
    func happened(
        _ cause: AlertPolicy.Cause, to address: DeviceAddress, for candidates: [AlertPolicy.Candidate],
        on phone: isolated Phone
    ) {
        guard !candidates.isEmpty else { return }
        change(on: phone) { $0.happened(cause, to: address, for: candidates, into: &$1) }
    }

    /// An app made a central manager: if Bluetooth is off, the system offers its user to turn it on.
    func madeManager(
        _ options: CentralManager.Options, of app: AppProcess, on phone: isolated Phone
    ) {
        guard options.showsPowerAlert, phone.radioState == .poweredOff, app.state == .foreground,
            app.permission.isAllowed
        else { return }
        change(on: phone) { $0.madeManager(app.number, into: &$1) }
    }

    /// A device sent a value.
    func notified(_ handle: AttributeHandle, of link: Peer.ID, on phone: isolated Phone) {
        let central = phone.central
        guard let address = central.connections.ledger.address(of: link) else { return }
        let hearing = central.connections.ledger.holders(of: link).filter {
            central.subscriptions.hears($0, .init(link: link, handle: handle))
        }
        happened(
            .notification, to: address, for: candidates(hearing, for: address, on: phone), on: phone)
    }

    /// The user opens the alert on top, and with it its app or Settings.
    func open(on phone: isolated Phone) {
        change(on: phone) { $0.open(into: &$1) }
    }

    /// The user dismisses the alert on top.
    func dismiss(on phone: isolated Phone) {
        change(on: phone) { $0.dismiss(into: &$1) }
    }

    /// The state of an app changed.
    func appChanged(_ app: AppProcess, on phone: isolated Phone) {
        switch app.state {
        case .foreground: change(on: phone) { $0.enteredForeground(app.number, into: &$1) }
        case .quit: change(on: phone) { $0.quit(app.number, into: &$1) }
        case .notRunning, .background, .suspended, .terminated: break
        }
    }

    /// The phone restarted, so an app's alerts are gone.
    func restarted(_ app: AppProcess, on phone: isolated Phone) {
        change(on: phone) { $0.quit(app.number, into: &$1) }
    }

    /// The phone stopped.
    func stop() {
        policy = AlertPolicy()
    }

    private func change(
        on phone: isolated Phone, _ body: (inout AlertPolicy, inout [AlertPolicy.Action]) -> Void
    ) {
        var actions: [AlertPolicy.Action] = []
        body(&policy, &actions)
        for action in actions {
            switch action {
            case .shown(let alert): report(alert, .shown, on: phone)
            case .opened(let alert):
                report(alert, .opened, on: phone)
                let transition: AppTransition = alert.cause == .power ? .enterBackground : .enterForeground
                phone.app(alert.app)?.apply(transition, on: phone)
            case .dismissed(let alert): report(alert, .dismissed, on: phone)
            }
        }
    }

    private func report(_ alert: AlertPolicy.Alert, _ step: PhoneAlert.Step, on phone: isolated Phone) {
        guard let app = phone.app(alert.app), let cause = PhoneAlert.Cause(rawValue: alert.cause.rawValue)
        else { return }
        phone.report(
            .alert(
                PhoneAlert(app: app.description.name, cause: cause, address: alert.address), step))
    }
}
