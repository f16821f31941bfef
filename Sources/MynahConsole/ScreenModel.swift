package import MynahCore
package import MynahEmulator
import MynahProfiles
import MynahSupport

/// The screen of a run, whose content comes only from events.
package struct ScreenModel: LiveModel {
    /// A device with a radio of its own: an accessory, or a phone with its apps.
    struct Device {
        var name: String
        /// The name of the phone, or `nil` if there is none.
        var phone: String?
        var radio = ""
        var state = "starting"
        /// The address that the device uses on the air, or `nil` if the radio does not report it.
        var address: DeviceAddress?
        var air: ScreenAir?

        /// The device's name on the screen; for a phone with a name, the names of the phone and its apps.
        var title: String { PrintableText.of(phone.map { "\($0): \(name)" } ?? name) }

        /// Whether the device's radio is lost, so that the device does not advertise.
        var isLost: Bool { state.hasPrefix("lost") }
    }

    struct Central {
        var device: String
        var identifier: EventCentral?
        var name: String
        var mtu = ""
    }

    /// The counts and the last value of an attribute.
    struct Row {
        var device: String
        var name: String
        var reads = 0
        var writes = 0
        var sent = 0
        var isSubscribed = false
        /// The last event with a value of the attribute.
        var last: DeviceEvent?
        var recent: [Int64] = []
    }

    /// The names of the profiles.
    let titles: [String]
    let hasApps: Bool
    /// The services that can be recognized in an overflow area.
    let known: [BluetoothUUID]
    /// The devices, in the order of their first events; if there is only one device, its name is empty.
    private(set) var devices: [Device] = []
    /// The index of each device in `devices`, by its name.
    private var places: [String: Int] = [:]
    private(set) var centrals: [Central] = []
    private var order: [String] = []
    private var rows: [String: Row] = [:]
    private(set) var log: [DeviceEvent] = []
    /// The questions of pairing.
    private(set) var questions = ScreenQuestions()
    /// The apps' states, in the order of their first events; if there is only one device, its name is empty.
    private(set) var apps: [(device: String, state: String)] = []

    /// The part of the screen for apps that are centrals.
    private(set) var central = CentralScreen()

    /// The address of the web page, or `nil` if there is none.
    private(set) var page: String?

    /// The name and the time of a virtual clock, or `nil` for the machine's clock.
    private(set) var clock: (name: String, now: WallTime)?

    /// The name of the app to which keys apply, or `nil` if none is selected.
    private(set) var chosen: String?

    /// Makes a screen; `known` are the services that can be recognized in overflow areas.
    package init(titles: [String], hasApps: Bool, known: [BluetoothUUID] = []) {
        self.titles = titles.map(PrintableText.of)
        self.hasApps = hasApps
        self.known = known
    }

    /// Removes all devices and events; called when the run starts again.
    package mutating func beginAnew() {
        self = ScreenModel(titles: titles, hasApps: hasApps, known: known)
    }

    /// Sets the app to which keys apply, or none if `device` is `nil`.
    package mutating func choose(_ device: String?) {
        chosen = device
    }

    /// Sets the time of the run and the name of its clock.
    package mutating func setTime(_ time: WallTime, of clock: String) {
        self.clock = (clock, time)
    }

    package mutating func note(_ event: DeviceEvent) {
        let device = event.device ?? ""
        switch (event.name, event.payload) {
        case (_, .ready(let ready)):
            page = EventText.page(of: ready) ?? page
            change(device) {
                $0.state = "running"
                $0.phone = ready.phone
                $0.radio = ready.radio ?? ""
                $0.address = ready.address ?? $0.address
            }
        case (.advertisingStopped, _):
            change(device) { $0.air = nil }
        case (_, .advertising(let report)):
            change(device) {
                $0.air = ScreenAir(report)
                $0.address = report.address ?? $0.address
            }
        case (.centralConnected, .central(let link)):
            let name = [link.central?.description, link.name].compactMap { $0 }.joined(separator: " ")
            centrals.append(
                Central(device: device, identifier: link.central, name: PrintableText.of(name)))
        case (.centralDisconnected, .central(let link)):
            centrals.removeAll { $0.device == device && $0.identifier == link.central }
        case (.mtuChanged, .central(let link)):
            for index in centrals.indices
            where centrals[index].device == device && centrals[index].identifier == link.central {
                centrals[index].mtu = link.mtu.map { "\($0)" } ?? ""
            }
        case (.radioLost, .notice(let notice)):
            change(device) { $0.state = "lost: " + PrintableText.of(notice.message) }
            centrals.removeAll { $0.device == device }
        case (.radioRecovered, _):
            change(device) { $0.state = "running" }
        case (_, .pairing): break
        case (.appTerminated, _), (.appQuit, _):
            show(event)
            central.note(event)
        case (_, .app), (.appForeground, _), (.appBackground, _), (.appSuspended, _), (.appWoken, _),
            (.appThrottled, _):
            show(event)
        case (.read, .attribute(let use)), (.write, .attribute(let use)), (.notified, .attribute(let use)),
            (.subscribed, .attribute(let use)), (.unsubscribed, .attribute(let use)):
            count(event, use)
        default: central.note(event)
        }
        questions.note(event)
        switch event.name {
        case .notified, .valueUpdated, .radioUsed: return
        default: break
        }
        log.append(event)
        if log.count > 200 { log.removeFirst(100) }
    }

    private mutating func change(_ name: String, _ change: (inout Device) -> Void) {
        let place = places[name] ?? devices.count
        if place == devices.count {
            places[name] = place
            devices.append(Device(name: name))
        }
        change(&devices[place])
    }

    private mutating func show(_ event: DeviceEvent) {
        let device = event.device ?? ""
        let state =
            switch (event.name, event.payload) {
            case (.appWoken, .attribute(let use)): "woken by " + (use.reason ?? "an event")
            case (.appTerminated, .app(let step)): "terminated (" + (step.reason ?? "system") + ")"
            default: String(event.name.rawValue.dropFirst("app.".count))
            }
        if let index = apps.firstIndex(where: { $0.device == device }) {
            apps[index].state = state
        } else {
            apps.append((device, state))
        }
    }

    private mutating func count(_ event: DeviceEvent, _ use: EventPayload.AttributeUse) {
        let name = use.attribute.name
        let device = event.device ?? ""
        let key = [device, use.attribute.service?.description ?? "", name].joined(separator: "/")
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
            // The rate needs only the last two seconds; at thousands of events per second, it is cut in large
            // pieces.
            if row.recent.count > 20_000 { row.recent.removeFirst(10_000) }
        }
        if use.value != nil { row.last = event }
        rows[key] = row
    }

    /// Whether a rate will change without an event, because recent events become old.
    package mutating func isMoving(now: WallTime) -> Bool {
        guard clock == nil else { return false }
        for key in order { rows[key]?.recent.removeAll { $0 < now.microseconds - 2_000_000 } }
        return rows.values.contains { !$0.recent.isEmpty }
    }

    /// The attributes in groups by device, in the order of their first events.
    var groups: [(device: String, rows: [Row])] {
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

    /// The total counts of reads, writes and sent values.
    var totals: (reads: Int, writes: Int, sent: Int) {
        rows.values.reduce(into: (0, 0, 0)) { sums, row in
            sums = (sums.0 + row.reads, sums.1 + row.writes, sums.2 + row.sent)
        }
    }
}
