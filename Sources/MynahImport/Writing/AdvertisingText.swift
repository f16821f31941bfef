import MynahCore
import MynahSupport
import MynahValues

/// Writes the advertising of an imported device.
struct AdvertisingText {
    private(set) var lines: [String] = []
    private let profile: ImportedProfile

    /// Writes the advertising sets of a profile: one set as a mapping, several sets as a list.
    init(of profile: ImportedProfile) {
        self.profile = profile
        guard let first = profile.advertising.first else { return }
        add(0, "")
        guard profile.advertising.count > 1 else {
            note(0, first.notes)
            add(0, "advertising:")
            let start = lines.count
            write(first, at: 1)
            if lines.count == start { lines[start - 1] += " {}" }
            return
        }
        add(0, "advertising:")
        for advertising in profile.advertising {
            note(1, advertising.notes)
            let start = lines.count
            write(advertising, at: 2)
            if lines.count == start {
                add(1, "- {}")
            } else {
                lines[start] = "  - " + lines[start].dropFirst(4)
            }
        }
    }

    private mutating func write(_ advertising: ImportedAdvertising, at depth: Int) {
        let content = advertising.advertisement
        let name = profile.deviceName ?? profile.name
        let isNamed = content.data.raw.contains {
            $0.type == .completeLocalName || $0.type == .shortenedLocalName
        }
        if content.localName != name, !(content.localName == nil && isNamed) {
            add(depth, "localName: \(ProfileText.quoted(content.localName ?? ""))")
        }
        let hasRawFlags = content.data.raw.contains { $0.type == .flags }
        if content.flags != Advertisement.usualFlags, !hasRawFlags {
            add(depth, "flags: " + (content.flags.map { "0x" + Hex.encode([$0]) } ?? "none"))
        }
        if let extended = content.extended { add(depth, "extended: \(Self.words(extended))") }
        if !content.isConnectable { add(depth, "connectable: false") }
        if !content.isConnectable, content.extended == nil, !content.isScannable {
            add(depth, "scannable: false")
        }
        if content.extended != nil, content.isScannable { add(depth, "scannable: true") }
        if let interval = content.interval { add(depth, "interval: \(ProfileText.milliseconds(interval))") }
        if let every = advertising.every { add(depth, "every: \(every.text)") }
        write(content.data, advertising.values.filter { $0.payload == .data }, at: depth)
        if content.scanResponse != Advertisement.Contents() {
            let values = advertising.values.filter { $0.payload == .scanResponse }
            write(content.scanResponse, values, called: "scanResponse", at: depth)
        }
        guard let periodic = content.periodic else { return }
        add(depth, "periodic:")
        add(depth + 1, "interval: \(Self.words(periodic.interval))")
        guard periodic.contents != Advertisement.Contents() else { return }
        let values = advertising.values.filter { $0.payload == .periodic }
        write(periodic.contents, values, called: "value", at: depth + 1)
    }

    /// Writes the contents of a payload that has a section of its own.
    private mutating func write(
        _ contents: Advertisement.Contents, _ values: [ImportedAdvertisedValue], called section: String,
        at depth: Int
    ) {
        add(depth, "\(section):")
        if let name = contents.localName { add(depth + 1, "localName: \(ProfileText.quoted(name))") }
        write(contents, values, at: depth + 1)
    }

    private static func words(_ interval: ClosedRange<Duration>) -> String {
        let shortest = ProfileText.milliseconds(interval.lowerBound)
        guard interval.upperBound > interval.lowerBound else { return shortest }
        return "{min: \(shortest), max: \(ProfileText.milliseconds(interval.upperBound))}"
    }

