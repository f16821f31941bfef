import MynahCore
import MynahEmulator
import MynahSupport

/// The table of a scan; on a narrow terminal, it has fewer columns.
struct ScanTable {
    private enum Column: CaseIterable {
        case address, name, rssi, interval, heard, advertises

        var title: String {
            switch self {
            case .address: "address"
            case .name: "name"
            case .rssi: "RSSI"
            case .interval: "interval"
            case .heard: "heard"
            case .advertises: "advertises"
            }
        }
    }

    private let columns: [Column]
    private let nameWidth: Int

    /// Makes a table for a terminal of this width; without `ages`, it has no columns that depend on the time.
    init(width: Int, _ devices: [HeardDevice], ages: Bool = true) {
        let hasAddress = width >= 60
        let longest = devices.map { DisplayWidth.of(Self.name(of: $0, hasAddress)) }.max() ?? 0
        switch width {
        case ..<30:
            columns = [.name, .rssi]
            nameWidth = max(4, width - 6)
        case ..<60:
            columns = [.name, .rssi, .advertises]
            nameWidth = min(max(4, longest), 17)
        case ..<100:
            columns = [.address, .name, .rssi, .heard, .advertises].filter { ages || $0 != .heard }
            nameWidth = min(max(4, longest), 17)
        default:
            columns = Column.allCases.filter { ages || $0 != .interval && $0 != .heard }
            nameWidth = min(max(4, longest), 24)
        }
    }

    /// The name of a device.
    ///
    /// Without a column for addresses, a missing name is replaced by the address.
    private static func name(of device: HeardDevice, _ hasAddress: Bool) -> String {
        device.name ?? (hasAddress ? "" : device.address.description)
    }

    var heading: String { line { $0.title } }

    func row(_ device: HeardDevice, _ now: WallTime, description: String) -> String {
        line { column in
            switch column {
            case .address: device.address.description
            case .name: Self.name(of: device, columns.contains(.address))
            case .rssi: device.rssi.map { "\($0)" } ?? ""
            case .interval: device.interval.map { "\(JSON.number($0.rounded()).text) ms" } ?? ""
            case .heard: Self.age(max(0, now.microseconds - device.lastHeard.microseconds))
            case .advertises: description
            }
        }
    }

    private func line(_ text: (Column) -> String) -> String {
        columns.map { column in
            switch column {
            case .address: ScreenLine.pad(text(column), 17)
            case .name: ScreenLine.fit(text(column), nameWidth)
            case .rssi: ScreenLine.padLeft(text(column), 4)
            case .interval, .heard: ScreenLine.pad(text(column), 8)
            case .advertises: text(column)
            }
        }.joined(separator: "  ")
    }

    private static func age(_ microseconds: Int64) -> String {
        microseconds < 1_000_000 ? "now" : "\(microseconds / 1_000_000) s ago"
    }
}
