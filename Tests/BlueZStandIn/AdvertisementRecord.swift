import MynahDBus

/// A registered advertisement, as bluetoothd parses and composes it.
struct AdvertisementRecord: Sendable {
    /// A property that bluetoothd does not take.
    struct Refused: Error { let property: String }

    /// The data on the air.
    struct Air: Hashable, Sendable {
        var data: [UInt8]
        var scanResponse: [UInt8]
    }

    /// The fields that may stand in the scan response too.
    struct ScanResponse {
        var serviceUUIDs: [[UInt8]] = []
        var solicitUUIDs: [[UInt8]] = []
        var manufacturerData: [(UInt16, [UInt8])] = []
        var serviceData: [([UInt8], [UInt8])] = []
        var rawData: [(UInt8, [UInt8])] = []
    }

    let version: BlueZVersion
    let isExperimental: Bool
    var isConnectable = false
    var serviceUUIDs: [[UInt8]] = []
    var solicitUUIDs: [[UInt8]] = []
    var manufacturerData: [(UInt16, [UInt8])] = []
    var serviceData: [([UInt8], [UInt8])] = []
    var rawData: [(UInt8, [UInt8])] = []
    /// The contents of the scan response, without the name.
    var scanResponse = ScanResponse()
    var isDiscoverable: Bool?
    var localName: String?
    var includes: Set<String> = []
    var appearance: UInt16?
    var secondaryChannel: String?
    var minimumInterval: UInt32?
    var maximumInterval: UInt32?
    var txPower: Int16?

    init(version: BlueZVersion, isExperimental: Bool) {
        self.version = version
        self.isExperimental = isExperimental
    }

    /// Reads the answer to GetAll.
    init(_ properties: DBusValue, version: BlueZVersion, isExperimental: Bool) throws(Refused) {
        self.init(version: version, isExperimental: isExperimental)
        guard properties["Type"]?.stringValue != nil else { throw Refused(property: "Type") }
        for entry in properties.entries ?? [] {
            guard let name = entry.key.stringValue else { continue }
            _ = try parse(name, entry.value.unwrapped)
        }
        // parse_advertisement: "Broadcast cannot set flags".
        guard isConnectable || isDiscoverable != true else { throw Refused(property: "Discoverable") }
    }

    /// Reads one property; says whether bluetoothd sends the instance again because of it.
    ///
    /// A refused one is cleared.
    mutating func parse(_ name: String, _ value: DBusValue) throws(Refused) -> Bool {
        let wasDiscoverable = isDiscoverable
        clear(name)
        switch name {
        case "Type":
            guard let type = value.stringValue, type == "peripheral" || type == "broadcast" else {
                throw Refused(property: name)
            }
            isConnectable = type == "peripheral"
        case "ServiceUUIDs": serviceUUIDs = try uuids(name, value)
        case "SolicitUUIDs": solicitUUIDs = try uuids(name, value)
        case "ManufacturerData":
            manufacturerData = try pairs(name, value) { $0.integer(as: UInt16.self) }
            guard version.hasExtendedData || manufacturerData.allSatisfy({ $0.1.count <= 27 }) else {
                clear(name)
                throw Refused(property: name)
            }
        case "ServiceData": serviceData = try pairs(name, value) { $0.stringValue.flatMap(UUIDText.bytes) }
        case "Data":
            let data = try pairs(name, value) { $0.integer(as: UInt8.self) }
            guard data.allSatisfy({ !Self.refusedTypes.contains($0.0) }) else {
                throw Refused(property: name)
            }
            rawData = data
        case "ScanResponseServiceUUIDs" where version.hasScanResponseFields:
            scanResponse.serviceUUIDs = try uuids(name, value)
        case "ScanResponseSolicitUUIDs" where version.hasScanResponseFields:
            scanResponse.solicitUUIDs = try uuids(name, value)
        case "ScanResponseManufacturerData" where version.hasScanResponseFields:
            scanResponse.manufacturerData = try pairs(name, value) { $0.integer(as: UInt16.self) }
        case "ScanResponseServiceData" where version.hasScanResponseFields:
            scanResponse.serviceData = try pairs(name, value) { $0.stringValue.flatMap(UUIDText.bytes) }
        case "ScanResponseData" where version.hasScanResponseFields:
            let data = try pairs(name, value) { $0.integer(as: UInt8.self) }
            guard data.allSatisfy({ !Self.refusedTypes.contains($0.0) }) else {
                throw Refused(property: name)
            }
            scanResponse.rawData = data
        case "Discoverable":
            guard let discoverable = value.boolValue else { throw Refused(property: name) }
            isDiscoverable = discoverable
            return discoverable != wasDiscoverable
        case "LocalName":
            guard let text = value.stringValue, !includes.contains("local-name") else {
                throw Refused(property: name)
            }
            localName = text
        case "Includes":
            guard let items = value.stringsValue else { throw Refused(property: name) }
            let known: Set = [
                "tx-power", "appearance", "local-name", version.minor >= 67 ? "rsi" : "tx-power",
            ]
            guard Set(items).isSubset(of: known), !(items.contains("local-name") && localName != nil),
                !(items.contains("appearance") && appearance != nil)
            else { throw Refused(property: name) }
            includes = Set(items)
        case "Appearance":
            guard let number = value.integer(as: UInt16.self), case .uint16 = value,
                !includes.contains("appearance")
            else { throw Refused(property: name) }
            appearance = number
        case "SecondaryChannel":
            guard let channel = value.stringValue, ["1M", "2M", "Coded"].contains(channel) else {
                throw Refused(property: name)
            }
            secondaryChannel = channel
        case "MinInterval", "MaxInterval":
            guard case .uint32(let interval) = value, interval >= 20 else { throw Refused(property: name) }
            guard isExperimental || !version.needsExperimentalForIntervals else { return false }
            if name == "MinInterval" { minimumInterval = interval } else { maximumInterval = interval }
        case "Timeout", "Duration", "DiscoverableTimeout":
            guard case .uint16 = value else { throw Refused(property: name) }
            return false
        case "TxPower":
            guard case .int16(let level) = value, -127...20 ~= level else { throw Refused(property: name) }
            guard isExperimental || !version.needsExperimentalForIntervals else { return false }
            txPower = level
        default:
            return false
        }
        return true
    }

