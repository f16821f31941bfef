import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport

/// The part of a run's screen for apps that are centrals: scans, devices and alerts.
struct CentralScreen: Sendable {
    /// A device that an app connects to.
    struct Link: Sendable {
        /// The name of the app in events, or an empty text if there is only one app.
        var app: String
        /// The identifier of the device for the app (`CBPeripheral.identifier`).
        var peripheral: BluetoothUUID?
        var name: String
        var state: String
        /// The last event with a value that the device sent or the app read.
        var last: DeviceEvent?

        /// The last value and its attribute, or `nil`; the value is first, because a narrow terminal cuts the
        /// end.
        var value: String? {
            last.flatMap { event in
                ValueText(event).map { "\($0.text)  \(event.payload.attribute?.name ?? "")" }
            }
        }
    }

    /// An alert that the user has neither opened nor dismissed.
    struct Alert: Hashable, Sendable {
        var app: String
        var cause: String
        var device: String

        init(_ link: EventPayload.PeripheralLink) {
            app = PrintableText.of(link.app ?? "")
            cause = link.cause ?? ""
            device = PrintableText.of(link.peripheral.title ?? link.central?.description ?? "")
        }

        /// The cause, the device and the app, on one line.
        var text: String { cause + (device.isEmpty ? "" : " of \(device)") + ", for \(app)" }
    }

    private var scans = ScreenScans()
    private(set) var links: [Link] = []
    /// The open alerts; the last one is on top.
    private(set) var alerts: [Alert] = []
    /// Whether any app is a central.
    private(set) var isUsed = false

    mutating func note(_ event: DeviceEvent) {
        let app = event.device ?? ""
        switch (event.name, event.payload) {
        case (_, .scan): scans.note(event)
        case (.peripheralConnecting, .link(let link)): setLink(link.peripheral, of: app, "connecting")
        case (.peripheralConnected, .link(let link)): setLink(link.peripheral, of: app, "connected")
        case (.peripheralDisconnected, .link(let link)) where link.isReconnecting == true:
            setLink(link.peripheral, of: app, "reconnecting")
        case (.peripheralFailedToConnect, .link(let link)), (.peripheralDisconnected, .link(let link)):
            links.removeAll { $0.app == app && $0.peripheral == link.peripheral.identifier }
        case (.valueRead, .remote(let use)), (.valueUpdated, .remote(let use)):
            guard use.value != nil, let index = index(use.peripheral, of: app) else { return }
            links[index].last = event
        case (.alertShown, .link(let link)): alerts.append(Alert(link))
        case (.alertOpened, .link(let link)), (.alertDismissed, .link(let link)):
            let alert = Alert(link)
            guard let index = alerts.lastIndex(where: { $0 == alert }) else { return }
            alerts.remove(at: index)
        case (.appTerminated, _), (.appQuit, _):
            // The links that the system preserves are reported again when it relaunches the app.
            return links.removeAll { $0.app == app }
        case (_, .state(let state)):
            guard state != .poweredOn else { return }
            // An event of a phone concerns all its apps.
            let apps = app.split(separator: ", ").map(String.init)
            return links.removeAll { app.isEmpty || apps.contains($0.app) }
        default: return
        }
        isUsed = true
    }

    private func index(_ peripheral: EventPeripheral, of app: String) -> Int? {
        links.firstIndex { $0.app == app && $0.peripheral == peripheral.identifier }
    }

    private mutating func setLink(_ peripheral: EventPeripheral, of app: String, _ state: String) {
        if let index = index(peripheral, of: app) { return links[index].state = state }
        links.append(
            Link(
                app: app, peripheral: peripheral.identifier,
                name: PrintableText.of(peripheral.title ?? ""), state: state))
    }

    // MARK: Lines

    /// The alerts, the scans and the devices, or no sections if no app is a central.
    ///
    /// `hint` says how to connect a device, and is shown if none is connected.
    func sections(severalApps: Bool, hint: [String]) -> [ScreenSection] {
        guard isUsed else { return [] }
        func owner(_ app: String) -> String {
            severalApps && !app.isEmpty ? "  by \(PrintableText.of(app))" : ""
        }
        let alerts = alerts.reversed().map {
            ["  \u{1B}[7malert\u{1B}[0m  \($0.text)"]
        }
        let scans = scans.lines.map { ["  \($0.text)" + owner($0.app)] }
        var links = links.map { link in
            [
                "    \(link.name)  \(link.state)" + owner(link.app)
                    + (link.value.map { "  \($0)" } ?? "")
            ]
        }
        if links.isEmpty {
            links = [["  no device connected"] + hint]
        } else {
            links[0].insert("  devices", at: 0)
        }
        return [
            ScreenSection(noun: ("alert", "alerts"), items: alerts),
            ScreenSection(noun: ("scan", "scans"), items: scans),
            ScreenSection(noun: ("device", "devices"), items: links),
        ]
    }
}
