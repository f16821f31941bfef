import MynahCore

/// The section `central:`, with one central manager of an app, or a list of several.
struct CentralSection {
    static let restoreIdentifier = Field(
        "restoreIdentifier", .restoreIdentifier, doc: "Opts in to state preservation under this name.")
    static let scan = Field("scan", .section("scan"), doc: "The scan; left out: it never scans.")
    static let reconnect = Field(
        "reconnect", .node("list of \(ways.form), or of lists of them", waysSchema),
        doc: """
            The ways back to a device, in order, and those of an inner list at once; left out: known, \
            connected, scan.
            """)
    static let peripherals = Field(
        "peripherals", .sections("peripheral"),
        doc: "The devices that it uses; a device that it finds is the first one that it matches.")
    static let showPowerAlert = Field(
        "showPowerAlert", .bool,
        doc: "Whether the phone shows an alert if it is made while Bluetooth is off; left out: true.")
    static let connectionEvents = Field(
        "connectionEvents", .section("connectionEvents"),
        doc: "The connections of the phone that it is told of; left out: none.")
    static let confirm = Field(
        "confirm", .bool,
        doc: """
            Whether the app's phone confirms indications; left out: true. With false it never confirms one, \
            of any device.
            """)
    static let table = Section(
        "central",
        [restoreIdentifier, scan, reconnect, showPowerAlert, connectionEvents, confirm, peripherals])

    private static let ways = Kind<ReconnectWay>.word
    private static var waysSchema: Schema {
        .list(of: .anyOf([ways.schema, .list(of: ways.schema)]))
    }

    let app: Profile.App
    /// The restore identifiers of the app's other managers; identifiers must be unique.
    private var taken: Set<String>

    static func read(
        _ node: YAMLNode, of app: Profile.App?, at mark: SourceMark, _ reader: FormatReader
    ) -> [Profile.Central] {
        if app == nil {
            reader.error(at: mark, "central: needs an app: section, because only an app can be a central")
        }
        let app = app ?? Profile.App()
        var section = CentralSection(app: app, taken: Set([app.restoreIdentifier].compactMap { $0 }))
        guard case .sequence = node else { return section.central(node, reader).map { [$0] } ?? [] }
        return reader.elements(node, "central").compactMap { section.central($0, reader) }
    }

    private mutating func central(_ node: YAMLNode, _ reader: FormatReader) -> Profile.Central? {
        guard let fields = reader.fields(node, Self.table) else { return nil }
        var central = Profile.Central()
        if let identifier = fields.read(Self.restoreIdentifier) {
            if !taken.insert(identifier).inserted {
                reader.error(
                    at: fields[Self.restoreIdentifier],
                    """
                    the restoreIdentifier \(Words.quote(identifier)) is another manager's of this app; give \
                    each one of its own
                    """
                )
            }
            central.restoreIdentifier = identifier
            if !app.backgroundModes.contains(.bluetoothCentral) {
                reader.warning(
                    at: fields[Self.restoreIdentifier]?.mark,
                    """
                    restoreIdentifier has no effect without the background mode bluetooth-central: \
                    nothing is kept of the central manager
                    """)
            }
        }
        central.scan = fields[Self.scan].flatMap {
            ScanSection.read($0, at: fields.mark(of: Self.scan), of: app, reader)
        }
        if let node = fields[Self.reconnect] {
            central.reconnect = Self.reconnect(node, hasScan: fields[Self.scan] != nil, reader)
        }
        fields.read(Self.showPowerAlert, into: &central.showsPowerAlert)
        fields.read(Self.confirm, into: &central.confirmsIndications)
        central.connectionEvents = fields[Self.connectionEvents].flatMap {
            ConnectionEventsSection.read($0, at: fields.mark(of: Self.connectionEvents), of: app, reader)
        }
        guard let node = fields[Self.peripherals] else { return central }
        for element in reader.elements(node, "peripherals") {
            guard let peripheral = PeripheralSection.read(element, of: app, reader) else { continue }
            if central.peripherals.contains(where: { $0.name == peripheral.name }) {
                reader.error(
                    at: element,
                    "another peripheral has the name \(Words.quote(peripheral.name)); names must differ")
            }
            central.peripherals.append(peripheral)
        }
        return central
    }

