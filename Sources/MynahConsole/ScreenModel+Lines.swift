package import MynahEmulator

extension ScreenModel {
    package func lines(width: Int, height: Int, now: WallTime, digits: String) -> [String] {
        let sections = sections(width, now, isBrief: false)
        let question = question(digits)
        let keys = ScreenLine.flow(keys, separator: "  ", indent: "  ", width: width)
        var parts = sections.map { $0.lines(rows: $0.height) } + [question]
        parts.removeAll { $0.isEmpty }
        var lines = Array(parts.joined(separator: [""])) + [""]
        let room = height - lines.count - keys.count
        if room >= 0 {
            lines += log.suffix(room).map { "  " + $0 } + keys
        } else {
            lines = tight(width, height, now, question, keys)
        }
        return lines.map { ScreenLine.cut($0, width) }
    }

    /// For a terminal that has no room for all of it: no empty lines, and each section says how many items
    /// are hidden.
    private func tight(
        _ width: Int, _ height: Int, _ now: WallTime, _ question: [String], _ keys: [String]
    ) -> [String] {
        let sections = sections(width, now, isBrief: true)
        let keys = keys.count * 4 <= height ? keys : []
        let rows = ScreenSection.divide(
            height - question.count - keys.count, among: sections.map(\.height))
        let lines = question + zip(sections, rows).flatMap { $0.lines(rows: $1) }
        let room = height - lines.count - keys.count
        let recent = room > 1 ? [""] + log.suffix(room - 1).map { "  " + $0 } : []
        return lines + recent + keys
    }

    /// What pairing asks; the digits that were typed follow the last.
    private func question(_ digits: String) -> [String] {
        var lines = questions.lines.map { "  \u{1B}[7m\($0)\u{1B}[0m" }
        if let last = lines.indices.last { lines[last] += " " + digits }
        return lines
    }

    private var keys: [String] {
        guard hasApps else { return ["Ctrl-C ends it"] }
        return (apps.count > 1 ? ["1-\(min(apps.count, 9)) choose the app"] : []) + [
            "f foreground", "b background", "s suspend", "t terminate", "q quit the app",
        ] + (central.isUsed ? ["o open the alert"] : []) + [
            "Ctrl-C ends the phone"
        ]
    }

    private func sections(_ width: Int, _ now: WallTime, isBrief: Bool) -> [ScreenSection] {
        let apps = ScreenSection(
            noun: ("app", "apps"),
            items: apps.indices.map { [line(ofApp: $0)] })
        let table = AttributeTable(width: width, now: now)
        let values = groups.enumerated().map { index, group in
            var items = table.items(group)
            if index > 0, !isBrief { items[0].insert("", at: 0) }
            return items
        }
        let own = central.sections(severalApps: apps.items.count > 1)
        // An app that plays a central alone waits for none.
        let others = central.isUsed && centrals.isEmpty ? [] : [centralSection]
        return deviceSections(width, isBrief: isBrief, apps) + own + others + [
            ScreenSection(noun: ("value", "values"), items: values.flatMap { $0 })
        ]
    }

    /// Of several apps, one is marked as on the screen, and the one that keys act on.
    private func line(ofApp index: Int) -> String {
        let app = apps[index]
        let name = PrintableText.of(app.device)
        guard apps.count > 1 else { return "  app  \u{1B}[1m\(app.state)\u{1B}[0m  \(name)" }
        let isInFront = app.state == "foreground"
        let state = isInFront ? "\u{1B}[1m\(app.state)\u{1B}[0m" : app.state
        let keys = app.device == chosen ? "  (keys)" : ""
        return "\(isInFront ? "●" : " ") app \(index + 1)  \(state)  \(name)\(keys)"
    }

    // MARK: - Devices

    /// One device has a heading and its advertising below its apps; of several, each has both together.
    private func deviceSections(_ width: Int, isBrief: Bool, _ apps: ScreenSection) -> [ScreenSection] {
        guard devices.count > 1 else {
            let device = devices.first ?? Device(name: "")
            let heading = [
                "\u{1B}[1m\(titles.joined(separator: ", "))\u{1B}[0m  \(device.state)  \(device.radio)"
            ]
            let air = ScreenSection(noun: ("line", "lines"), items: Self.lines(of: device.air).map { [$0] })
            return [ScreenSection(noun: ("device", "devices"), items: [heading]), apps, air]
        }
        let longest = devices.map { DisplayWidth.of(PrintableText.of($0.name)) }.max() ?? 0
        let nameWidth = min(longest, max(8, width / 2))
        let items = devices.map { device in
            let name = PrintableText.of(device.name)
            guard isBrief else {
                return ["\u{1B}[1m\(name)\u{1B}[0m  \(device.state)  \(device.radio)"]
                    + Self.lines(of: device.air)
            }
            let air =
                device.air.map { ["advertising", $0.interval].compactMap { $0 } } ?? ["not advertising"]
            return [
                "\u{1B}[1m\(ScreenLine.fit(name, nameWidth))\u{1B}[0m  \(device.state)  "
                    + air.joined(separator: " ")
            ]
        }
        return [ScreenSection(noun: ("device", "devices"), items: items), apps]
    }

    /// The interval comes first, because a narrow terminal cuts the data.
    private static func lines(of air: Air?) -> [String] {
        guard let air else { return ["  not advertising"] }
        let data = [air.interval, air.data].compactMap { $0 }.joined(separator: "  ")
        let response = air.scanResponse.isEmpty ? [] : ["  scan response  " + air.scanResponse]
        return ["  advertising    " + data] + response
    }

    private var centralSection: ScreenSection {
        var section = ScreenSection(
            noun: ("central", "centrals"),
            items: centrals.map { central in
                let device = devices.count > 1 ? "  to \(PrintableText.of(central.device))" : ""
                return ["    \(central.name)" + device + (central.mtu.isEmpty ? "" : "  MTU \(central.mtu)")]
            })
        if section.items.isEmpty {
            section.items = [["  no central is connected"]]
        } else {
            section.items[0].insert("  connected", at: 0)
        }
        return section
    }

    // MARK: - Summary

    package func summary(width: Int) -> [String] {
        let totals = totals
        let counts = [
            "\(totals.reads) reads,", "\(totals.writes) writes,", "\(totals.sent) notifications",
        ]
        let whole = titles.joined(separator: ", ") + ": " + counts.joined(separator: " ")
        guard DisplayWidth.of(whole) > width else { return [whole] }
        return [Self.names(titles, width - 1) + ":"]
            + ScreenLine.flow(counts, separator: " ", indent: "  ", width: width)
    }

    /// As many names as fit, none of them broken, and how many more there are.
    private static func names(_ names: [String], _ width: Int) -> String {
        for count in stride(from: names.count, through: 1, by: -1) {
            let hidden = names.count - count
            let text = names.prefix(count).joined(separator: ", ") + (hidden > 0 ? " and \(hidden) more" : "")
            if DisplayWidth.of(text) <= width { return text }
        }
        guard names.count > 1 else { return ScreenLine.fit(names[0], width) }
        let suffix = " and \(names.count - 1) more"
        let room = width - DisplayWidth.of(suffix)
        return room < 8 ? "\(names.count) devices" : ScreenLine.cut(names[0], room - 1) + "…" + suffix
    }
}
