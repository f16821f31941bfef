import MynahCore
import MynahSupport

// `advertising:`
extension ProfileDecoder {
    mutating func advertising(
        _ node: YAMLNode, _ identity: DeviceIdentity, isApp: Bool
    ) -> Profile.Advertising? {
        let known = isApp ? ProfileKeys.appAdvertising : ProfileKeys.advertising
        let accessoryOnly = ProfileKeys.advertising.filter { !known.contains($0) }
        let refused = Dictionary(
            uniqueKeysWithValues: accessoryOnly.map {
                ($0, "an app cannot set \($0); with app: only localName and serviceUUIDs are advertised")
            })
        guard let fields = fields(node, "advertising", known: known, refused: refused) else { return nil }
        let errorsBefore = errorCount
        var advertisement = Advertisement()
        advertisement.localName = localName(fields, of: identity)
        advertisement.serviceUUIDs = uuids(fields, "serviceUUIDs") { decoder, uuid, node in
            guard isApp, OverflowArea([uuid]).setsOffWatchSetup else { return }
            decoder.warning(
                at: node.mark,
                """
                \(uuid) sets bit \(OverflowArea.watchSetupIndex) of the overflow area, and nearby iPhones \
                then offer to set up an Apple Watch; use another UUID
                """
            )
        }
        advertisement.solicitedServiceUUIDs = uuids(fields, "solicitedServiceUUIDs")
        advertisement.interval = fields["interval"].flatMap { interval($0, "interval") }
        if let node = fields["manufacturerData"] {
            advertisement.manufacturerData = manufacturerData(node)
            checkOverflowArea(of: advertisement, at: node)
        }
        if let node = fields["serviceData"] { advertisement.serviceData = serviceData(node) }
        advertisement.includesTxPower = fields["txPower"].flatMap { bool($0, "txPower") } ?? false
        if let node = fields["appearance"], bool(node, "advertising.appearance") == true {
            if identity.appearance == nil {
                error(at: node, "advertising.appearance is true, but device.appearance is missing")
            }
            advertisement.appearance = identity.appearance
        }
        if let node = fields["raw"] { advertisement.raw = raw(node) }
        // A field that was not read has been noted; what is left says nothing about the budget.
        if !isApp, errorCount == errorsBefore { checkBudget(of: advertisement, fields) }
        var marks = fields.marks
        marks[""] = fields.mark
        return Profile.Advertising(advertisement: advertisement, marks: marks)
    }

    /// The device's name, unless the profile has another, or `''` for none.
    private mutating func localName(_ fields: Fields, of identity: DeviceIdentity) -> String? {
        guard let node = fields["localName"] else { return identity.name }
        if let scalar = node.scalar, scalar.string.isEmpty, !scalar.isPlain { return nil }
        let name = text(node, "localName")
        checkIsPrintable(name ?? "", "localName", at: node)
        return name
    }

    private mutating func checkOverflowArea(of advertisement: Advertisement, at node: YAMLNode) {
        let structures = AccessoryAdvertising.fields(of: advertisement).flatMap(\.structures)
        guard structures.contains(where: { OverflowArea($0)?.setsOffWatchSetup == true }) else { return }
        warning(
            at: node.mark,
            """
            this is an iPhone's overflow area with bit \(OverflowArea.watchSetupIndex) set; nearby iPhones \
            then offer to set up an Apple Watch
            """
        )
    }

    private mutating func checkBudget(of advertisement: Advertisement, _ fields: Fields) {
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
            self.error(at: fields.mark(of: error.field), "\(error)" + advice)
        }
    }

    mutating func uuids(
        _ fields: Fields, _ key: String,
        inspect: (inout ProfileDecoder, BluetoothUUID, YAMLNode) -> Void = { _, _, _ in }
    ) -> [BluetoothUUID] {
        guard let node = fields[key] else { return [] }
        var uuids: [BluetoothUUID] = []
        var seen: Set<BluetoothUUID> = []
        for element in elements(node, key) {
            guard let uuid = serviceUUID(element) else { continue }
            if !seen.insert(uuid).inserted { error(at: element, "\(uuid) is in \(key) twice") }
            inspect(&self, uuid, element)
            uuids.append(uuid)
        }
        return uuids
    }

    mutating func serviceUUID(_ node: YAMLNode) -> BluetoothUUID? {
        guard let text = text(node, "service") else { return nil }
        return serviceUUID(text, at: node)
    }

    mutating func serviceUUID(_ text: String, at node: YAMLNode) -> BluetoothUUID? {
        let uuid = uuid(text, at: node, "service", names: AssignedNumbers.serviceNames) {
            AssignedNumbers.service(named: $0)
        }
        if let uuid { checkType(uuid, "service", at: node) }
        return uuid
    }

    mutating func manufacturerData(_ node: YAMLNode) -> [Advertisement.ManufacturerData] {
        var list: [Advertisement.ManufacturerData] = []
        var seen: Set<UInt16> = []
        for (key, value) in members(node, "manufacturerData") {
            guard let company = integer(key, "a company identifier", in: 0...0xFFFF).map({ UInt16($0) }),
                let data = bytes(value, "manufacturerData")
            else { continue }
            if !seen.insert(company).inserted {
                error(at: key, "manufacturerData has the company \(Self.shape(of: key)) twice")
            }
            list.append(.init(company: company, data: data))
        }
        return list
    }

    mutating func serviceData(_ node: YAMLNode) -> [Advertisement.ServiceData] {
        var list: [Advertisement.ServiceData] = []
        var seen: Set<BluetoothUUID> = []
        for (key, value) in members(node, "serviceData") {
            guard let uuid = serviceUUID(key), let data = bytes(value, "serviceData") else { continue }
            if !seen.insert(uuid).inserted { error(at: key, "serviceData has \(uuid) twice") }
            list.append(.init(uuid: uuid, data: data))
        }
        return list
    }

    /// The AD types that other fields produce, which `raw` must not repeat.
    private static let madeByFields: [UInt8: String] = [
        0x01: "the radio adds the Flags", 0x02: "use serviceUUIDs", 0x03: "use serviceUUIDs",
        0x04: "use serviceUUIDs",
        0x05: "use serviceUUIDs", 0x06: "use serviceUUIDs", 0x07: "use serviceUUIDs", 0x08: "use localName",
        0x09: "use localName", 0x0A: "use txPower", 0x14: "use solicitedServiceUUIDs",
        0x15: "use solicitedServiceUUIDs", 0x16: "use serviceData", 0x19: "use appearance",
        0x1F: "use solicitedServiceUUIDs", 0x20: "use serviceData", 0x21: "use serviceData",
        0xFF: "use manufacturerData",
    ]

    private mutating func raw(_ node: YAMLNode) -> [ADStructure] {
        var list: [ADStructure] = []
        for (key, value) in members(node, "raw") {
            guard let type = integer(key, "an AD type", in: 1...0xFF).map({ UInt8($0) }),
                let data = bytes(value, "raw")
            else { continue }
            if let instead = Self.madeByFields[type] {
                error(at: key, "the AD type 0x\(Hex.encode([type])) cannot be in raw: \(instead)")
            }
            if list.contains(where: { $0.type.rawValue == type }) {
                error(at: key, "raw has the AD type 0x\(Hex.encode([type])) twice")
            }
            list.append(ADStructure(type: ADType(type), data: data))
        }
        return list
    }
}
