import MynahConsole
import MynahEmulator
import MynahSupport

/// What the screen of a run shows, made of events alone.
struct ScreenModel: LiveModel {
    /// A radio's: an accessory, or the phone that apps play on.
    private struct Device {
        var name: String
        var radio = ""
        var state = "starting"
        var advertising: [String] = []
    }

    private struct Row {
        var device: String
        var name: String
        var reads = 0
        var writes = 0
        var sent = 0
        var isSubscribed = false
        var value = ""
        var recent: [Int64] = []
    }

    private let title: String
    /// In the order in which they were heard of; one without a name where there is one alone.
    private var devices: [Device] = []
    private var centrals: [(device: String, central: String?, name: String, mtu: String)] = []
    private var order: [String] = []
    private var rows: [String: Row] = [:]
    private var log: [String] = []
    private var asked: String?
    private let hasApps: Bool
    /// Each app's state, by its device's name, or "" where there is one.
    private var apps: [(device: String, state: String)] = []

    init(title: String, hasApps: Bool) {
        self.title = PrintableText.of(title)
        self.hasApps = hasApps
    }

    mutating func take(_ event: DeviceEvent) {
        let device = event.string("device") ?? ""
        switch event.name {
        case .ready:
            change(device) {
                $0.state = "running"
                $0.radio = event.string("radio") ?? ""
            }
        case .advertisingStarted, .advertisingChanged:
            change(device) { $0.advertising = Self.advertising(event) }
        case .advertisingStopped:
            change(device) { $0.advertising = [] }
        case .centralConnected:
            let name = [event.string("central"), event.string("name")].compactMap { $0 }.joined(
                separator: " ")
            centrals.append((device, event.string("central"), PrintableText.of(name), ""))
        case .centralDisconnected:
            centrals.removeAll { $0.device == device && $0.central == event.string("central") }
            asked = nil
        case .mtuChanged:
            for index in centrals.indices
            where centrals[index].device == device && centrals[index].central == event.string("central") {
                centrals[index].mtu = event["mtu"]?.text ?? ""
            }
        case .radioLost:
            change(device) { $0.state = "lost: " + PrintableText.of(event.string("message") ?? "") }
            centrals.removeAll { $0.device == device }
        case .radioRecovered:
            change(device) { $0.state = "running" }
        case .pairingPasskey:
            asked = Self.request(event)
        case .paired:
            asked = nil
        case .appLaunched, .appForeground, .appBackground, .appSuspended, .appWoken, .appThrottled,
            .appTerminated, .appQuit:
            show(event)
        case .read, .write, .notified, .subscribed, .unsubscribed:
            count(event)
        default: break
        }
        guard event.name != .notified else { return }
        log.append(EventText.line(of: event))
        if log.count > 200 { log.removeFirst(100) }
    }

    private mutating func change(_ name: String, _ change: (inout Device) -> Void) {
        guard let index = devices.firstIndex(where: { $0.name == name }) else {
            var device = Device(name: name)
            change(&device)
            return devices.append(device)
        }
        change(&devices[index])
    }

    private mutating func show(_ event: DeviceEvent) {
        let device = event.string("device") ?? ""
        let state =
            switch event.name {
            case .appWoken: "woken by " + (event.string("by") ?? "an event")
            case .appTerminated: "terminated (" + (event.string("reason") ?? "system") + ")"
            default: String(event.name.rawValue.dropFirst("app.".count))
            }
        if let index = apps.firstIndex(where: { $0.device == device }) {
            apps[index].state = state
        } else {
            apps.append((device, state))
        }
    }

    private mutating func count(_ event: DeviceEvent) {
        let name = EventText.name(of: event)
        let device = event.string("device") ?? ""
        let key = [device, event.string("service") ?? "", name].joined(separator: "/")
        if rows[key] == nil {
            order.append(key)
            rows[key] = Row(device: device, name: name)
        }
        guard var row = rows[key] else { return }
        switch event.name {
        case .read: row.reads += 1
        case .write: row.writes += 1
        case .subscribed: row.isSubscribed = true
        case .unsubscribed: row.isSubscribed = false
        default:
            row.sent += 1
            row.recent.append(event.time.microseconds)
            // Two seconds' worth is all the rate needs; at thousands a second it is cut in large pieces.
            if row.recent.count > 20_000 { row.recent.removeFirst(10_000) }
        }
        if let value = event.string("value") { row.value = EventText.value(value) }
        rows[key] = row
    }

