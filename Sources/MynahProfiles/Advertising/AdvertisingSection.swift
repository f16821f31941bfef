import MynahCore
import MynahSupport

/// The section `advertising`: one advertising set, or a list of sets.
enum AdvertisingSection {
    static let name = Field(
        "name", .name(of: "set"),
        doc: "The set's name, in events and faults; left out: its number, from 1.")
    static let flags = Field(
        "flags", AdvertisingKinds.flags, doc: "The Flags; left out: 06, general and noBREDR.")
    static let connectable = Field(
        "connectable", .bool, doc: "Whether centrals can connect; left out: true.")
    static let scannable = Field(
        "scannable", .bool,
        doc: "Whether scanners can ask for the scan response; left out: true, unless it is extended.")
    static let interval = Field(
        "interval", AdvertisingKinds.intervals,
        doc: "The advertising interval: one, or the shortest and the longest.")
    static let scanResponse = Field(
        "scanResponse", .section("scanResponse"), doc: "The fields of the scan response.")
    static let every = Field(
        "every", .duration(.milliseconds(20)),
        doc: "The interval at which values of the advertisement change; left out: 1 s.")
    static let extended = Field(
        "extended", AdvertisingKinds.extended, doc: "Whether advertising is extended, or on which PHYs.")
    static let address = Field(
        "address", .word as Kind<Advertisement.OwnAddress>,
        doc: "An address that the set has for itself; left out: the device's.")
    /// The fields that a fault, a rule, a scenario step or a test can change.
    static let changeable: [any DeclaredField] =
        AdvertisedContentsSection.fields + [flags, connectable, scannable, interval, scanResponse, extended]
    static let table = Section("advertising", [name] + changeable + [every, address])

    static let min = Field(
        "min", .advertisingInterval, missing: "an interval needs min, as in {min: 100 ms, max: 150 ms}",
        doc: "The shortest interval.")
    static let max = Field(
        "max", .advertisingInterval, missing: "an interval needs max, as in {min: 100 ms, max: 150 ms}",
        doc: "The longest interval.")
    static let intervals = Section("advertisingIntervals", what: "an interval", [min, max])
    static let dataPHY = Field(
        "data", .word as Kind<AdvertisingPHYName>, doc: "The PHY of the data; left out: 1M.")
    static let primaryPHY = Field(
        "primary", .word as Kind<PrimaryPHYName>, doc: "The PHY that announces it; left out: 1M.")
    static let extendedTable = Section("extended", [dataPHY, primaryPHY])
    static let complete = Field(
        "complete", .services(), doc: "The services in a list that says that it is complete.")
    static let incomplete = Field(
        "incomplete", .services(), doc: "The services in a list that says that there are more.")
    static let serviceLists = Section("serviceLists", what: "serviceUUIDs", [complete, incomplete])

    /// The most advertising sets of one device.
    static let maximumSets = 64

    /// The fields for an app; the phone determines all others.
    static let appTable = Section(
        "appAdvertising", what: "advertising", [AdvertisedContentsSection.localName, appServiceUUIDs])
    private static let appServiceUUIDs = Field(
        "serviceUUIDs",
        .services { uuid, node, reader in
            guard OverflowArea([uuid]).setsOffWatchSetup else { return }
            reader.warning(
                at: node.mark,
                """
                \(uuid) sets bit \(OverflowArea.watchSetupIndex) of the overflow area, and nearby iPhones \
                then offer to set up an Apple Watch; use another UUID
                """
            )
        }, doc: "The services that are advertised, each in the width it is written in.")

    static func read(
        _ node: YAMLNode, _ identity: DeviceIdentity, isApp: Bool, in scope: FieldScope,
        _ reader: FormatReader
    ) -> Profile.Advertising? {
        if isApp { return readApp(node, identity, reader) }
        guard case .sequence(let sequence) = node else {
            return set(node, number: 1, identity, scope, reader)
        }
        guard !sequence.isEmpty, sequence.count <= maximumSets else {
            reader.error(at: node, "advertising has 1 to \(maximumSets) sets, not \(sequence.count)")
            return nil
        }
        var whole: Profile.Advertising?
        var names: Set<String> = []
        for (index, element) in reader.elements(node, "advertising").enumerated() {
            guard let one = set(element, number: index + 1, identity, scope, reader) else { continue }
            if !names.insert(one.advertisement.name).inserted {
                reader.error(
                    at: one.marks["name"] ?? element.mark,
                    """
                    two sets have the name \(Words.quote(one.advertisement.name)); give this one another, as \
                    in name: \(Self.freeName(besides: names, number: index + 1))
                    """)
            }
            guard whole != nil else {
                whole = one
                continue
            }
            whole?.advertisement.otherSets.append(one.advertisement)
            whole?.values += one.values
            for (key, mark) in one.marks { whole?.marks["\(one.advertisement.name).\(key)"] = mark }
        }
        return whole
    }

