public import MynahCore
import MynahDBus
import MynahSupport

/// An advertisement as bluetoothd is told it, and as bluetoothd then puts it on the air (src/advertising.c).
///
/// It composes the bytes itself: service UUIDs, solicited ones, manufacturer data, service data, appearance, raw data,
/// and the Flags last; the local name goes to the scan response. Measured before it is told: a live update that does not fit
/// ends bluetoothd before 5.74.
public struct BlueZAdvertising: Hashable, Sendable {
    /// What is advertised.
    public let advertisement: Advertisement
    /// The AD structures of the advertising data.
    public let data: [ADStructure]
    /// The AD structures of the scan response.
    public let scanResponse: [ADStructure]
    private let keepsInterval: Bool
    private let omitted: [AdvertisingReport.Omission]

    /// The advertisement of a radio that keeps the interval or does not; throws for the first field that does not fit.
    ///
    /// Exact bytes are taken apart and told as the nearest thing that bluetoothd composes; what does not fit is left out.
    public init(_ advertisement: Advertisement, keepsInterval: Bool) throws(AdvertisementError) {
        var told = advertisement
        var omitted: [AdvertisingReport.Omission] = []
        if let exact = advertisement.exact {
            var nearest = NearestAdvertisement(exact, isConnectable: advertisement.isConnectable)
            nearest.advertisement.interval = advertisement.interval
            nearest.leaveOutWhatDoesNotFit()
            told = nearest.advertisement
            omitted = nearest.omitted
        }
        for (index, structure) in told.raw.enumerated() where Self.isRefused(structure.type) {
            omitted.append(
                .init(
                    item: "raw[\(index)]",
                    reason:
                        "bluetoothd makes AD structures of type 0x\(Hex.encode([structure.type.rawValue])) itself"
                ))
        }
        told.raw.removeAll { Self.isRefused($0.type) }
        (data, scanResponse) = try Self.compose(told)
        self.advertisement = told
        self.keepsInterval = keepsInterval
        self.omitted = omitted
    }

    /// Types that make the whole registration fail.
    private static func isRefused(_ type: ADType) -> Bool {
        [0x01, 0x02, 0x06, 0x08, 0x09].contains(type.rawValue)
    }

    /// The bytes in bluetoothd's order.
    static func compose(
        _ advertisement: Advertisement
    ) throws(AdvertisementError) -> (data: [ADStructure], scanResponse: [ADStructure]) {
        var shortened = advertisement
        shortened.serviceUUIDs = advertisement.serviceUUIDs.map(\.asSent)
        shortened.solicitedServiceUUIDs = advertisement.solicitedServiceUUIDs.map(\.asSent)
        for index in shortened.serviceData.indices {
            shortened.serviceData[index].uuid = shortened.serviceData[index].uuid.asSent
        }
        shortened.includesTxPower = false
        var data: [ADStructure] = []
        // The Flags stand last, and the kernel puts the power behind them.
        let reserved = 3 + (advertisement.includesTxPower ? 3 : 0)
        for (field, structures) in AccessoryAdvertising.fields(of: shortened) {
            let available = ExactAdvertisement.legacyCapacity - reserved - data.byteCount
            guard structures.byteCount <= available else {
                throw AdvertisementError(
                    field: field, needed: structures.byteCount, available: available,
                    place: "advertising data")
            }
            data += structures
        }
        data.append(ADStructure(type: .flags, data: [AccessoryAdvertising.flags]))
        if advertisement.includesTxPower {
            let level = UInt8(bitPattern: AccessoryAdvertising.assumedTxPower)
            data.append(ADStructure(type: .txPowerLevel, data: [level]))
        }
        guard let name = AccessoryAdvertising.nameStructure(of: advertisement) else { return (data, []) }
        guard name.byteCount <= ExactAdvertisement.legacyCapacity else {
            throw AdvertisementError(
                field: "localName", needed: name.byteCount, available: ExactAdvertisement.legacyCapacity,
                place: "scan response")
        }
        return (data, [name])
    }

    /// The interval as a radio sends it: whole steps of 0.625 ms, which the kernel rounds to.
    static func rounded(_ interval: Duration) -> Duration {
        let (seconds, attoseconds) = interval.components
        let steps = (Double(seconds) * 1000 + Double(attoseconds) / 1e15) / 0.625
        return .microseconds(Int64(steps.rounded(.down)) * 625)
    }