    /// Whether a rate will change by itself.
    mutating func isMoving(now: WallTime) -> Bool {
        for key in order { rows[key]?.recent.removeAll { $0 < now.microseconds - 2_000_000 } }
        return rows.values.contains { !$0.recent.isEmpty }
    }

    func lines(width: Int, height: Int, now: WallTime, digits: String) -> [String] {
        var lines = heading
        for app in apps {
            lines.append(
                "  app  \u{1B}[1m\(app.state)\u{1B}[0m"
                    + (app.device.isEmpty ? "" : "  \(PrintableText.of(app.device))"))
        }
        if devices.count <= 1 {
            lines.append("")
            lines += Self.air(devices.first)
        }
        lines.append("")
        lines.append(centrals.isEmpty ? "  no central is connected" : "  connected")
        for central in centrals {
            let device = devices.count > 1 ? "  to \(PrintableText.of(central.device))" : ""
            lines.append(
                "    \(central.name)" + device + (central.mtu.isEmpty ? "" : "  MTU \(central.mtu)"))
        }
        if let asked { lines += ["", "  \u{1B}[7m\(asked)\u{1B}[0m \(digits)"] }
        for group in groups {
            lines.append("")
            let name = EventText.pad("  " + PrintableText.of(group.device), 36)
            lines.append("  \(name)  reads writes   sent   rate  last value")
            lines += group.rows.map { Self.line($0, now) }
        }
        lines.append("")
        let room = height - lines.count - 1
        if room > 0 { lines += log.suffix(room).map { "  " + $0 } }
        lines.append(
            hasApps
                ? "  f foreground  b background  s suspend  t terminate  q quit the app   Ctrl-C ends the phone"
                : "  Ctrl-C ends it")
        return lines.map { ScreenLine.cut($0, width) }
    }

    /// What plays, on which radio, and of several devices what each has on the air.
    private var heading: [String] {
        guard devices.count > 1 else {
            return [
                "\u{1B}[1m\(title)\u{1B}[0m  \(devices.first?.radio ?? "")  \(devices.first?.state ?? "starting")"
            ]
        }
        return devices.flatMap { device in
            ["\u{1B}[1m\(PrintableText.of(device.name))\u{1B}[0m  \(device.radio)  \(device.state)"]
                + Self.air(device)
        }
    }

    private static func air(_ device: Device?) -> [String] {
        guard let device, !device.advertising.isEmpty else { return ["  not advertising"] }
        return device.advertising.map { "  " + $0 }
    }

    /// The attributes by device, each in the order in which it was first heard of.
    private var groups: [(device: String, rows: [Row])] {
        var groups: [(device: String, rows: [Row])] = []
        for key in order {
            guard let row = rows[key] else { continue }
            if let index = groups.firstIndex(where: { $0.device == row.device }) {
                groups[index].rows.append(row)
            } else {
                groups.append((row.device, [row]))
            }
        }
        return groups
    }

    /// What stays on the terminal afterwards.
    var summary: [String] {
        let sums = rows.values.reduce(into: (0, 0, 0)) { sums, row in
            sums = (sums.0 + row.reads, sums.1 + row.writes, sums.2 + row.sent)
        }
        return ["\(title): \(sums.0) reads, \(sums.1) writes, \(sums.2) notifications"]
    }

    private static func line(_ row: Row, _ now: WallTime) -> String {
        let recent = row.recent.count { $0 >= now.microseconds - 1_000_000 }
        let columns = [
            EventText.pad((row.isSubscribed ? "● " : "  ") + row.name, 36), left("\(row.reads)", 6),
            left("\(row.writes)", 6), left("\(row.sent)", 6), left(recent > 0 ? "\(recent)/s" : "", 6),
        ]
        return "  " + columns.joined(separator: " ") + "  " + row.value
    }

    private static func advertising(_ event: DeviceEvent) -> [String] {
        var lines = ["advertising    " + (event.string("data") ?? "")]
        if let response = event.string("scanResponse"), !response.isEmpty {
            lines.append("scan response  " + response)
        }
        if case .number(let interval)? = event["intervalMilliseconds"] {
            lines[0] += "  every \(JSON.number(interval).text) ms"
        }
        return lines
    }

    private static func request(_ event: DeviceEvent) -> String? {
        switch (event.string("step"), event.string("passkey")) {
        case ("display", let number?): "type \(number) on the phone"
        case ("compare", let number?): "the phone shows \(number); it is taken as the same"
        case ("enter", _) where event["entered"] == .bool(false):
            "type the number the phone shows, then Enter:"
        default: nil
        }
    }

    private static func left(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
