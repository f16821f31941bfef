import Mynah
import MynahCore
import MynahEmulator
import MynahSupport

/// The devices that were heard, and the table of them.
struct ScanModel: LiveModel {
    private(set) var devices: [DeviceAddress: HeardDevice] = [:]
    /// What is done before anything can be heard; `nil` while the radio listens.
    var waiting: String? = "starting"
    /// Addresses in the order in which they were heard first.
    private var order: [DeviceAddress] = []
    private let title: String
    private let known: [BluetoothUUID]
    /// What a name or an address must have in it, in lower case; nil: anything.
    private let wanted: String?

    /// How many devices are remembered; whoever was heard longest ago is forgotten first.
    private static let limit = 4096

    /// `known`: services whose bits are looked for in overflow areas.
    init(title: String, known: [BluetoothUUID], wanted: String?) {
        self.title = title
        self.known = known
        self.wanted = wanted?.lowercased()
    }

    /// Whether a device is one of those that are looked for.
    func isWanted(_ device: HeardDevice) -> Bool {
        guard let wanted else { return true }
        return device.address.description.lowercased().contains(wanted)
            || device.advertisement.localName?.lowercased().contains(wanted) ?? false
    }

    /// Takes what was heard, and returns the device where it says something new.
    mutating func take(_ discovery: Discovery, at time: WallTime) -> HeardDevice? {
        let address = discovery.peripheral.address
        if devices[address] == nil {
            order.append(address)
            if order.count > Self.limit { forgetOldest() }
        }
        var device = devices[address] ?? HeardDevice(address)
        let isNew = device.take(discovery, at: time)
        devices[address] = device
        return isNew ? device : nil
    }

    private mutating func forgetOldest() {
        let kept = devices.values.sorted { $0.lastHeard.microseconds > $1.lastHeard.microseconds }
            .prefix(Self.limit / 2)
        devices = Dictionary(uniqueKeysWithValues: kept.map { ($0.address, $0) })
        order.removeAll { devices[$0] == nil }
    }

    /// Ages and intervals move by themselves.
    mutating func isMoving(now: WallTime) -> Bool { !devices.isEmpty }

    func lines(width: Int, height: Int, now: WallTime, digits: String) -> [String] {
        let heading = "\u{1B}[1m\(title)\u{1B}[0m"
        // On a line of its own, which leaves room for a place.
        var lines = waiting.map { [heading, "  \($0)"] } ?? ["\(heading)  \(wantedDevices.count) heard", ""]
        lines.append(Self.row("address", "name", "RSSI", "interval", "heard", "advertises"))
        let shown = wantedDevices
        // What was heard last is never pushed off the screen.
        let room = max(0, height - lines.count - 2)
        let recent = Set(
            shown.sorted { $0.lastHeard.microseconds > $1.lastHeard.microseconds }.prefix(room).map(\.address)
        )
        for device in shown where recent.contains(device.address) { lines.append(line(device, now)) }
        if recent.count < shown.count { lines.append("  and \(shown.count - recent.count) more") }
        lines.append("")
        lines.append("  Ctrl-C ends it")
        return lines.map { ScreenLine.cut($0, width) }
    }

    private var wantedDevices: [HeardDevice] { order.compactMap { devices[$0] }.filter(isWanted) }

    private func line(_ device: HeardDevice, _ now: WallTime) -> String {
        let age = Double(max(0, now.microseconds - device.lastHeard.microseconds) / 100_000) / 10
        return Self.row(
            device.address.description, device.name ?? "", device.rssi.map { "\($0)" } ?? "",
            device.interval.map { "\(JSON.number($0.rounded()).text) ms" } ?? "",
            age < 1 ? "now" : "\(Int(age)) s ago", device.description(among: known))
    }

    /// One device, for a line of its own.
    func text(of device: HeardDevice) -> String {
        Self.row(
            device.address.description, device.name ?? "", device.rssi.map { "\($0)" } ?? "", nil, nil,
            device.description(among: known))
    }

    private static func row(
        _ address: String, _ name: String, _ rssi: String, _ interval: String?, _ age: String?,
        _ advertises: String
    ) -> String {
        var columns = [EventText.pad(address, 17), EventText.pad(String(name.prefix(24)), 24)]
        columns.append(String(repeating: " ", count: max(0, 4 - rssi.count)) + rssi)
        if let interval { columns.append(EventText.pad(interval, 8)) }
        if let age { columns.append(EventText.pad(age, 8)) }
        return (columns + [advertises]).joined(separator: "  ")
    }

    /// What stays on the terminal afterwards.
    var summary: [String] { wantedDevices.map { text(of: $0) } }
}
