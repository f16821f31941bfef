import MynahSupport

/// Composes the advertising data and the scan response of an accessory.
///
/// The Flags come first. All fields are in the advertising data, including the name if it fits completely.
/// Otherwise, the name comes before the other fields of the scan response. If a raw structure has the type
/// of a field, that field is left out.
package enum AccessoryAdvertising {
    /// The value for Tx Power Level if the radio does not know its own level, in dBm.
    package static let assumedTxPower: Int8 = 0

    /// Composes the bytes of a set; throws an error if a field does not fit.
    package static func compose(_ set: Advertisement) throws(AdvertisementError) -> ExactAdvertisement {
        var data = Payload(.data, capacity: set.dataCapacity)
        var scanResponse = Payload(.scanResponse, capacity: set.scanResponseCapacity)
        if let exact = set.exact {
            try data.add(exact.data, of: "exact")
            try scanResponse.add(exact.scanResponse, of: "exact")
            return exact
        }
        // The data of an extended set that is scannable is in its scan response, without Flags.
        if data.capacity == 0 {
            for (field, structures) in fields(of: set.data) { try scanResponse.add(structures, of: field) }
        } else {
            if let flags = flags(of: set) { try data.add([flags], of: "flags") }
            for (field, structures) in fields(of: set.data) { try data.add(structures, of: field) }
        }
        let responseFields = fields(of: set.scanResponse)
        if let name = nameStructure(of: set) {
            let others = responseFields.reduce(0) { $0 + $1.structures.byteCount }
            // If the name fits in neither payload, the error concerns the advertising data, unless the scan
            // response has space left.
            let goesToResponse = name.byteCount > data.room && scanResponse.capacity > others
            if goesToResponse {
                try scanResponse.add([name], of: "localName")
            } else {
                try data.add([name], of: "localName")
            }
        }
        for (field, structures) in responseFields {
            try scanResponse.add(structures, of: "scanResponse.\(field)")
        }
        if let name = nameStructure(of: set.scanResponse) {
            try scanResponse.add([name], of: "scanResponse.localName")
        }
        return ExactAdvertisement(data: data.structures, scanResponse: scanResponse.structures)
    }

    /// The payload in which the name is advertised, and the length of the name that fits there, in bytes.
    ///
    /// The value is `nil` if no name is advertised.
    package static func roomForName(
        of set: Advertisement
    ) -> (payload: AdvertisingPayload, count: Int)? {
        guard let name = nameStructure(of: set) ?? nameStructure(of: set.scanResponse),
            let whole = try? compose(set)
        else { return nil }
        let isInData = whole.data.contains(name)
        let others = (isInData ? whole.data : whole.scanResponse).filter { $0 != name }
        let header = name.byteCount - name.data.count
        return (
            isInData ? .data : .scanResponse,
            (isInData ? set.dataCapacity : set.scanResponseCapacity) - others.byteCount - header
        )
    }

    /// The structure with the Flags, or `nil` if the set has none or has a raw structure with them.
    package static func flags(of set: Advertisement) -> ADStructure? {
        guard let flags = set.flags, !set.data.raw.contains(where: { $0.type == .flags }) else { return nil }
        return ADStructure(type: .flags, data: [flags])
    }

    /// Returns the structures of each field except the name and the Flags, in their order on the air.
    ///
    /// `field` is the field's name in a profile.
    package static func fields(
        of contents: Advertisement.Contents
    ) -> [(field: String, structures: [ADStructure])] {
        var fields: [(String, [ADStructure])] = [
            (
                "serviceUUIDs",
                lists(of: contents.serviceUUIDs) { .serviceUUIDs($0, isComplete: true) }
                    + lists(of: contents.incompleteServiceUUIDs) { .serviceUUIDs($0, isComplete: false) }
            ),
            (
                "solicitedServiceUUIDs",
                lists(of: contents.solicitedServiceUUIDs) { .solicitedServiceUUIDs($0) }
            ),
            ("manufacturerData", contents.manufacturerData.map(structure(of:))),
            ("serviceData", contents.serviceData.map(structure(of:))),
        ]
        if let appearance = contents.appearance {
            fields.append(("appearance", [ADStructure(type: .appearance, data: littleEndian(appearance))]))
        }
        if let txPower = contents.txPower {
            let level = UInt8(bitPattern: txPower.level ?? assumedTxPower)
            fields.append(("txPower", [ADStructure(type: .txPowerLevel, data: [level])]))
        }
        if !contents.raw.isEmpty {
            let rawTypes = Set(contents.raw.map(\.type))
            for index in fields.indices { fields[index].1.removeAll { rawTypes.contains($0.type) } }
            fields.append(("raw", contents.raw))
        }
        return fields.filter { !$0.1.isEmpty }
    }

    /// Returns the complete local name, or `nil` if there is no name or a raw structure contains it.
    package static func nameStructure(of contents: Advertisement.Contents) -> ADStructure? {
        guard let name = contents.localName, !name.isEmpty,
            !contents.raw.contains(where: { $0.type == .completeLocalName })
        else { return nil }
        return ADStructure(type: .completeLocalName, data: Array(name.utf8))
    }

    /// The complete local name in the advertising data.
    package static func nameStructure(of set: Advertisement) -> ADStructure? {
        nameStructure(of: set.data)
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

    /// A payload with its structures so far, and the remaining space.
    private struct Payload {
        let kind: AdvertisingPayload
        let capacity: Int
        var structures: [ADStructure] = []

        init(_ kind: AdvertisingPayload, capacity: Int) {
            (self.kind, self.capacity) = (kind, capacity)
        }

        var room: Int { capacity - structures.byteCount }

        mutating func add(_ more: [ADStructure], of field: String) throws(AdvertisementError) {
            guard more.byteCount <= room else {
                throw AdvertisementError(
                    field: field, needed: more.byteCount, available: room, payload: kind, capacity: capacity)
            }
            if let long = more.first(where: { $0.data.count > ADStructure.longestData }) {
                throw AdvertisementError(
                    field: field, needed: long.byteCount, available: room, payload: kind, capacity: capacity,
                    isOfStructure: true)
            }
            structures += more
        }
    }
}

extension Advertisement {
    /// The largest length of the set's advertising data, in bytes.
    package var dataCapacity: Int {
        guard extended != nil else { return ExactAdvertisement.legacyCapacity }
        if isConnectable { return ExactAdvertisement.connectableCapacity }
        // The data of a scannable set is its scan response (Core Specification, Vol 4, Part E, 7.8.54).
        return isScannable ? 0 : ExactAdvertisement.extendedCapacity
    }

    /// The largest length of the set's scan response, in bytes.
    package var scanResponseCapacity: Int {
        guard isScannable, !(extended != nil && isConnectable) else { return 0 }
        return extended == nil ? ExactAdvertisement.legacyCapacity : ExactAdvertisement.extendedCapacity
    }
}

extension Advertisement.TxPower {
    /// The level in dBm, or `nil` if the radio chooses it.
    package var level: Int8? {
        if case .level(let level) = self { level } else { nil }
    }
}