    /// What goes on the air.
    public var report: AdvertisingReport {
        var omitted = omitted
        var interval: ClosedRange<Duration>?
        if let asked = advertisement.interval {
            if keepsInterval {
                // bluetoothd takes whole milliseconds.
                let milliseconds = Self.rounded(.milliseconds(Self.milliseconds(asked)))
                interval = milliseconds...milliseconds
                if asked < .milliseconds(20) {
                    omitted.append(.init(item: "interval", reason: "bluetoothd takes 20 ms and more"))
                }
            } else {
                omitted.append(
                    .init(
                        item: "interval",
                        reason: "bluetoothd before 5.77 ignores it unless it was started with --experimental")
                )
            }
        }
        let uuids = [
            ("serviceUUIDs", advertisement.serviceUUIDs),
            ("solicitedServiceUUIDs", advertisement.solicitedServiceUUIDs),
            ("serviceData", advertisement.serviceData.map(\.uuid)),
        ]
        for (field, list) in uuids {
            for (index, uuid) in list.enumerated() where uuid.asSent.width != uuid.width {
                omitted.append(
                    .init(
                        item: "\(field)[\(index)]",
                        reason: "bluetoothd sends \(uuid) in 16 bits, not as it is written"))
            }
        }
        if advertisement.includesTxPower {
            omitted.append(
                .init(
                    item: "txPower", reason: "the kernel writes the adapter's own level, shown here as 0 dBm")
            )
        }
        return AdvertisingReport(
            isOn: true, data: data.bytes, scanResponse: scanResponse.bytes, interval: interval,
            isConnectable: advertisement.isConnectable, omitted: omitted)
    }

    private static func milliseconds(_ duration: Duration) -> UInt32 {
        let (seconds, attoseconds) = duration.components
        return UInt32(clamping: max(20, seconds * 1000 + attoseconds / 1_000_000_000_000_000))
    }

    /// The LEAdvertisement1 properties, by name; one that is not there is not told.
    var properties: [String: DBusValue] {
        var values: [String: DBusValue] = [
            "Type": .string(advertisement.isConnectable ? "peripheral" : "broadcast"),
            "Discoverable": .bool(true),
        ]
        if !advertisement.serviceUUIDs.isEmpty {
            values["ServiceUUIDs"] = .strings(advertisement.serviceUUIDs.map(\.description))
        }
        if !advertisement.solicitedServiceUUIDs.isEmpty {
            values["SolicitUUIDs"] = .strings(advertisement.solicitedServiceUUIDs.map(\.description))
        }
        if !advertisement.manufacturerData.isEmpty {
            values["ManufacturerData"] = .dictionary(
                key: "q", value: "v",
                advertisement.manufacturerData.map { .init(.uint16($0.company), .variant(.bytes($0.data))) })
        }
        if !advertisement.serviceData.isEmpty {
            values["ServiceData"] = .dictionary(
                key: "s", value: "v",
                advertisement.serviceData.map {
                    .init(.string($0.uuid.description), .variant(.bytes($0.data)))
                })
        }
        if !advertisement.raw.isEmpty {
            values["Data"] = .dictionary(
                key: "y", value: "v",
                advertisement.raw.map { .init(.byte($0.type.rawValue), .variant(.bytes($0.data))) })
        }
        if let name = advertisement.localName, !name.isEmpty { values["LocalName"] = .string(name) }
        if let appearance = advertisement.appearance { values["Appearance"] = .uint16(appearance) }
        if advertisement.includesTxPower { values["Includes"] = .strings(["tx-power"]) }
        if let interval = advertisement.interval {
            values["MinInterval"] = .uint32(Self.milliseconds(interval))
            values["MaxInterval"] = .uint32(Self.milliseconds(interval))
        }
        return values
    }

    /// Every property that LEAdvertisement1 may have here, with its type.
    static let propertyTypes: [(name: String, type: String)] = [
        ("Type", "s"), ("ServiceUUIDs", "as"), ("SolicitUUIDs", "as"), ("ManufacturerData", "a{qv}"),
        ("ServiceData", "a{sv}"), ("Data", "a{yv}"), ("Discoverable", "b"), ("Includes", "as"),
        ("LocalName", "s"),
        ("Appearance", "q"), ("MinInterval", "u"), ("MaxInterval", "u"), ("TxPower", "n"),
    ]
}

extension BluetoothUUID {
    /// As bluetoothd sends it: one that is written in 128 bits and has 16, in 16 (bt_string_to_uuid).
    fileprivate var asSent: BluetoothUUID {
        width == .bits128 ? assignedNumber.map { BluetoothUUID($0) } ?? self : self
    }
}
