import MynahCore
import MynahSupport

extension ImportedAdvertising {
    /// The fields of the payloads on the air, as far as a profile has them.
    init(_ observed: ObservedAdvertising, appearance: UInt16?) {
        let payloads = [observed.usualData, observed.usualScanResponse]
        let structures = payloads.map { [ADStructure].decode($0).structures }
        var content = AdvertisementData()
        for payload in payloads { content.add(payload) }
        advertisement.localName = content.localName.flatMap { PlainText.name($0) }
        if let name = content.localName, name != advertisement.localName {
            notes.append("the advertised name has characters that a profile cannot have")
        } else if content.localName != nil, !content.isNameComplete {
            notes.append("the name was advertised as a shortened one")
        }
        advertisement.serviceUUIDs = Self.services(of: content.serviceUUIDs)
        advertisement.solicitedServiceUUIDs = Self.services(of: content.solicitedServiceUUIDs)
        var second: [String] = []
        for entry in content.manufacturerData {
            if advertisement.manufacturerData.contains(where: { $0.company == entry.company }) {
                second.append("the manufacturer data \(Self.text(entry))")
            } else {
                advertisement.manufacturerData.append(entry)
            }
        }
        for entry in content.serviceData {
            if !Self.isService(entry.uuid)
                || advertisement.serviceData.contains(where: { $0.uuid == entry.uuid })
            {
                second.append("the service data \(entry.uuid): \(Hex.encode(entry.data))")
            } else {
                advertisement.serviceData.append(entry)
            }
        }
        advertisement.txPower = content.txPower.map { .level($0) }
        // The profile advertises the appearance of the device.
        if let advertised = content.appearance, advertised == appearance {
            advertisement.appearance = advertised
        }
        for structure in structures.joined()
        where !Self.typesOfFields.contains(structure.type.rawValue) && structure.type.rawValue != 0 {
            if advertisement.raw.contains(where: { $0.type == structure.type }) {
                second.append(
                    "the AD type 0x\(Hex.encode([structure.type.rawValue])): \(Hex.encode(structure.data))")
            } else {
                advertisement.raw.append(structure)
            }
        }
        if !second.isEmpty {
            notes.append("\(second.joined(separator: ", ")) came in addition; a profile has one of each")
        }
        if let interval = observed.interval {
            advertisement.interval = .microseconds(interval)
        } else {
            notes.append("too few advertisements were seen to know the interval")
        }
        fit()
        note(observed, payloads)
    }

    /// Advertising for a device of which none is known, for the reason that `because` gives: its name, if
    /// that is known, and the services that fit.
    init(name: String?, services: [BluetoothUUID], because reason: String) {
        advertisement.localName = name
        let content = name == nil ? "these are the services" : "this is the name and the services"
        notes = ["\(reason); \(content) that fit"]
        for uuid in services where !advertisement.serviceUUIDs.contains(uuid) {
            advertisement.serviceUUIDs.append(uuid)
            if (try? AccessoryAdvertising.compose(advertisement)) == nil {
                advertisement.serviceUUIDs.removeLast()
            }
        }
        if (try? AccessoryAdvertising.compose(advertisement)) == nil { advertisement.localName = nil }
    }

    private static let typesOfFields: Set<UInt8> = [
        0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x14, 0x15, 0x16, 0x19, 0x1F, 0x20, 0x21,
        0xFF,
    ]

    private static func services(of uuids: [BluetoothUUID]) -> [BluetoothUUID] {
        uuids.filter { isService($0) }
    }

    /// Whether a profile may name it as a service.
    static func isService(_ uuid: BluetoothUUID) -> Bool {
        !AssignedNumbers.isDeclaration(uuid) && !AssignedNumbers.isDescriptor(uuid)
    }

    /// Leaves out data that does not fit: a profile puts everything but the name into the advertising data.
    private mutating func fit() {
        var dropped: [String] = []
        while true {
            do throws(AdvertisementError) {
                _ = try AccessoryAdvertising.compose(advertisement)
                break
            } catch {
                guard let field = drop(error.field) else { break }
                dropped.append(field)
            }
        }
        if !dropped.isEmpty {
            notes.append(
                """
                \(dropped.joined(separator: ", ")) did not fit: a profile has only the name in the scan \
                response
                """)
        }
    }

    /// Drops a field, or the last of its entries; returns its name, or `nil` if there is none.
    private mutating func drop(_ field: String) -> String? {
        switch field {
        case "serviceUUIDs": return advertisement.serviceUUIDs.popLast().map { "the service \($0)" }
        case "solicitedServiceUUIDs":
            return advertisement.solicitedServiceUUIDs.popLast().map { "the solicited service \($0)" }
        case "manufacturerData":
            return advertisement.manufacturerData.popLast().map { "the manufacturer data \(Self.text($0))" }
        case "serviceData":
            return advertisement.serviceData.popLast().map {
                "the service data \($0.uuid): \(Hex.encode($0.data))"
            }
        case "raw":
            return advertisement.raw.popLast().map {
                "the AD type 0x\(Hex.encode([$0.type.rawValue])): \(Hex.encode($0.data))"
            }
        case "appearance":
            defer { advertisement.appearance = nil }
            return advertisement.appearance.map { _ in "the appearance" }
        case "txPower":
            defer { advertisement.txPower = nil }
            return advertisement.txPower.map { _ in "the TX power" }
        default:
            defer { advertisement.localName = nil }
            return advertisement.localName.map { "the name \($0)" }
        }
    }

    private static func text(_ entry: Advertisement.ManufacturerData) -> String {
        "0x" + String(entry.company, radix: 16, uppercase: true) + ": " + Hex.encode(entry.data)
    }

    private mutating func note(_ observed: ObservedAdvertising, _ payloads: [[UInt8]]) {
        if !observed.isConnectable { notes.append("the device was not connectable; Mynah's is") }
        if !observed.hasScanResponse { notes.append("no scan response was seen") }
        for (count, what) in [(observed.dataCount, "data"), (observed.scanResponseCount, "scan response")]
        where count > 1 {
            notes.append(
                "the \(what) changed, with \(count) contents; this is the one that was seen most often")
        }
        let flags = payloads.flatMap { [ADStructure].decode($0).structures }.first { $0.type == .flags }?.data
        if flags != [Advertisement.usualFlags] {
            let theirs =
                flags.map { "the Flags were \(Hex.encode($0))" } ?? "the advertising data had no Flags"
            notes.append("\(theirs); Mynah's are \(Hex.encode([Advertisement.usualFlags]))")
        }
        guard let ours = try? AccessoryAdvertising.compose(advertisement),
            ours.data.bytes != payloads[0] || ours.scanResponse.bytes != payloads[1]
        else { return }
        let scanResponse = payloads[1].isEmpty ? "" : ", scan response \(Hex.encode(payloads[1]))"
        notes.append("on the air it was: data \(Hex.encode(payloads[0]))\(scanResponse)")
    }
}
