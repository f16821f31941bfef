import MynahCore
package import MynahEmulator
import MynahRun
import MynahSupport

extension ScreenModel {
    package func lines(width: Int, height: Int, now: WallTime, digits: String) -> [String] {
        let now = clock?.now ?? now
        let sections = sections(width, height, now, isBrief: false)
        let question = question(digits, width, height)
        let keys = ScreenLine.flow(
            keys, separator: "  ", indent: width < ScreenLine.narrow ? "" : "  ", width: width)
        var parts = sections.map { $0.lines(rows: $0.height) } + [question]
        parts.removeAll { $0.isEmpty }
        var lines = Array(parts.joined(separator: [""])) + [""]
        let room = height - lines.count - keys.count
        if room >= 0 {
            lines += recent(room, width) + keys
        } else {
            lines = tight(width, height, now, question, keys)
        }
        return ScreenLine.shown(lines, width)
    }

    /// The lines of the last events, at most `rows`.
    private func recent(_ rows: Int, _ width: Int) -> [String] {
        log.suffix(rows).map { event in
            switch width {
            case ..<ScreenLine.narrow: "  " + EventText.phrase(of: event)
            case ..<60: "  \(event.time.localClock.prefix(8)) " + EventText.phrase(of: event)
            default: "  " + EventText.line(of: event)
            }
        }
    }

    /// The lines for a terminal that is too small for all of them.
    ///
    /// There are no empty lines, and each section says how many of its items are hidden.
    private func tight(
        _ width: Int, _ height: Int, _ now: WallTime, _ question: [String], _ keys: [String]
    ) -> [String] {
        let sections = sections(width, height, now, isBrief: true)
        let keys = keys.count * 3 <= height ? keys : []
        let rows = ScreenSection.divide(
            height - question.count - keys.count, among: sections.map(\.height))
        let lines = question + zip(sections, rows).flatMap { $0.lines(rows: $1) }
        let room = height - lines.count - keys.count
        return lines + (room > 1 ? [""] + recent(room - 1, width) : []) + keys
    }

    /// The lines of the questions of pairing; the typed digits follow the last question.
    private func question(_ digits: String, _ width: Int, _ height: Int) -> [String] {
        let indent = width < ScreenLine.narrow ? "" : "  "
        var lines = questions.lines
        if let last = lines.indices.last { lines[last] += " " + digits }
        let flowing = lines.flatMap { line in
            ScreenLine.flow(
                line.split(separator: " ").map(String.init), separator: " ", width: width - indent.count)
        }
        let shown = flowing.count <= height / 2 ? flowing : lines
        return shown.map { "\(indent)\u{1B}[7m\($0)\u{1B}[0m" }
    }

    private var keys: [String] {
        let page =
            (page.map { ["page \($0)"] } ?? [])
            + (clock.map { ["clock \($0.name) \($0.now.rfc3339)"] } ?? [])
        guard hasApps else { return page + ["Ctrl-C ends the run"] }
        let choices = "1-\(min(apps.count, 9))"
        let choice =
            apps.firstIndex { $0.device == chosen }.map { "\(choices) app, now \($0 + 1)" }
            ?? "\(choices) choose the app"
        return page + (apps.count > 1 ? [choice] : []) + [
            "f foreground", "b background", "s suspend", "t terminate", "q quit the app",
        ] + (central.isUsed ? ["o open the alert"] : []) + ["Ctrl-C ends the run"]
    }

    private func sections(
        _ width: Int, _ height: Int, _ now: WallTime, isBrief: Bool
    ) -> [ScreenSection] {
        let apps = ScreenSection(
            noun: ("app", "apps"),
            items: apps.indices.map { [line(ofApp: $0, width)] })
        let table = AttributeColumns(width: width, now: now)
        let values = groups.enumerated().map { index, group in
            var items = table.items(group)
            if index > 0, !isBrief { items[0].insert("", at: 0) }
            return items
        }
        let own = central.sections(
            severalApps: apps.items.count > 1,
            hint: isVirtual && !isBrief ? NextCommand.run(width: width) : [])
        // An app that is only a central needs no hint that no central is connected.
        let others = central.isUsed && centrals.isEmpty ? [] : [centralSection(width, isBrief: isBrief)]
        return deviceSections(width, height, isBrief: isBrief, apps) + own + others + [
            ScreenSection(noun: ("value", "values"), items: values.flatMap { $0 })
        ]
    }

    /// The line of an app.
    ///
    /// If there are several apps, the one in the foreground is marked, and so is the one to which keys apply.
    private func line(ofApp index: Int, _ width: Int) -> String {
        let app = apps[index]
        let name = PrintableText.of(app.device)
        guard apps.count > 1 else {
            return "  app  \u{1B}[1m\(app.state)\u{1B}[0m" + (name.isEmpty ? "" : "  \(name)")
        }
        let isInFront = app.state == "foreground"
        let state = isInFront ? "\u{1B}[1m\(app.state)\u{1B}[0m" : app.state
        let mark = isInFront ? "●" : " "
        guard width >= ScreenLine.narrow else { return "\(mark)\(index + 1) \(state) \(name)" }
        let keys = app.device == chosen ? "  (keys)" : ""
        return "\(mark) app \(index + 1)  \(state)  \(name)\(keys)"
    }

    // MARK: - Devices

