package import MynahCore
package import MynahEmulator
package import MynahRun
import MynahSupport

/// The screen of a scan: the received devices in a table.
package struct ScanModel: LiveModel {
    /// A row of the table: an advertising set, or the legacy advertising of an address.
    package struct Row: Hashable, Sendable {
        var address: DeviceAddress
        /// The set's identifier, or `nil` for legacy advertising.
        var set: UInt8?

        /// The row of a report.
        package init(_ report: ScanReport) { (address, set) = (report.address, report.set) }
    }

    package private(set) var devices: [Row: HeardDevice] = [:]
    /// The reason that the radio does not scan yet, or `nil` while it scans.
    package var waiting: String? = "starting"
    /// The rows, in the order in which they were first received.
    private var order: [Row] = []
    /// The place of the scan for the title, as in "on the virtual radio".
    private let place: String
    private let known: [BluetoothUUID]
    /// Whether other processes of this user can emulate devices that the scan receives.
    private let hearsOwnDevices: Bool
    /// The lower-case text that names or addresses must contain, or `nil` to show all devices.
    private let wanted: String?

    /// The largest number of devices; beyond it, those not received for the longest time are removed.
    static let limit = 20_000
    /// The largest number of devices in the summary.
    static let summaryLimit = 200

    /// Makes a model; `known` are the services that can be recognized in overflow areas.
    package init(
        place: String, known: [BluetoothUUID], wanted: String?, hearsOwnDevices: Bool = false
    ) {
        self.place = place
        self.known = known
        self.hearsOwnDevices = hearsOwnDevices
        self.wanted = wanted?.lowercased()
    }

    /// Whether a device passes the filter.
    package func isWanted(_ device: HeardDevice) -> Bool {
        guard let wanted else { return true }
        return device.address.description.lowercased().contains(wanted)
            || device.advertisement.localName?.lowercased().contains(wanted) ?? false
    }

    /// Adds a sighting; returns the device if its content is new.
    package mutating func note(_ sighting: Sighting, at time: WallTime) -> HeardDevice? {
        waiting = nil
        let row = Row(sighting.report)
        if devices[row] == nil {
            order.append(row)
            if order.count > Self.limit { forgetOldest() }
        }
        let isNews = devices[row, default: HeardDevice(row.address)].note(sighting, at: time)
        return isNews ? devices[row] : nil
    }

    private mutating func forgetOldest() {
        let kept = devices.values.sorted {
            let (one, other) = ($0.lastHeard.microseconds, $1.lastHeard.microseconds)
            return one == other ? $0.isBefore($1) : one > other
        }
        .prefix(Self.limit / 2)
        devices = Dictionary(
            uniqueKeysWithValues: kept.compactMap { device in device.row.map { ($0, device) } })
        // The newest device is not in `devices` yet.
        let newest = order.last
        order.removeAll { $0 != newest && devices[$0] == nil }
    }

    /// Whether the content changes with time, as the ages of devices do.
    package mutating func isMoving(now: WallTime) -> Bool { !devices.isEmpty }

    package func lines(width: Int, height: Int, now: WallTime, digits: String) -> [String] {
        let heard = wantedRows
        let title = "\u{1B}[1mmynah scan\u{1B}[0m"
        // The step is on a line of its own, so that a path fits.
        var top =
            waiting.map { ["\(title)  \(place)", "  \($0)"] }
            ?? ["\(title)  \(heard.count) heard  \(place)"]
        // The screen shows no more devices than it has rows, and the hint names one more.
        let ranked = ranked(heard, height + 1, now)
        var bottom = hints(ranked.map(\.device), width, height)
        if height >= 8 {
            top.append("")
            bottom.insert("", at: 0)
        }
        var room = max(1, height - top.count - bottom.count - 1)
        if heard.count > room { room = max(0, room - 1) }
        let shown = ranked.prefix(room).sorted { $0.place < $1.place }.map(\.device)
        let table = ScanTable(width: width, shown)
        var lines = top + (heard.isEmpty ? [] : [table.heading])
        if heard.isEmpty, waiting == nil { lines.append("  no device heard yet") }
        lines += shown.map { table.row($0, now, description: $0.description(among: known)) }
        let hidden = heard.count - shown.count
        if hidden > 0 { lines.append(Self.more(hidden)) }
        return ScreenLine.shown(lines + bottom, width)
    }

    private static func more(_ count: Int) -> String {
        "and " + count.counting("more device")
    }

    /// The hints about the next command and about ending the scan.
    private func hints(_ ranked: [HeardDevice], _ width: Int, _ height: Int) -> [String] {
        let end = ["  Ctrl-C ends the scan"]
        guard height >= 8, waiting == nil else { return end }
        guard !ranked.isEmpty else {
            return (hearsOwnDevices ? NextCommand.run(indent: 2, width: width) : []) + end
        }
        guard let device = ranked.first(where: { $0.isConnectable && $0.name != nil }) ?? ranked.first else {
            return end
        }
        let name = device.name ?? device.address.description
        return NextCommand.connect(to: name, indent: 2, width: width) + end
    }

    /// The devices to show first on a terminal with few rows, with their indices in `heard`.
    ///
    /// The most recently received devices come first. Devices received within the same 5 s keep their order,
    /// so that rows do not change with each advertising event. Only ages are computed for all devices, which
    /// is faster than sorting them.
    private func ranked(
        _ heard: [Row], _ count: Int, _ now: WallTime
    ) -> [(place: Int, device: HeardDevice)] {
        var ages: [Int64] = []
        ages.reserveCapacity(heard.count)
        for row in heard {
            let last = devices[row]?.lastHeard.microseconds ?? 0
            ages.append(max(0, now.microseconds - last) / 5_000_000)
        }
        var places: [Int] = []
        for age in Set(ages).sorted() where places.count < count {
            let ofAge = ages.indices.reversed().lazy.filter { ages[$0] == age }
            places += ofAge.prefix(count - places.count)
        }
        return places.compactMap { place in devices[heard[place]].map { (place, $0) } }
    }

    /// The addresses of devices that pass the filter, in the order in which they were first received.
    private var wantedRows: [Row] {
        guard wanted != nil else { return order }
        return order.filter { devices[$0].map(isWanted) ?? false }
    }

    /// The line about one device, for output without a table.
    package func text(of device: HeardDevice) -> String {
        [
            ScreenLine.pad(device.address.description, 17), ScreenLine.pad(device.name ?? "", 24),
            ScreenLine.padLeft(device.rssi.map { "\($0)" } ?? "", 4), device.description(among: known),
        ].joined(separator: "  ")
    }

    /// The lines that remain on the terminal after the end.
    ///
    /// If there are too many devices, the lines are those of the devices received first.
    package func summary(width: Int) -> [String] {
        let rows = wantedRows
        let heard = rows.prefix(Self.summaryLimit).compactMap { devices[$0] }
        let table = ScanTable(width: width, heard, ages: false)
        let hidden = rows.count - heard.count
        return heard.map { device in
            let row = table.row(device, device.lastHeard, description: device.description(among: known))
            return ScreenLine.cut(row, width)
        } + (hidden > 0 ? [Self.more(hidden)] : [])
    }
}
