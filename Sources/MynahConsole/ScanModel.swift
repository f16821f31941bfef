package import MynahCore
package import MynahEmulator
import MynahSupport

/// The devices that were heard, and the table of them.
package struct ScanModel: LiveModel {
    package private(set) var devices: [DeviceAddress: HeardDevice] = [:]
    /// What is done before anything can be heard; `nil` while the radio listens.
    package var waiting: String? = "starting"
    /// Addresses in the order in which they were heard first.
    private var order: [DeviceAddress] = []
    private let title: String
    private let known: [BluetoothUUID]
    /// What a name or an address must contain, in lower case; `nil` if any will do.
    private let wanted: String?

    /// How many devices are remembered; those that were heard longest ago are forgotten first.
    private static let limit = 4096

    /// `known`: services whose bits are looked for in overflow areas.
    package init(title: String, known: [BluetoothUUID], wanted: String?) {
        self.title = title
        self.known = known
        self.wanted = wanted?.lowercased()
    }

    /// Whether a device is one of those that are looked for.
    package func isWanted(_ device: HeardDevice) -> Bool {
        guard let wanted else { return true }
        return device.address.description.lowercased().contains(wanted)
            || device.advertisement.localName?.lowercased().contains(wanted) ?? false
    }

    /// Takes what was heard, and returns the device if it is news.
    package mutating func take(_ sighting: Sighting, at time: WallTime) -> HeardDevice? {
        waiting = nil
        let address = sighting.address
        if devices[address] == nil {
            order.append(address)
            if order.count > Self.limit { forgetOldest() }
        }
        var device = devices[address] ?? HeardDevice(address)
        let isNews = device.take(sighting, at: time)
        devices[address] = device
        return isNews ? device : nil
    }

    private mutating func forgetOldest() {
        let kept = devices.values.sorted { $0.lastHeard.microseconds > $1.lastHeard.microseconds }
            .prefix(Self.limit / 2)
        devices = Dictionary(uniqueKeysWithValues: kept.map { ($0.address, $0) })
        order.removeAll { devices[$0] == nil }
    }

    /// Ages and intervals move by themselves.
    package mutating func isMoving(now: WallTime) -> Bool { !devices.isEmpty }

    package func lines(width: Int, height: Int, now: WallTime, digits: String) -> [String] {
        let heard = wantedDevices
        let heading = "\u{1B}[1m\(title)\u{1B}[0m"
        // On a line of its own, which leaves room for a place.
        var top = waiting.map { [heading, "  \($0)"] } ?? ["\(heading)  \(heard.count) heard"]
        var bottom = ["  Ctrl-C ends it"]
        if height >= 8 {
            top.append("")
            bottom.insert("", at: 0)
        }
        var room = max(1, height - top.count - bottom.count - 1)
        if heard.count > room { room = max(0, room - 1) }
        // What was heard last is never pushed off the screen.
        let recent = Set(
            heard.sorted { $0.lastHeard.microseconds > $1.lastHeard.microseconds }.prefix(room).map(\.address)
        )
        let shown = heard.filter { recent.contains($0.address) }
        let table = ScanTable(width: width, names: shown.map { $0.name ?? "" })
        var lines = top + [table.heading]
        lines += shown.map { table.row($0, now, description: $0.description(among: known)) }
        let hidden = heard.count - shown.count
        if hidden > 0 { lines.append("and \(hidden) more \(hidden == 1 ? "device" : "devices")") }
        return (lines + bottom).map { ScreenLine.cut($0, width) }
    }

    private var wantedDevices: [HeardDevice] { order.compactMap { devices[$0] }.filter(isWanted) }

    /// One device, for a line of its own.
    package func text(of device: HeardDevice) -> String {
        [
            ScreenLine.pad(device.address.description, 17), ScreenLine.pad(device.name ?? "", 24),
            ScreenLine.padLeft(device.rssi.map { "\($0)" } ?? "", 4), device.description(among: known),
        ].joined(separator: "  ")
    }

    /// What stays on the terminal afterwards.
    package func summary(width: Int) -> [String] {
        let heard = wantedDevices
        let table = ScanTable(width: width, names: heard.map { $0.name ?? "" }, ages: false)
        return heard.map { device in
            let row = table.row(device, device.lastHeard, description: device.description(among: known))
            return ScreenLine.cut(row, width)
        }
    }
}
