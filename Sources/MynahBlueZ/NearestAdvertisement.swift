import MynahCore
import MynahSupport

/// The advertisement that bluetoothd can compose and that differs least from exact bytes, with the
/// differences.
struct NearestAdvertisement {
    var advertisement = Advertisement()
    /// The fields of the scan response besides the name.
    private(set) var scanResponse = Advertisement.Contents()
    /// The parts that are sent in a different form.
    private(set) var omitted: [AdvertisingReport.Omission] = []
    /// The parts that are not sent, or are sent only partly.
    private(set) var lost: [AdvertisingReport.Omission] = []
    private let placesScanResponse: Bool

    init(_ exact: ExactAdvertisement, isConnectable: Bool, placesScanResponse: Bool) {
        self.placesScanResponse = placesScanResponse
        advertisement.isConnectable = isConnectable
        let hasOverflowArea = (exact.data + exact.scanResponse).contains { OverflowArea($0) != nil }
        for structure in exact.data {
            if hasOverflowArea, NearbyInfo(structure) != nil {
                omit(
                    "phone.nearbyInfo",
                    "bluetoothd takes one entry for each company, and that of Apple has the overflow area")
            } else {
                add(structure, fromScanResponse: false)
            }
        }
        for structure in exact.scanResponse { add(structure, fromScanResponse: true) }
        omit("order", "bluetoothd orders the AD structures itself")
    }

    // MARK: Room

    /// Removes entries of fields that do not fit, the last one first, until all fields fit.
    mutating func leaveOutWhatDoesNotFit() {
        makeRoomForName()
        while true {
            do throws(AdvertisementError) {
                _ = try BlueZAdvertising.compose(advertisement, scanResponse: scanResponse)
                return
            } catch {
                guard leaveOut(error) else { return }
            }
        }
    }

    /// Ensures that the name fits in the scan response, because bluetoothd sends it only there.
    ///
    /// Other fields are moved out of the scan response, or the name is shortened.
    private mutating func makeRoomForName() {
        guard let name = AccessoryAdvertising.nameStructure(of: advertisement) else { return }
        let others = AccessoryAdvertising.fields(of: scanResponse).flatMap(\.structures).byteCount
        let room = ExactAdvertisement.legacyCapacity - others
        guard others > 0, name.byteCount > room else { return }
        var moved = advertisement
        moved.serviceUUIDs += scanResponse.serviceUUIDs
        moved.solicitedServiceUUIDs += scanResponse.solicitedServiceUUIDs
        moved.manufacturerData += scanResponse.manufacturerData
        moved.serviceData += scanResponse.serviceData
        moved.raw += scanResponse.raw
        if (try? BlueZAdvertising.compose(moved, scanResponse: Advertisement.Contents())) != nil {
            advertisement = moved
            scanResponse = Advertisement.Contents()
            omit(
                "scanResponse",
                "beside the name there is no room for the rest, which bluetoothd sends before it")
            return
        }
        let cut = (advertisement.localName ?? "").prefix(utf8: room - 2)
        advertisement.localName = cut.isEmpty ? nil : cut
        lose(
            "localName",
            cut.isEmpty
                ? "bluetoothd has no room for it beside the rest of the scan response"
                : "bluetoothd has room for \"\(cut)\" beside the rest of the scan response")
    }

    private mutating func leaveOut(_ error: AdvertisementError) -> Bool {
        let isOverflow =
            error.field == "manufacturerData" && advertisement.manufacturerData.last?.isOverflowArea == true
        guard
            Self.leaveOut(error.field, of: &advertisement.data)
                || Self.leaveOut(error.field, of: &scanResponse)
        else {
            return false
        }
        lose(
            isOverflow ? "overflowArea" : error.field,
            "bluetoothd has no room for it beside the rest: \(error)")
        return true
    }

