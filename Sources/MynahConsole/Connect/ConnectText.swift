import Mynah
import MynahCore
import MynahEmulator

/// Formats the text of `mynah connect`.
enum ConnectText {
    /// A row of a table with two columns.
    struct Row {
        var indent: String
        var text: String
        /// The width of the first column, without the indent; the second column begins after it.
        var column: Int
        var rest = ""
    }

    /// The lines for services with their characteristics and descriptors.
    static func lines(of services: [DiscoveredService], width: Int) -> [String] {
        lines(of: services.flatMap(rows), width: width)
    }

    private static func rows(of service: DiscoveredService) -> [Row] {
        let kind = service.isPrimary ? "" : "  secondary"
        var rows = [Row(indent: "", text: title(service.uuid) + kind, column: 0)]
        rows += service.includedServices.map {
            Row(indent: "  ", text: "includes \(title($0.uuid))", column: 0)
        }
        for characteristic in service.characteristics {
            let properties = characteristic.properties.names.joined(separator: ", ")
            rows.append(
                Row(
                    indent: "  ", text: title(characteristic.uuid), column: 48,
                    rest: ScreenLine.pad("@\(characteristic.id)", 5) + "  " + properties))
            rows += (characteristic.descriptors ?? []).map {
                Row(indent: "    ", text: title($0.uuid), column: 46, rest: "@\($0.handle)")
            }
        }
        return rows
    }

    /// Rows in columns, or without columns if a row is too wide.
    ///
    /// Without columns, a row may have several lines.
    static func lines(of rows: [Row], width: Int) -> [String] {
        let columns = rows.map { row in
            row.indent + (row.rest.isEmpty ? row.text : ScreenLine.pad(row.text, row.column) + row.rest)
        }
        if columns.allSatisfy({ DisplayWidth.of($0) <= width }) { return columns }
        return rows.flatMap { row in
            let words = row.rest.split(separator: " ").map(String.init)
            let line = row.indent + row.text + (words.isEmpty ? "" : "  " + words.joined(separator: " "))
            if words.isEmpty || DisplayWidth.of(line) <= width { return [ScreenLine.cut(line, width)] }
            return [ScreenLine.cut(row.indent + row.text, width)]
                + ScreenLine.flow(words, separator: " ", indent: row.indent + "  ", width: width)
        }
    }

    // MARK: - Values

    /// A value with the name of its attribute and its time, in one line or two.
    ///
    /// On a narrow terminal, the time and the name are shortened. The value is never cut, and its words may
    /// be on separate lines.
    static func lines(ofValue value: ValueText, of name: String, at time: WallTime?, width: Int) -> [String] {
        let clock = time?.localClock ?? ""
        let text = value.text
        let candidates = [[clock, name, text], [String(clock.prefix(8)), name, text], [name, text]].map {
            $0.filter { !$0.isEmpty }.joined(separator: "  ")
        }
        if let line = candidates.first(where: { DisplayWidth.of($0) <= width }) { return [line] }
        let heading = ScreenLine.cut(name, width)
        guard let words = value.words, DisplayWidth.of(text) + 2 > width else {
            return [heading, "  " + text]
        }
        return [heading, "  " + value.bytes]
            + ScreenLine.flow(
                words.split(separator: " ").map(String.init), separator: " ", indent: "  ", width: width)
    }

    private static func title(_ uuid: BluetoothUUID) -> String {
        let shown = uuid.shortest.description
        return AssignedNumbers.displayName(of: uuid).map { "\(shown) \($0)" } ?? shown
    }
}