    private mutating func write(
        _ contents: Advertisement.Contents, _ values: [ImportedAdvertisedValue], at depth: Int
    ) {
        if !contents.incompleteServiceUUIDs.isEmpty {
            let complete =
                contents.serviceUUIDs.isEmpty ? "" : "complete: [\(Self.list(contents.serviceUUIDs))], "
            add(
                depth,
                "serviceUUIDs: {\(complete)incomplete: [\(Self.list(contents.incompleteServiceUUIDs))]}")
        } else if !contents.serviceUUIDs.isEmpty {
            add(
                depth, "serviceUUIDs: [\(Self.list(contents.serviceUUIDs))]",
                Self.names(contents.serviceUUIDs))
        }
        if !contents.solicitedServiceUUIDs.isEmpty {
            add(depth, "solicitedServiceUUIDs: [\(Self.list(contents.solicitedServiceUUIDs))]")
        }
        let companies = contents.manufacturerData.enumerated().map { index, entry in
            let changed = values.first { $0.isManufacturerData && $0.index == index }
            return (
                ProfileText.hex(entry.company), Self.value(entry.data, changed),
                AssignedNumbers.companyName(of: entry.company)
            )
        }
        write(companies, "manufacturerData", "company", at: depth)
        let services = contents.serviceData.enumerated().map { index, entry in
            let changed = values.first { !$0.isManufacturerData && $0.index == index }
            return ("\(entry.uuid)", Self.value(entry.data, changed), AssignedNumbers.name(of: entry.uuid))
        }
        write(services, "serviceData", "service", at: depth)
        switch contents.txPower {
        case .level(let level)?: add(depth, "txPower: \(level) dBm")
        case .radio?: add(depth, "txPower: true")
        case nil: break
        }
        if let appearance = contents.appearance {
            add(
                depth,
                "appearance: " + (appearance == profile.appearance ? "true" : ProfileText.hex(appearance)))
        }
        guard !contents.raw.isEmpty else { return }
        add(depth, "raw:")
        for entry in contents.raw {
            add(
                depth + 1, "- 0x\(Hex.encode([entry.type.rawValue])): \(ProfileText.hex(entry.data))",
                ADNames.describe(entry))
        }
    }

    /// Writes a mapping from keys to values, or a list if a key occurs several times.
    private mutating func write(
        _ entries: [(key: String, value: String, name: String?)], _ field: String, _ keyName: String,
        at depth: Int
    ) {
        guard !entries.isEmpty else { return }
        add(depth, "\(field):")
        let isList = Set(entries.map(\.key)).count < entries.count
        for entry in entries {
            let line =
                isList
                ? "- {\(keyName): \(entry.key), value: \(entry.value)}" : "\(entry.key): \(entry.value)"
            add(depth + 1, line, entry.name)
        }
    }

    private static let phyWords: [AdvertisingPHY: String] = [.le1M: "1M", .le2M: "2M", .coded: "coded"]

    /// Returns the PHYs of extended advertising, as a profile has them.
    private static func words(_ extended: Advertisement.Extended) -> String {
        guard extended != Advertisement.Extended() else { return "true" }
        let data = phyWords[extended.secondaryPHY] ?? "1M"
        return extended.isPrimaryCoded ? "{data: \(data), primary: coded}" : "{data: \(data)}"
    }

    /// Returns the text of constant bytes, or of a generator that repeats the observed byte sequences.
    private static func value(_ bytes: [UInt8], _ changed: ImportedAdvertisedValue?) -> String {
        guard let changed else { return ProfileText.hex(bytes) }
        let values = changed.values.map { "\"\(Hex.encode($0))\"" }.joined(separator: ", ")
        return "{layout: [{data: bytes}], fields: {data: {generate: list, values: [\(values)]}}}"
    }

    // MARK: Words

    private mutating func add(_ level: Int, _ text: String, _ comment: String? = nil) {
        lines.append(ProfileText.line(level, text, comment))
    }

    private mutating func note(_ level: Int, _ notes: [String]) {
        lines += ProfileText.comments(level, notes)
    }

    private static func list(_ uuids: [BluetoothUUID]) -> String {
        uuids.map(\.description).joined(separator: ", ")
    }

    private static func names(_ uuids: [BluetoothUUID]) -> String? {
        let names = uuids.compactMap { AssignedNumbers.name(of: $0) }
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }
}