    /// The sections for devices and apps.
    ///
    /// A single device has its apps between its heading and its advertising. Otherwise, each device has its
    /// heading and advertising together, and the apps follow.
    private func deviceSections(
        _ width: Int, _ height: Int, isBrief: Bool, _ apps: ScreenSection
    ) -> [ScreenSection] {
        guard devices.count > 1 else {
            let device = devices.first ?? Device(name: "")
            let heading = Self.heading(title(width, height), device, width, isBrief: isBrief)
            let air = ScreenSection(
                noun: ("line", "lines"), items: lines(ofAir: device, width, isBrief: isBrief).map { [$0] }
            )
            return [ScreenSection(noun: ("device", "devices"), items: [heading]), apps, air]
        }
        // Each device has at least one row, so no more devices are laid out than the screen has rows.
        let shown = devices.prefix(max(1, height))
        let longest = shown.map { DisplayWidth.of($0.title) }.max() ?? 0
        let nameWidth = min(longest, max(8, width / 2))
        let items = shown.map { device in
            let name = device.title
            guard isBrief else {
                return Self.heading(name, device, width, isBrief: false)
                    + lines(ofAir: device, width, isBrief: false)
            }
            let state = device.state == "running" ? brief(device) : device.state
            return ["\u{1B}[1m\(ScreenLine.fit(name, nameWidth))\u{1B}[0m  \(state)"]
        }
        let section = ScreenSection(
            noun: ("device", "devices"), items: items, hidden: devices.count - shown.count)
        return [section, apps]
    }

    /// The names of all profiles, or as many as fit a screen of this size.
    private func title(_ width: Int, _ height: Int) -> String {
        titles.count <= max(1, height) ? titles.joined(separator: ", ") : Self.names(titles, width)
    }

    /// The name, the state and the radio of a device: on as many lines as needed, or on one with `isBrief`.
    private static func heading(_ name: String, _ device: Device, _ width: Int, isBrief: Bool) -> [String] {
        func bold(_ text: String, _ rest: Substring) -> String { "\u{1B}[1m\(text)\u{1B}[0m\(rest)" }
        let room = max(8, width - DisplayWidth.of(device.state) - 2)
        let shown = isBrief && DisplayWidth.of(name) > room ? ScreenLine.fit(name, room) : name
        let words = [shown, device.state, device.radio, device.address?.description ?? ""].filter {
            !$0.isEmpty
        }
        var lines = ScreenLine.flow(words, separator: "  ", width: width)
        if let first = lines.first, first.hasPrefix(shown) {
            lines[0] = "\u{1B}[1m\(shown)\u{1B}[0m\(first.dropFirst(shown.count))"
        }
        return isBrief ? Array(lines.prefix(1)) : lines
    }

    /// The advertising of a device, on one line.
    private func brief(_ device: Device) -> String {
        guard let air = device.air, !device.isLost else { return "not advertising" }
        let interval = air.interval.map { " \($0)" } ?? ""
        return AirWords.joined(["advertising" + interval] + air.words(among: known))
    }

    private func lines(ofAir device: Device, _ width: Int, isBrief: Bool) -> [String] {
        guard let air = device.air, !device.isLost, !isBrief else { return ["  " + brief(device)] }
        return air.lines(among: known, width: width)
    }

    /// Whether a device is on the virtual radio, whose air other processes of this user share.
    private var isVirtual: Bool { devices.contains { $0.radio == RadioNames.virtual } }

    private func centralSection(_ width: Int, isBrief: Bool) -> ScreenSection {
        var section = ScreenSection(
            noun: ("central", "centrals"),
            items: centrals.map { central in
                let device = devices.count > 1 ? "  to \(PrintableText.of(central.device))" : ""
                return ["    \(central.name)" + device + (central.mtu.isEmpty ? "" : "  MTU \(central.mtu)")]
            })
        if section.items.isEmpty {
            section.items = [["  no central connected"] + (isBrief ? [] : hint(width))]
        } else {
            section.items[0].insert("  connected", at: 0)
        }
        return section
    }

    /// A hint that says how a central can find the first advertising device.
    private func hint(_ width: Int) -> [String] {
        guard let device = devices.first(where: { $0.air != nil && $0.state == "running" }),
            let name = device.air?.name ?? device.address?.description
        else { return [] }
        guard device.radio != RadioNames.virtual else { return NextCommand.connect(to: name, width: width) }
        return NextCommand.lines("look on a phone for", "\"\(name)\"", width: width)
    }

    // MARK: - Summary

    package func summary(width: Int) -> [String] {
        let totals = totals
        let counts = [
            totals.reads.counting("read") + ",", totals.writes.counting("write") + ",",
            totals.sent.counting("notification"),
        ]
        // Each name has at least one column.
        if titles.count <= width {
            let whole = titles.joined(separator: ", ") + ": " + counts.joined(separator: " ")
            if DisplayWidth.of(whole) <= width { return [whole] }
        }
        return [Self.names(titles, width - 1) + ":"]
            + ScreenLine.flow(counts, separator: " ", indent: "  ", width: width)
    }

    /// As many names as fit, followed by the number of the others.
    private static func names(_ names: [String], _ width: Int) -> String {
        for count in stride(from: min(names.count, max(1, width)), through: 1, by: -1) {
            let hidden = names.count - count
            let text = names.prefix(count).joined(separator: ", ") + (hidden > 0 ? " and \(hidden) more" : "")
            if DisplayWidth.of(text) <= width { return text }
        }
        guard names.count > 1 else { return ScreenLine.fit(names[0], width) }
        let suffix = " and \(names.count - 1) more"
        let room = width - DisplayWidth.of(suffix)
        return room < 8 ? "\(names.count) devices" : ScreenLine.cut(names[0], room) + suffix
    }
}
