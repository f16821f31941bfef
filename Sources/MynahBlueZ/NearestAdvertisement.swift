import MynahCore
import MynahSupport

/// Exact bytes taken apart into the fields that bluetoothd composes an advertisement from, with what is lost on the way.
struct NearestAdvertisement {
    var advertisement = Advertisement()
    private(set) var omitted: [AdvertisingReport.Omission] = []

    init(_ exact: ExactAdvertisement, isConnectable: Bool) {
        advertisement.isConnectable = isConnectable
        for structure in exact.data { take(structure, fromScanResponse: false) }
        for structure in exact.scanResponse { take(structure, fromScanResponse: true) }
        omit("order", "bluetoothd orders the AD structures itself")
    }

    /// Drops the last entry of whatever does not fit until all fits.
    mutating func leaveOutWhatDoesNotFit() {
        while true {
            do throws(AdvertisementError) {
                _ = try BlueZAdvertising.compose(advertisement)
                return
            } catch {
                guard dropLast(of: error.field) else { return }
                omit(error.field, "there is no room beside the rest: \(error)")
            }
        }
    }

    private mutating func dropLast(of field: String) -> Bool {
        switch field {
        case "serviceUUIDs": advertisement.serviceUUIDs.popLast() != nil
        case "solicitedServiceUUIDs": advertisement.solicitedServiceUUIDs.popLast() != nil
        case "manufacturerData": advertisement.manufacturerData.popLast() != nil
        case "serviceData": advertisement.serviceData.popLast() != nil
        case "raw": advertisement.raw.popLast() != nil
        case "appearance": Self.clear(&advertisement.appearance)
        case "localName": Self.clear(&advertisement.localName)
        default: false
        }
    }

    private static func clear<Value>(_ value: inout Value?) -> Bool {
        defer { value = nil }
        return value != nil
    }

    private mutating func omit(_ item: String, _ reason: String) {
        let omission = AdvertisingReport.Omission(item: item, reason: reason)
        if !omitted.contains(omission) { omitted.append(omission) }
    }

    private mutating func take(_ structure: ADStructure, fromScanResponse: Bool) {
        let isName = structure.type == .completeLocalName || structure.type == .shortenedLocalName
        if isName, !fromScanResponse {
            omit("localName", "bluetoothd sends the name in the scan response")
        } else if !isName, fromScanResponse {
            omit(
                "scanResponse", "bluetoothd sends only the name in the scan response, and the rest before it")
        }
        var reader = ByteReader(structure.data)
        switch structure.type.rawValue {
        case 0x01:
            guard structure.data != [AccessoryAdvertising.flags] else { return }
            omit("flags", "bluetoothd sends Flags 06, not \(Hex.encode(structure.data))")
        case 0x02...0x07:
            advertisement.serviceUUIDs += uuids(
                structure, [2, 2, 4, 4, 16, 16][Int(structure.type.rawValue) - 2])
            guard structure.type.rawValue % 2 == 0 else { return }
            omit("serviceUUIDs", "bluetoothd calls every list of service UUIDs complete")
        case 0x08, 0x09:
            if structure.type == .shortenedLocalName {
                omit("localName", "bluetoothd calls every name that fits complete")
            }
            advertisement.localName = String(decoding: structure.data, as: UTF8.self)
        case 0x0A:
            advertisement.includesTxPower = true
        case 0x14: advertisement.solicitedServiceUUIDs += uuids(structure, 2)
        case 0x1F: advertisement.solicitedServiceUUIDs += uuids(structure, 4)
        case 0x15: advertisement.solicitedServiceUUIDs += uuids(structure, 16)
        case 0x16: takeServiceData(&reader, 2)
        case 0x20: takeServiceData(&reader, 4)
        case 0x21: takeServiceData(&reader, 16)
        case 0x19:
            advertisement.appearance = reader.readUInt16()
        case 0xFF:
            guard let company = reader.readUInt16(), !reader.isAtEnd else {
                return omit("manufacturerData", "bluetoothd sends none without data behind the company")
            }
            advertisement.manufacturerData.append(.init(company: company, data: reader.readRest()))
        default:
            advertisement.raw.append(structure)
        }
    }

    private func uuids(_ structure: ADStructure, _ width: Int) -> [BluetoothUUID] {
        var reader = ByteReader(structure.data)
        var list: [BluetoothUUID] = []
        while let bytes = reader.readBytes(width), let uuid = BluetoothUUID(littleEndian: bytes) {
            list.append(uuid)
        }
        return list
    }

    private mutating func takeServiceData(_ reader: inout ByteReader, _ width: Int) {
        guard let bytes = reader.readBytes(width), let uuid = BluetoothUUID(littleEndian: bytes),
            !reader.isAtEnd
        else { return omit("serviceData", "bluetoothd sends none without data behind the UUID") }
        advertisement.serviceData.append(.init(uuid: uuid, data: reader.readRest()))
    }
}