    /// Returns a set name that is not in use.
    private static func freeName(besides names: Set<String>, number: Int) -> String {
        (number...).lazy.map { "set\($0)" }.first { !names.contains($0) } ?? "other"
    }

    private static func readApp(
        _ node: YAMLNode, _ identity: DeviceIdentity, _ reader: FormatReader
    ) -> Profile.Advertising? {
        if case .sequence = node {
            reader.error(at: node, "an app has one advertisement, and not a list of sets")
            return nil
        }
        let refused = table.keys.filter { !appTable.keys.contains($0) }.map {
            ($0, "an app cannot set \($0); with app: only localName and serviceUUIDs are advertised")
        }
        guard
            let fields = reader.fields(node, appTable, refused: Dictionary(uniqueKeysWithValues: refused))
        else { return nil }
        var advertisement = Advertisement()
        let localName = AdvertisedContentsSection.localName
        // An empty name without quotes was already reported; the device's name is used instead.
        let name = fields[localName] == nil ? identity.name : fields.read(localName)
        advertisement.localName = name == "" ? nil : name
        fields.read(appServiceUUIDs, into: &advertisement.serviceUUIDs)
        return Profile.Advertising(advertisement: advertisement, marks: marks(of: fields))
    }

    private static func set(
        _ node: YAMLNode, number: Int, _ identity: DeviceIdentity, _ scope: FieldScope,
        _ reader: FormatReader
    ) -> Profile.Advertising? {
        guard let fields = reader.fields(node, table) else { return nil }
        let errorsBefore = reader.errorCount
        let setName = fields.read(name) ?? String(number)
        let read = change(fields, identity, scope)
        var usual = Advertisement()
        usual.name = setName
        var advertisement = read.change.applied(to: usual)
        if fields[AdvertisedContentsSection.localName] == nil { advertisement.localName = identity.name }
        let raw = advertisement.data.raw + advertisement.scanResponse.raw
        let isNamed = raw.contains { [.completeLocalName, .shortenedLocalName].contains($0.type) }
        let isNamedInResponse = advertisement.scanResponse.localName != nil
        if fields[AdvertisedContentsSection.localName] == nil, isNamed || isNamedInResponse {
            advertisement.localName = nil
        }
        if advertisement.extended != nil, read.change.isScannable == nil { advertisement.isScannable = false }
        fields.read(address, into: &advertisement.address)
        check(advertisement, fields)
        let interval = fields.read(every)
        if fields[every] != nil, read.values.isEmpty, reader.errorCount == errorsBefore {
            reader.error(
                at: fields[every], "every has no effect: no value of the advertisement changes")
        }
        // The total length is meaningful only if all fields are valid.
        if reader.errorCount == errorsBefore { checkBudget(of: advertisement, fields, reader) }
        let values = read.values.map { value in
            var value = value
            value.set = setName
            value.every = interval ?? value.every
            value.put(value.first, in: &advertisement)
            return value
        }
        return Profile.Advertising(
            advertisement: advertisement, values: values, marks: marks(of: fields))
    }

    /// Parses the fields of a set; the result is a change of an empty advertisement.
    static func change(
        _ fields: Fields, _ identity: DeviceIdentity, _ scope: FieldScope
    ) -> (change: AdvertisementChange, values: [AdvertisedValue]) {
        var change = AdvertisementChange()
        let data = AdvertisedContentsSection(fields: fields, identity: identity, scope: scope).read(.data)
        change.data = data.change
        var values = data.values
        if let node = fields[scanResponse],
            let response = fields.reader.fields(node, AdvertisedContentsSection.table)
        {
            let read = AdvertisedContentsSection(fields: response, identity: identity, scope: scope)
                .read(.scanResponse)
            change.scanResponse = read.change
            values += read.values
        }
        if let flags = fields.read(flags) { change.flags = .some(flags) }
        if fields[flags] != nil, change.data.raw?.contains(where: { $0.type == .flags }) == true {
            fields.reader.error(
                at: fields[flags], "raw has the AD type 0x01, which flags makes too; leave one of them out")
        }
        fields.read(connectable, into: &change.isConnectable)
        fields.read(scannable, into: &change.isScannable)
        fields.read(interval, into: &change.interval)
        if let extended = fields.read(extended) { change.extended = .some(extended) }
        return (change, values)
    }

