import MynahEmulator
import MynahSupport

/// The part of a screen for apps that are centrals: their scans, their devices, and alerts.
struct CentralScreen: Sendable {
    /// A device that an app uses.
    struct Link: Sendable {
        /// The name of the app, as in events; empty if it is alone.
        var app: String
        /// The UUID by which the app knows the device.
        var peripheral: String
        var name: String
        var state: String
        /// The event with the value that was sent or read last.
        var last: DeviceEvent?

        /// The value first: a narrow terminal cuts the end.
        var value: String? {
            last.flatMap { event in ValueText(event).map { "\($0.text)  \(EventText.name(of: event))" } }
        }
    }

    /// An alert that its user has neither opened nor dismissed.
    struct Alert: Sendable {
        var app: String
        var cause: String
        var device: String
    }

    private var scans = ScreenScans()
    private(set) var links: [Link] = []
    /// The last one is on top.
    private(set) var alerts: [Alert] = []
    /// Whether an app plays a central.
    private(set) var isUsed = false

    mutating func take(_ event: DeviceEvent) {
        let app = event.string("device") ?? ""
        switch event.name {
        case .scanStarted, .scanChanged, .scanPaused, .scanStopped: scans.take(event)
        case .peripheralConnecting: setLink(event, "connecting")
        case .peripheralConnected: setLink(event, "connected")
        case .peripheralDisconnected where event["isReconnecting"] == .bool(true):
            setLink(event, "reconnecting")
        case .peripheralFailedToConnect, .peripheralDisconnected:
            links.removeAll { $0.app == app && $0.peripheral == event.string("peripheral") }
        case .valueRead, .valueUpdated:
            guard event.string("value") != nil, let index = index(event) else { return }
            links[index].last = event
        case .alertShown: alerts.append(Self.alert(event))
        case .alertOpened, .alertDismissed:
            let alert = Self.alert(event)
            guard
                let index = alerts.lastIndex(where: {
                    $0.app == alert.app && $0.cause == alert.cause && $0.device == alert.device
                })
            else { return }
            alerts.remove(at: index)
        case .appTerminated, .appQuit:
            // The links that the system keeps are reported when it is relaunched.
            return links.removeAll { $0.app == app }
        case .stateChanged:
            guard event.string("state") != "poweredOn" else { return }
            // A phone's own events are of all its apps.
            let apps = app.split(separator: ", ").map(String.init)
            return links.removeAll { app.isEmpty || apps.contains($0.app) }
        default: return
        }
        isUsed = true
    }

    private func index(_ event: DeviceEvent) -> Int? {
        links.firstIndex {
            $0.app == event.string("device") ?? "" && $0.peripheral == event.string("peripheral")
        }
    }

    private mutating func setLink(_ event: DeviceEvent, _ state: String) {
        if let index = index(event) { return links[index].state = state }
        links.append(
            Link(
                app: event.string("device") ?? "", peripheral: event.string("peripheral") ?? "",
                name: Self.name(of: event), state: state))
    }

    private static func alert(_ event: DeviceEvent) -> Alert {
        Alert(
            app: PrintableText.of(event.string("app") ?? ""), cause: event.string("by") ?? "",
            device: name(of: event))
    }

    private static func name(of event: DeviceEvent) -> String {
        PrintableText.of(["as", "name", "address"].lazy.compactMap { event.string($0) }.first ?? "")
    }

    // MARK: Lines

    /// The alerts, the scans and the devices; empty if no app plays a central.
    ///
    /// If no device is connected, `hint` says how there could be one.
    func sections(severalApps: Bool, hint: [String]) -> [ScreenSection] {
        guard isUsed else { return [] }
        func owner(_ app: String) -> String {
            severalApps && !app.isEmpty ? "  by \(PrintableText.of(app))" : ""
        }
        let alerts = alerts.reversed().map {
            ["  \u{1B}[7malert\u{1B}[0m  \($0.cause) of \($0.device), for \($0.app)"]
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