    private static func leaveOut(_ field: String, of contents: inout Advertisement.Contents) -> Bool {
        switch field {
        case "serviceUUIDs": contents.serviceUUIDs.popLast() != nil
        case "solicitedServiceUUIDs": contents.solicitedServiceUUIDs.popLast() != nil
        case "manufacturerData": contents.manufacturerData.popLast() != nil
        case "serviceData": contents.serviceData.popLast() != nil
        case "raw": contents.raw.popLast() != nil
        case "appearance": clear(&contents.appearance)
        case "localName": clear(&contents.localName)
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

    private mutating func lose(_ item: String, _ reason: String) {
        let omission = AdvertisingReport.Omission(item: item, reason: reason)
        if !lost.contains(omission) { lost.append(omission) }
    }

    // MARK: Taking apart

    private mutating func add(_ structure: ADStructure, fromScanResponse: Bool) {
        switch structure.type {
        case .completeLocalName, .shortenedLocalName:
            if !fromScanResponse { omit("localName", "bluetoothd sends the name in the scan response") }
            if structure.type == .shortenedLocalName {
                omit("localName", "bluetoothd marks every name that fits as complete")
            }
            advertisement.localName = String(decoding: structure.data, as: UTF8.self)
        case .flags where structure.data != [Advertisement.usualFlags]:
            omit("flags", "bluetoothd sends Flags 06, not \(Hex.encode(structure.data))")
        case .flags:
            break
        case .txPowerLevel:
            advertisement.txPower = .radio
        case .appearance:
            var reader = ByteReader(structure.data)
            advertisement.appearance = reader.readUInt16()
        default:
            if fromScanResponse, placesScanResponse {
                addField(structure, into: \.scanResponse)
            } else {
                addField(structure, into: \.advertisement.data)
            }
        }
        guard fromScanResponse, !placesScanResponse else { return }
        guard structure.type != .completeLocalName, structure.type != .shortenedLocalName else { return }
        omit(
            "scanResponse",
            """
            bluetoothd before 5.80 sends only the name in the scan response, and the rest in the \
            advertising data
            """)
    }

    private mutating func addField(
        _ structure: ADStructure, into place: WritableKeyPath<NearestAdvertisement, Advertisement.Contents>
    ) {
        var reader = ByteReader(structure.data)
        switch structure.type.rawValue {
        case 0x02...0x07:
            self[keyPath: place].serviceUUIDs += uuids(
                structure, [2, 2, 4, 4, 16, 16][Int(structure.type.rawValue) - 2])
            guard structure.type.rawValue % 2 == 0 else { return }
            omit("serviceUUIDs", "bluetoothd marks every list of service UUIDs as complete")
        case 0x14: self[keyPath: place].solicitedServiceUUIDs += uuids(structure, 2)
        case 0x1F: self[keyPath: place].solicitedServiceUUIDs += uuids(structure, 4)
        case 0x15: self[keyPath: place].solicitedServiceUUIDs += uuids(structure, 16)
        case 0x16: takeServiceData(&reader, 2, into: place)
        case 0x20: takeServiceData(&reader, 4, into: place)
        case 0x21: takeServiceData(&reader, 16, into: place)
        case 0xFF:
            guard let company = reader.readUInt16(), !reader.isAtEnd else {
                return lose("manufacturerData", "bluetoothd sends no company identifier without data")
            }
            self[keyPath: place].manufacturerData.append(.init(company: company, data: reader.readRest()))
        default:
            self[keyPath: place].raw.append(structure)
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

    private mutating func takeServiceData(
        _ reader: inout ByteReader, _ width: Int,
        into place: WritableKeyPath<NearestAdvertisement, Advertisement.Contents>
    ) {
        guard let bytes = reader.readBytes(width), let uuid = BluetoothUUID(littleEndian: bytes),
            !reader.isAtEnd
        else { return lose("serviceData", "bluetoothd sends no service UUID without data") }
        self[keyPath: place].serviceData.append(.init(uuid: uuid, data: reader.readRest()))
    }
}

extension Advertisement.ManufacturerData {
    /// Whether the data is an iPhone's overflow area, which advertises the services of apps in the
    /// background.
    fileprivate var isOverflowArea: Bool {
        company == OverflowArea.company && data.first == OverflowArea.type
            && data.count == OverflowArea.byteCount + 1
    }
}
