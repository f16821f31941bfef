import MynahSupport

/// How an accessory lays out its advertisement.
///
/// Everything is in the advertising data, the name too if it fits whole; otherwise the name is in the scan
/// response. Flags are 06 (LE General Discoverable, BR/EDR Not Supported) and stand first.
package enum AccessoryAdvertising {
    /// The Flags of a connectable accessory.
    package static let flags: UInt8 = 0x06

    /// The level that is written into Tx Power Level if the radio does not know its own, in dBm.
    package static let assumedTxPower: Int8 = 0

    /// Composes the bytes, or names the first field that does not fit.
    package static func compose(_ advertisement: Advertisement) throws(AdvertisementError)
        -> ExactAdvertisement
    {
        if let exact = advertisement.exact { return try measured(exact) }
        var data = [ADStructure(type: .flags, data: [flags])]
        for (field, structures) in fields(of: advertisement) {
            try append(structures, of: field, to: &data, payload: Self.data)
        }
        var scanResponse: [ADStructure] = []
        if let name = nameStructure(of: advertisement) {
            if data.byteCount + name.byteCount <= ExactAdvertisement.legacyCapacity {
                data.append(name)
            } else {
                try append([name], of: "localName", to: &scanResponse, payload: Self.scanResponse)
            }
        }
        return ExactAdvertisement(data: data, scanResponse: scanResponse)
    }

    /// The payload that the name is in, and how many bytes of a name it has room for; `nil` if no name is
    /// advertised.
    package static func roomForName(of advertisement: Advertisement) -> (payload: String, count: Int)? {
        guard let name = nameStructure(of: advertisement), let whole = try? compose(advertisement) else {
            return nil
        }
        let isInData = whole.data.contains(name)
        let others = (isInData ? whole.data : whole.scanResponse).filter { $0 != name }
        let header = name.byteCount - name.data.count
        return (
            isInData ? Self.data : Self.scanResponse,
            ExactAdvertisement.legacyCapacity - others.byteCount - header
        )
    }

    private static let data = "advertising data"
    private static let scanResponse = "scan response"

    /// The structures of every field but the name and the flags, by the field's name in a profile, in the
    /// air's order.
    package static func fields(
        of advertisement: Advertisement
    ) -> [(field: String, structures: [ADStructure])] {
        var fields: [(String, [ADStructure])] = [
            ("serviceUUIDs", lists(of: advertisement.serviceUUIDs) { .serviceUUIDs($0, isComplete: true) }),
            (
                "solicitedServiceUUIDs",
                lists(of: advertisement.solicitedServiceUUIDs) { .solicitedServiceUUIDs($0) }
            ),
            ("manufacturerData", advertisement.manufacturerData.map(structure(of:))),
            ("serviceData", advertisement.serviceData.map(structure(of:))),
        ]
        if let appearance = advertisement.appearance {
            fields.append(("appearance", [ADStructure(type: .appearance, data: littleEndian(appearance))]))
        }
        if advertisement.includesTxPower {
            let level = UInt8(bitPattern: assumedTxPower)
            fields.append(("txPower", [ADStructure(type: .txPowerLevel, data: [level])]))
        }
        fields.append(("raw", advertisement.raw))
        return fields.filter { !$0.1.isEmpty }
    }

    /// The complete local name, or `nil` if none is advertised.
    package static func nameStructure(of advertisement: Advertisement) -> ADStructure? {
        guard let name = advertisement.localName, !name.isEmpty else { return nil }
        return ADStructure(type: .completeLocalName, data: Array(name.utf8))
    }

    private static func lists(
        of uuids: [BluetoothUUID], type: (BluetoothUUID.Width) -> ADType
    ) -> [ADStructure] {
        BluetoothUUID.Width.allCases.compactMap { width in
            let bytes = uuids.filter { $0.width == width }.flatMap(\.littleEndianBytes)
            return bytes.isEmpty ? nil : ADStructure(type: type(width), data: bytes)
        }
    }

    private static func structure(of entry: Advertisement.ManufacturerData) -> ADStructure {
        ADStructure(type: .manufacturerSpecificData, data: littleEndian(entry.company) + entry.data)
    }

    private static func structure(of entry: Advertisement.ServiceData) -> ADStructure {
        ADStructure(type: .serviceData(entry.uuid.width), data: entry.uuid.littleEndianBytes + entry.data)
    }

    private static func littleEndian(_ value: UInt16) -> [UInt8] {
        var writer = ByteWriter(capacity: 2)
        writer.write(value)
        return writer.bytes
    }

    private static func measured(_ exact: ExactAdvertisement) throws(AdvertisementError) -> ExactAdvertisement
    {
        var data: [ADStructure] = []
        try append(exact.data, of: "exact", to: &data, payload: Self.data)
        var scanResponse: [ADStructure] = []
        try append(exact.scanResponse, of: "exact", to: &scanResponse, payload: Self.scanResponse)
        return exact
    }

    private static func append(
        _ structures: [ADStructure], of field: String, to list: inout [ADStructure], payload: String
    ) throws(AdvertisementError) {
        let available = ExactAdvertisement.legacyCapacity - list.byteCount
        guard structures.byteCount <= available else {
            throw AdvertisementError(
                field: field, needed: structures.byteCount, available: available, payload: payload)
        }
        list += structures
    }
}
