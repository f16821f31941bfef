import MynahCore
import MynahSupport

/// The section `advertising`.
enum AdvertisingSection {
    static let localName = Field(
        "localName", .localName, doc: "device.name by default; \"\" advertises no name.")
    static let serviceUUIDs = Field(
        "serviceUUIDs", .services(),
        doc: "The services that are advertised, each in the width it is written in.")
    static let interval = Field(
        "interval", .advertisingInterval,
        doc: "The advertising interval, minimum and maximum, 20 ms to 10.24 s.")
    static let manufacturerData = Field(
        "manufacturerData",
        .bytes(by: .integer(0...0xFFFF, "companyNumber"), called: "a company identifier") {
            "the company \(Words.shape(of: $1))"
        }, doc: "Company identifiers, each with its bytes.")
    static let serviceData = Field(
        "serviceData", .bytes(by: .uuid(of: .service), called: "service") { uuid, _ in "\(uuid)" },
        doc: "Services, each with its bytes.")
    static let solicitedServiceUUIDs = Field(
        "solicitedServiceUUIDs", .services(), doc: "The services that it looks for on centrals.")
    static let appearance = Field(
        "appearance", called: "advertising.appearance", .bool,
        doc: "Whether device.appearance is advertised.")
    static let txPower = Field("txPower", .bool, doc: "Whether the transmit power is advertised.")
    static let raw = Field(
        "raw",
        .bytes(by: .integer(1...0xFF, "adType"), called: "an AD type") { type, _ in
            "the AD type \(name(of: type))"
        } check: { type, key, reader in
            if let instead = madeByFields[type] {
                reader.error(at: key, "the AD type \(name(of: type)) cannot be in raw: \(instead)")
            }
        }, doc: "Other AD types, each with its bytes.")
    static let table = Section(
        "advertising",
        [
            localName, serviceUUIDs, interval, manufacturerData, serviceData, solicitedServiceUUIDs,
            appearance, txPower, raw,
        ])

    /// The fields of an app; the phone decides the others.
    static let appTable = Section("appAdvertising", what: "advertising", [localName, appServiceUUIDs])
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
        }, doc: serviceUUIDs.doc)

    static func read(
        _ node: YAMLNode, _ identity: DeviceIdentity, isApp: Bool, _ reader: FormatReader
    ) -> Profile.Advertising? {
        let table = isApp ? appTable : table
        let refused = Self.table.keys.filter { !table.keys.contains($0) }.map {
            ($0, "an app cannot set \($0); with app: only localName and serviceUUIDs are advertised")
        }
        guard let fields = reader.fields(node, table, refused: Dictionary(uniqueKeysWithValues: refused))
        else { return nil }
        let errorsBefore = reader.errorCount
        var advertisement = Advertisement()
        let name = fields[localName] == nil ? identity.name : fields.read(localName)
        // Without quotes an empty name is that of the device, which was noted.
        advertisement.localName = fields[localName] != nil && name == "" ? nil : name
        fields.read(isApp ? appServiceUUIDs : serviceUUIDs, into: &advertisement.serviceUUIDs)
        fields.read(solicitedServiceUUIDs, into: &advertisement.solicitedServiceUUIDs)
        fields.read(interval, into: &advertisement.interval)
        if let data = fields.read(manufacturerData) {
            advertisement.manufacturerData = data.map { .init(company: UInt16($0.key), data: $0.bytes) }
            checkOverflowArea(of: advertisement, at: fields[manufacturerData], reader)
        }
        let serviceData = fields.read(serviceData) ?? []
        advertisement.serviceData = serviceData.map { .init(uuid: $0.key, data: $0.bytes) }
        fields.read(txPower, into: &advertisement.includesTxPower)
        if fields.read(appearance) == true {
            if identity.appearance == nil {
                reader.error(
                    at: fields[appearance],
                    "advertising.appearance is true, but device.appearance is missing")
            }
            advertisement.appearance = identity.appearance
        }
        let raw = fields.read(raw) ?? []
        advertisement.raw = raw.map { ADStructure(type: ADType(UInt8($0.key)), data: $0.bytes) }
        // A field that was not read has been noted; what is left says nothing about the budget.
        if !isApp, reader.errorCount == errorsBefore { checkBudget(of: advertisement, fields, reader) }
        var marks = fields.marks
        marks[""] = fields.mark
        return Profile.Advertising(advertisement: advertisement, marks: marks)
    }

    private static func checkOverflowArea(
        of advertisement: Advertisement, at node: YAMLNode?, _ reader: FormatReader
    ) {
        let structures = AccessoryAdvertising.fields(of: advertisement).flatMap(\.structures)
        guard structures.contains(where: { OverflowArea($0)?.setsOffWatchSetup == true }) else { return }
        reader.warning(
            at: node?.mark,
            """
            this is an iPhone's overflow area with bit \(OverflowArea.watchSetupIndex) set; nearby iPhones \
            then offer to set up an Apple Watch
            """
        )
    }

    private static func checkBudget(
        of advertisement: Advertisement, _ fields: Fields, _ reader: FormatReader
    ) {
        do throws(AdvertisementError) {
            _ = try AccessoryAdvertising.compose(advertisement)
        } catch {
            let advice =
                switch error.field {
                case "serviceUUIDs", "solicitedServiceUUIDs": "; name fewer services, or 16-bit ones"
                case "localName": "; shorten it, or write localName: \"\""
                case "appearance", "txPower": "; leave it or something else out"
                default: "; shorten it, or leave something else out"
                }
            reader.error(at: fields.mark(of: error.field), "\(error)" + advice)
        }
    }

    private static func name(of type: Int) -> String {
        "0x\(Hex.encode([UInt8(truncatingIfNeeded: type)]))"
    }

    /// The AD types that other fields produce, which `raw` must not repeat.
    private static let madeByFields: [Int: String] = [
        0x01: "the radio adds the Flags", 0x02: "use serviceUUIDs", 0x03: "use serviceUUIDs",
        0x04: "use serviceUUIDs", 0x05: "use serviceUUIDs", 0x06: "use serviceUUIDs",
        0x07: "use serviceUUIDs", 0x08: "use localName", 0x09: "use localName", 0x0A: "use txPower",
        0x14: "use solicitedServiceUUIDs", 0x15: "use solicitedServiceUUIDs", 0x16: "use serviceData",
        0x19: "use appearance", 0x1F: "use solicitedServiceUUIDs", 0x20: "use serviceData",
        0x21: "use serviceData", 0xFF: "use manufacturerData",
    ]
}

extension Kind<String> {
    /// The name that is advertised, or an empty text in quotes for none.
    static var localName: Kind {
        Kind("text", .ref("text")) { node, what, reader in
            if let scalar = node.scalar, scalar.string.isEmpty, !scalar.isPlain { return "" }
            guard let name = reader.text(node, what) else { return nil }
            reader.checkName(name, what, at: node)
            return name
        }
    }
}