    private static func marks(of fields: Fields) -> [String: SourceMark] {
        var marks = fields.marks
        if case .mapping(let response)? = fields[scanResponse] {
            for (key, value) in response.pairs {
                guard let name = key.scalar?.string, let mark = value.mark else { continue }
                marks["scanResponse.\(name)"] = mark
            }
        }
        marks[""] = fields.mark
        return marks
    }

    // MARK: Checks

    /// Reports fields that no controller can advertise, at the first of these fields in the profile.
    static func check(_ advertisement: Advertisement, _ fields: Fields) {
        func error(at keys: [String], _ message: String) {
            let node = keys.lazy.compactMap { fields[$0] }.first
            fields.reader.error(at: node?.mark ?? fields.mark, message)
        }
        if advertisement.extended == nil {
            if advertisement.isConnectable, !advertisement.isScannable {
                error(
                    at: [scannable.name, connectable.name, extended.name],
                    """
                    legacy advertising that centrals can connect to is scannable; write connectable: false \
                    too, or extended: true
                    """)
            }
        } else if advertisement.isConnectable, advertisement.isScannable {
            let isWritten = fields[extended] == nil || fields[scannable] != nil
            error(
                at: [scannable.name, connectable.name, extended.name],
                """
                extended advertising is connectable or scannable, not both; write connectable: false, or \
                \(isWritten ? "leave scannable out" : "scannable: false")
                """)
        }
        if advertisement.address == .random, advertisement.isConnectable {
            error(
                at: [address.name, connectable.name],
                """
                a set with an address of its own cannot be connected to: the device's bonds are with its \
                own address; write connectable: false
                """)
        }
    }

    private static func checkBudget(
        of advertisement: Advertisement, _ fields: Fields, _ reader: FormatReader
    ) {
        if advertisement.scanResponse != Advertisement.Contents(), advertisement.scanResponseCapacity == 0 {
            reader.error(
                at: fields[scanResponse],
                "scanResponse has no effect: no scanner can ask for it\(isNotScannable(advertisement))")
            return
        }
        do throws(AdvertisementError) {
            _ = try AccessoryAdvertising.compose(advertisement)
        } catch {
            let isInResponse = error.field.hasPrefix("scanResponse.")
            reader.error(
                at: isInResponse ? marks(of: fields)[error.field] : fields.mark(of: error.field),
                "\(error)" + advice(on: error, advertisement))
        }
    }

    private static func isNotScannable(_ advertisement: Advertisement) -> String {
        advertisement.extended != nil && advertisement.isConnectable
            ? ", because extended advertising that is connectable is not scannable"
            : ", because scannable is false"
    }

    /// Returns advice for shortening an advertisement so that it fits.
    static func advice(on error: AdvertisementError, _ advertisement: Advertisement) -> String {
        if error.isOfStructure { return "; divide it into several, or shorten it" }
        var advice =
            switch error.field {
            case "serviceUUIDs", "solicitedServiceUUIDs": "; name fewer services, or 16-bit ones"
            case "localName", "scanResponse.localName": "; shorten it, or write localName: \"\""
            case "appearance", "txPower": "; leave it or something else out"
            default: "; shorten it, or leave something else out"
            }
        let room = advertisement.roomInScanResponse
        if error.payload == .data, error.field != "localName", room >= error.needed {
            advice += "; or move it to scanResponse, where \(room.counting("byte is", "bytes are")) free"
        } else if advertisement.extended == nil, error.needed > ExactAdvertisement.legacyCapacity - 3 {
            advice += "; or write extended: true, which has room for more"
        } else if advertisement.extended != nil, advertisement.isConnectable {
            advice +=
                "; or write connectable: false, with room for \(ExactAdvertisement.extendedCapacity) bytes"
        }
        return advice
    }
}

extension Advertisement {
    /// The number of bytes that are left in the scan response after its own fields.
    fileprivate var roomInScanResponse: Int {
        let fields = AccessoryAdvertising.fields(of: scanResponse)
        let name = AccessoryAdvertising.nameStructure(of: scanResponse)?.byteCount ?? 0
        return scanResponseCapacity - fields.reduce(name) { $0 + $1.structures.byteCount }
    }
}
