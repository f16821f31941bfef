import MynahCore
import MynahLifecycle

// Alerts of suspended apps that asked for them with their connections.
extension PhoneCentral {
    /// The apps that something of a device is for, as they are before it happens.
    func candidates(_ keys: [ManagerKey], for address: DeviceAddress) -> [AlertPolicy.Candidate] {
        keys.compactMap { key in
            guard let app = managers.first(where: { $0.key == key })?.app,
                let options = ledger.options(of: address, for: key)
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
        alert(on: phone) { $0.happened(cause, to: address, for: candidates, into: &$1) }
    }

    /// The user opens the alert on top, and with it its app.
    func openAlert(on phone: isolated Phone) {
        alert(on: phone) { $0.open(into: &$1) }
    }

    /// The user dismisses the alert on top.
    func dismissAlert(on phone: isolated Phone) {
        alert(on: phone) { $0.dismiss(into: &$1) }
    }

    /// The state of an app changed.
    func appChanged(_ app: AppProcess, on phone: isolated Phone) {
        switch app.state {
        case .foreground: alert(on: phone) { $0.enteredForeground(app.number, into: &$1) }
        case .quit: alert(on: phone) { $0.quit(app.number, into: &$1) }
        case .notRunning, .background, .suspended, .terminated: break
        }
        appChanged(on: phone)
    }

    private func alert(
        on phone: isolated Phone, _ body: (inout AlertPolicy, inout [AlertPolicy.Action]) -> Void
    ) {
        var actions: [AlertPolicy.Action] = []
        body(&alerts, &actions)
        for action in actions {
            switch action {
            case .shown(let alert): report(alert, .shown, on: phone)
            case .opened(let alert):
                report(alert, .opened, on: phone)
                phone.app(alert.app)?.handle(.transition(.enterForeground), on: phone)
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

    /// The names of apps, by their numbers; a program that no app is has none.
    func names(_ apps: [UInt64], on phone: isolated Phone) -> [String] {
        apps.compactMap { phone.app($0)?.description.name }
    }
}