    /// Types that have fields of their own, or none (type_reject_list of src/shared/ad.c).
    private static let refusedTypes: Set<UInt8> = [
        0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0D, 0x0E, 0x0F, 0x10, 0x11, 0x12, 0x14,
        0x15, 0x16, 0x17, 0x18, 0x19, 0x1A, 0x1B, 0x1C, 0x1D, 0x1E, 0x1F, 0x20, 0x21, 0x22, 0x23, 0x27, 0x28,
        0x29, 0x2A, 0x2B, 0x3D, 0xFF,
    ]

    /// Whether a live update of a property is not looked at.
    func isIgnoredLive(_ name: String) -> Bool {
        let experimental = ["ServiceUUIDs", "SolicitUUIDs", "ManufacturerData", "ServiceData"]
        return !isExperimental && experimental.contains { "ScanResponse" + $0 == name }
    }

    /// Whether the daemon knows no such property.
    func isUnknown(_ name: String) -> Bool {
        name.hasPrefix("ScanResponse") && !version.hasScanResponseFields
    }

    /// Forgets a property, as one that was invalidated.
    mutating func clear(_ name: String) {
        switch name {
        case "ServiceUUIDs": serviceUUIDs = []
        case "SolicitUUIDs": solicitUUIDs = []
        case "ManufacturerData": manufacturerData = []
        case "ServiceData": serviceData = []
        case "Data": rawData = []
        case "Discoverable": isDiscoverable = nil
        case "LocalName": localName = nil
        case "Includes": includes = []
        case "Appearance": appearance = nil
        case "SecondaryChannel": secondaryChannel = nil
        case "MinInterval": minimumInterval = nil
        case "MaxInterval": maximumInterval = nil
        case "TxPower": txPower = nil
        case "ScanResponseServiceUUIDs": scanResponse.serviceUUIDs = []
        case "ScanResponseSolicitUUIDs": scanResponse.solicitUUIDs = []
        case "ScanResponseManufacturerData": scanResponse.manufacturerData = []
        case "ScanResponseServiceData": scanResponse.serviceData = []
        case "ScanResponseData": scanResponse.rawData = []
        default: break
        }
    }