    /// Parses the list `reconnect`: each element is a way to connect again, or a list of ways to try at the
    /// same time.
    private static func reconnect(
        _ node: YAMLNode, hasScan: Bool, _ reader: FormatReader
    ) -> [[ReconnectWay]] {
        var taken: Set<ReconnectWay> = []
        func way(_ node: YAMLNode, _ reader: FormatReader) -> ReconnectWay? {
            guard let way = ways.read(node, "way to reconnect", reader) else { return nil }
            if !taken.insert(way).inserted {
                reader.error(at: node, "the way \(way.rawValue) is repeated")
            }
            if way == .scan, !hasScan {
                reader.warning(at: node.mark, "the way scan needs scan: in the same central section")
            }
            return way
        }
        return reader.elements(node, "reconnect").map { element in
            guard case .sequence = element else { return way(element, reader).map { [$0] } ?? [] }
            return reader.elements(element, "reconnect").compactMap { way($0, reader) }
        }
    }
}

/// The section `connectionEvents:` of a central manager.
enum ConnectionEventsSection {
    static let services = Field(
        "services", .services(),
        doc: "Devices in which an app has discovered one of these; left out: every device.")
    static let table = Section("connectionEvents", [services])

    static func read(
        _ node: YAMLNode, at mark: SourceMark, of app: Profile.App, _ reader: FormatReader
    ) -> [BluetoothUUID]? {
        guard let fields = reader.fields(node, table) else { return nil }
        if !IOSVersion(app.iOS).hasConnectionEvents {
            reader.error(
                at: mark,
                """
                connectionEvents needs iOS \(IOSVersion.connectionEvents), and the app has iOS: \(app.iOS)
                """)
        }
        return fields.read(services) ?? []
    }
}

/// The section `scan:` of a central manager.
enum ScanSection {
    static let services = Field(
        "services", .services(), doc: "Left out: every device, in the foreground; none in the background.")
    static let allowDuplicates = Field(
        "allowDuplicates", .bool, doc: "Whether each packet is reported, in the foreground.")
    static let solicited = Field(
        "solicited", .services(), doc: "A device that looks for one of these is found too.")
    static let until = Field(
        "until", Kind<Profile.Central.Scan.End>.word,
        doc: "The end of the scan; left out: connected, when every entry that connects has been connected.")
    static let table = Section("scan", [services, allowDuplicates, solicited, until])

    static func read(
        _ node: YAMLNode, at mark: SourceMark, of app: Profile.App, _ reader: FormatReader
    ) -> Profile.Central.Scan? {
        guard let fields = reader.fields(node, table) else { return nil }
        var scan = Profile.Central.Scan()
        fields.read(services, into: &scan.services)
        fields.read(allowDuplicates, into: &scan.allowsDuplicates)
        fields.read(solicited, into: &scan.solicited)
        if !scan.solicited.isEmpty, scan.services.isEmpty {
            reader.warning(
                at: fields.mark(of: solicited),
                "solicited has no effect without services: the scan finds every device")
        }
        fields.read(until, into: &scan.end)
        guard app.backgroundModes.contains(.bluetoothCentral), !app.keepsPrivileges else { return scan }
        if scan.services.isEmpty {
            reader.warning(at: mark, "a scan without services finds nothing in the background; add services")
        }
        if scan.allowsDuplicates {
            reader.hint(
                at: fields.mark(of: allowDuplicates),
                """
                allowDuplicates applies in the foreground only; in the background each device is \
                reported once
                """)
        }
        return scan
    }
}
