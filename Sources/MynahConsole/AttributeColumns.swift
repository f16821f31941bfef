import MynahEmulator
import MynahSupport

/// The table of attributes on a run's screen; a narrow terminal gets fewer columns.
struct AttributeColumns {
    private let now: WallTime
    private let nameWidth: Int
    private let isNarrow: Bool

    /// The width of the columns for counts and rate, including the gaps before them.
    private static let counters = 4 * 7
    private static let widestName = 36

    init(width: Int, now: WallTime) {
        self.now = now
        isNarrow = width < 60
        let room = isNarrow ? (width - 4) / 2 : width - Self.counters - 16
        nameWidth = min(Self.widestName, max(8, room))
    }

    /// The lines for each attribute of a device; the first item also has the table's heading.
    func items(_ group: (device: String, rows: [ScreenModel.Row])) -> [[String]] {
        var items = group.rows.map { [line($0)] }
        let device = PrintableText.of(group.device)
        if isNarrow {
            if !device.isEmpty { items[0].insert("  " + device, at: 0) }
        } else {
            let name = ScreenLine.fit("  " + device, nameWidth)
            items[0].insert("  \(name)  reads writes   sent   rate  last value", at: 0)
        }
        return items
    }

    private func line(_ row: ScreenModel.Row) -> String {
        let recent = row.recent.count { $0 >= now.microseconds - 1_000_000 }
        let rate = recent > 0 ? "\(recent)/s" : ""
        let name = ScreenLine.fit((row.isSubscribed ? "● " : "  ") + row.name, nameWidth)
        let value = row.last.flatMap { ValueText($0) }
        guard !isNarrow else { return "  \(name) \(rate.isEmpty ? "" : rate + " ")\(value?.brief ?? "")" }
        let numbers = ["\(row.reads)", "\(row.writes)", "\(row.sent)", rate]
        return "  \(name) " + numbers.map { ScreenLine.padLeft($0, 6) }.joined(separator: " ") + "  "
            + (value?.text ?? "")
    }
}