    /// The bytes in bluetoothd's order; nil when they do not fit.
    func air(alias: String, maximumData: Int) -> Air? {
        var data = Self.fields(serviceUUIDs, solicitUUIDs, manufacturerData, serviceData)
        var response = Self.fields(
            scanResponse.serviceUUIDs, scanResponse.solicitUUIDs, scanResponse.manufacturerData,
            scanResponse.serviceData)
        var limit = version.hasExtendedData ? maximumData : 31
        if secondaryChannel == nil, !version.hasExtendedData || data.count <= 31 { limit = 31 }
        if let name = localName ?? (includes.contains("local-name") ? alias : nil) {
            // Extended PDUs that are connectable have no scan response.
            let inData = secondaryChannel != nil && isConnectable
            let room = max(0, (inData ? limit - data.count : 31 - response.count) - 2)
            let bytes = Array(name.utf8)
            let part = Self.structure(bytes.count <= room ? 0x09 : 0x08, Array(bytes.prefix(room)))
            if inData { data += part } else { response += part }
        }
        if let appearance {
            data += Self.structure(0x19, [UInt8(truncatingIfNeeded: appearance), UInt8(appearance >> 8)])
        }
        for (type, bytes) in rawData {
            data += Self.structure(type, bytes)
        }
        for (type, bytes) in scanResponse.rawData {
            response += Self.structure(type, bytes)
        }
        // Fields that the kernel adds count against the room.
        let added = (includes.contains("tx-power") ? 3 : 0) + (includes.contains("appearance") ? 4 : 0)
        if let flags { data += Self.structure(0x01, [flags]) }
        guard data.count + added <= limit, response.count <= 31 else { return nil }
        if includes.contains("tx-power") {
            data += Self.structure(0x0A, [UInt8(truncatingIfNeeded: txPower ?? 0)])
        }
        if includes.contains("appearance") { data += Self.structure(0x19, [0, 0]) }
        return Air(data: data, scanResponse: response)
    }

    private var flags: UInt8? {
        switch isDiscoverable {
        case true?: 0x06
        case false? where version.writesFlagsWhenNotDiscoverable: 0x04
        default: nil
        }
    }

    private static func fields(
        _ serviceUUIDs: [[UInt8]], _ solicitUUIDs: [[UInt8]], _ manufacturerData: [(UInt16, [UInt8])],
        _ serviceData: [([UInt8], [UInt8])]
    ) -> [UInt8] {
        var data = lists(serviceUUIDs, types: [2: 0x03, 4: 0x05, 16: 0x07])
        data += lists(solicitUUIDs, types: [2: 0x14, 4: 0x1F, 16: 0x15])
        for (company, bytes) in manufacturerData {
            data += structure(0xFF, [UInt8(truncatingIfNeeded: company), UInt8(company >> 8)] + bytes)
        }
        for (uuid, bytes) in serviceData {
            data += structure([2: 0x16, 4: 0x20][uuid.count] ?? 0x21, uuid + bytes)
        }
        return data
    }

    private static func structure(_ type: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        [UInt8(truncatingIfNeeded: bytes.count + 1), type] + bytes
    }

    private static func lists(_ uuids: [[UInt8]], types: [Int: UInt8]) -> [UInt8] {
        [2, 4, 16].flatMap { width -> [UInt8] in
            let same = uuids.filter { $0.count == width }
            return same.isEmpty ? [] : structure(types[width] ?? 0, same.flatMap { $0 })
        }
    }

    private func uuids(_ name: String, _ value: DBusValue) throws(Refused) -> [[UInt8]] {
        guard let texts = value.stringsValue else { throw Refused(property: name) }
        var uuids: [[UInt8]] = []
        for text in texts {
            guard let bytes = UUIDText.bytes(text) else { throw Refused(property: name) }
            uuids.append(bytes)
        }
        return uuids
    }

    /// A dictionary of `ay` in variants, none of them empty.
    private func pairs<Key>(
        _ name: String, _ value: DBusValue, _ key: (DBusValue) -> Key?
    ) throws(Refused) -> [(Key, [UInt8])] {
        guard case .dictionary(_, "v", let entries) = value else { throw Refused(property: name) }
        var pairs: [(Key, [UInt8])] = []
        for entry in entries {
            guard let key = key(entry.key), let bytes = entry.value.bytesValue, !bytes.isEmpty else {
                throw Refused(property: name)
            }
            pairs.append((key, bytes))
        }
        return pairs
    }
}
