package import MynahCore
import MynahDBus
import MynahSupport

/// An advertising set as it is registered with bluetoothd, and the bytes that bluetoothd sends for it
/// (src/advertising.c).
///
/// bluetoothd composes the bytes in this order: service UUIDs, solicited service UUIDs, manufacturer data,
/// service data, appearance, raw data, and the Flags. A set that is not connectable has no Flags of
/// bluetoothd, which refuses such a set if it is discoverable.
///
/// The local name is sent in the scan response. There it follows the fields that are registered for the scan
/// response (from 5.80 on), and precedes the raw data. Extended advertising that is connectable has no scan
/// response, and the name follows the service data.
///
/// The length is checked before the registration, because a live change that does not fit terminates
/// bluetoothd before 5.74.
package struct BlueZAdvertising: Hashable, Sendable {
    /// The advertisement to register.
    package let advertisement: Advertisement
    /// The AD structures of the advertising data.
    package let data: [ADStructure]
    /// The AD structures of the scan response.
    package let scanResponse: [ADStructure]
    /// The parts of the requested exact bytes that are not sent, or are sent only partly.
    package let lost: [AdvertisingReport.Omission]
    /// The fields of the scan response besides the name.
    private let beside: Advertisement.Contents
    let keepsInterval: Bool
    /// Whether the requested advertisement specifies the exact bytes to send.
    let isExact: Bool
    private let omitted: [AdvertisingReport.Omission]

    /// Encodes an advertisement for a radio with these capabilities.
    ///
    /// Throws an error for the first field that does not fit.
    ///
    /// If the advertisement specifies exact bytes, the nearest advertisement that bluetoothd can compose is
    /// encoded. Fields that do not fit are then left out.
    package init(
        _ advertisement: Advertisement, keepsInterval: Bool, placesScanResponse: Bool = false,
        extendedCapacity: Int = ExactAdvertisement.legacyCapacity
    ) throws(AdvertisementError) {
        var told = advertisement
        told.otherSets = []
        var beside = advertisement.scanResponse
        if let name = beside.localName { told.localName = name }
        (told.scanResponse, beside.localName) = (Advertisement.Contents(), nil)
        var omitted: [AdvertisingReport.Omission] = []
        var lost: [AdvertisingReport.Omission] = []
        if let exact = advertisement.exact {
            var nearest = NearestAdvertisement(
                exact, isConnectable: advertisement.isConnectable, placesScanResponse: placesScanResponse)
            nearest.advertisement.interval = advertisement.interval
            nearest.advertisement.name = advertisement.name
            nearest.leaveOutWhatDoesNotFit()
            (told, beside) = (nearest.advertisement, nearest.scanResponse)
            (omitted, lost) = (nearest.omitted, nearest.lost)
        }
        for (index, structure) in told.raw.enumerated() where Self.isRefused(structure.type) {
            omitted.append(
                .init(item: "raw[\(index)]", reason: Self.refusal(of: structure.type)))
        }
        told.raw.removeAll { Self.isRefused($0.type) }
        for structure in beside.raw where Self.isRefused(structure.type) {
            omitted.append(.init(item: "raw", reason: Self.refusal(of: structure.type)))
        }
        beside.raw.removeAll { Self.isRefused($0.type) }
        if told.flagsOnBlueZ == nil {
            let without = "bluetoothd sends no Flags in advertising that is not connectable; "
            let added = "the kernel adds Flags 04 if BR/EDR is off, as with ControllerMode = le"
            let reason = (advertisement.asksForFlags ? without : "") + added
            omitted.append(.init(item: "flags", reason: reason))
        }
        do throws(AdvertisementError) {
            (data, scanResponse) = try Self.compose(
                told, scanResponse: beside, extendedCapacity: extendedCapacity)
        } catch {
            var error = error
            error.set = advertisement.name
            throw error
        }
        self.advertisement = told
        self.beside = beside
        self.keepsInterval = keepsInterval
        self.isExact = advertisement.exact != nil
        self.omitted = omitted
        self.lost = lost
    }

    /// Whether an AD structure of a type, sent as raw data, makes the whole registration fail
    /// (src/shared/ad.c).
    ///
    /// Such types have fields of their own, or are not allowed.
    private static func isRefused(_ type: ADType) -> Bool {
        switch type.rawValue {
        case 0x01...0x0A, 0x0D...0x12, 0x14...0x23, 0x27...0x2B, 0x3D, 0xFF: true
        default: false
        }
    }

    private static func refusal(of type: ADType) -> String {
        "bluetoothd accepts no raw AD structures of type 0x\(Hex.encode([type.rawValue]))"
    }

    /// Composes the AD structures in bluetoothd's order.
    ///
    /// `beside` has the fields of the scan response besides the name.
    static func compose(
        _ advertisement: Advertisement,
        scanResponse beside: Advertisement.Contents = Advertisement.Contents(),
        extendedCapacity: Int = ExactAdvertisement.legacyCapacity
    ) throws(AdvertisementError) -> (data: [ADStructure], scanResponse: [ADStructure]) {
        var shortened = advertisement.data.asSent
        shortened.txPower = nil
        let capacity =
            advertisement.extended == nil
            ? ExactAdvertisement.legacyCapacity : min(extendedCapacity, advertisement.dataCapacity)
        var data: [ADStructure] = []
        // bluetoothd adds the Flags last, and then the kernel adds the transmit power. The kernel may add
        // Flags to a set without any, and does not check whether they fit.
        let flags = advertisement.flagsOnBlueZ.map { [ADStructure(type: .flags, data: [$0])] } ?? []
        let reserved = 3 + (advertisement.txPower == nil ? 0 : 3)
        var fields = AccessoryAdvertising.fields(of: shortened)
        if advertisement.hasNameInData, let name = AccessoryAdvertising.nameStructure(of: advertisement) {
            let following = fields.firstIndex { ["appearance", "raw"].contains($0.field) }
            fields.insert(("localName", [name]), at: following ?? fields.endIndex)
        }
        for (field, structures) in fields {
            let available = capacity - reserved - data.byteCount
            guard structures.byteCount <= available else {
                throw AdvertisementError(
                    field: field, needed: structures.byteCount, available: available,
                    payload: .data, capacity: capacity)
            }
            data += structures
        }
        data += flags
        if let txPower = advertisement.txPower {
            let level = UInt8(bitPattern: txPower.level ?? AccessoryAdvertising.assumedTxPower)
            data.append(ADStructure(type: .txPowerLevel, data: [level]))
        }
        return (data, try composeScanResponse(beside.asSent, advertisement))
    }

    private static func composeScanResponse(
        _ beside: Advertisement.Contents, _ advertisement: Advertisement
    ) throws(AdvertisementError) -> [ADStructure] {
        var fields = AccessoryAdvertising.fields(of: beside)
        if !advertisement.hasNameInData, let name = AccessoryAdvertising.nameStructure(of: advertisement) {
            fields.insert(
                ("localName", [name]), at: fields.firstIndex { $0.field == "raw" } ?? fields.endIndex)
        }
        var structures: [ADStructure] = []
        for (field, more) in fields {
            let available = ExactAdvertisement.legacyCapacity - structures.byteCount
            guard more.byteCount <= available else {
                throw AdvertisementError(
                    field: field, needed: more.byteCount, available: available, payload: .scanResponse)
            }
            structures += more
        }
        return structures
    }

    /// Rounds an interval down to a multiple of 0.625 ms, as the kernel does.
    static func rounded(_ interval: Duration) -> Duration {
        let (seconds, attoseconds) = interval.components
        let steps = (Double(seconds) * 1000 + Double(attoseconds) / 1e15) / 0.625
        return .microseconds(Int64(steps.rounded(.down)) * 625)
    }

    /// The report of the advertisement while it is on the air.
    package var report: AdvertisingReport {
        var omitted = omitted + lost
        var interval: ClosedRange<Duration>?
        if let asked = advertisement.interval {
            if keepsInterval {
                // bluetoothd accepts only whole milliseconds.
                let milliseconds = Self.rounded(.milliseconds(Self.milliseconds(asked)))
                let longest = advertisement.longestInterval ?? asked
                interval = milliseconds...Self.rounded(.milliseconds(Self.milliseconds(longest)))
                if asked < .milliseconds(20) {
                    omitted.append(.init(item: "interval", reason: "bluetoothd's minimum is 20 ms"))
                } else if milliseconds != asked {
                    omitted.append(
                        .init(
                            item: "interval",
                            reason:
                                "bluetoothd needs whole milliseconds, and the controller steps of 0.625 ms"))
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
                        // A UUID from exact bytes has no index in the profile's list.
                        item: isExact ? field : "\(field)[\(index)]",
                        reason: "bluetoothd sends \(uuid) in 16 bits, not as it is written"))
            }
        }
        switch advertisement.txPower {
        case nil: break
        case .radio:
            let reason = "the kernel writes the adapter's own level, shown here as 0 dBm"
            omitted.append(.init(item: "txPower", reason: reason))
        case .level:
            let reason = "the kernel writes the level that the adapter chose for the requested one"
            omitted.append(.init(item: "txPower", reason: reason))
        }
        var report = AdvertisingReport(
            isOn: true, data: data.bytes, scanResponse: scanResponse.bytes, interval: interval,
            isConnectable: advertisement.isConnectable, omitted: omitted)
        report.set = advertisement.name
        report.extended = advertisement.extended
        report.isScannable =
            advertisement.extended == nil && (advertisement.isConnectable || !scanResponse.isEmpty)
        return report
    }

    private static func milliseconds(_ duration: Duration) -> UInt32 {
        let (seconds, attoseconds) = duration.components
        return UInt32(clamping: max(20, seconds * 1000 + attoseconds / 1_000_000_000_000_000))
    }

    /// The properties of the D-Bus interface LEAdvertisement1, by name.
    var properties: [String: DBusValue] {
        var values: [String: DBusValue] = [
            "Type": .string(advertisement.isConnectable ? "peripheral" : "broadcast")
        ]
        if advertisement.flagsOnBlueZ != nil { values["Discoverable"] = .bool(true) }
        if let extended = advertisement.extended {
            values["SecondaryChannel"] = .string(extended.secondaryChannel)
        }
        if let level = advertisement.txPower?.level { values["TxPower"] = .int16(Int16(level)) }
        values.merge(Self.lists(of: advertisement.data)) { old, _ in old }
        values.merge(scanResponseProperties) { old, _ in old }
        if let name = advertisement.localName, !name.isEmpty { values["LocalName"] = .string(name) }
        if let appearance = advertisement.appearance { values["Appearance"] = .uint16(appearance) }
        if advertisement.txPower != nil { values["Includes"] = .strings(["tx-power"]) }
        if let interval = advertisement.intervals {
            values["MinInterval"] = .uint32(Self.milliseconds(interval.lowerBound))
            values["MaxInterval"] = .uint32(Self.milliseconds(interval.upperBound))
        }
        return values
    }

    /// The properties of the scan response.
    ///
    /// bluetoothd reads them at the registration, and later only with `--experimental`.
    private var scanResponseProperties: [String: DBusValue] {
        Dictionary(
            uniqueKeysWithValues: Self.lists(of: beside).map { name, value in ("ScanResponse" + name, value) }
        )
    }

    /// Whether this advertisement can replace another one without a new registration.
    ///
    /// If only the other one has a scan response, the result is `false`, because the kernel would continue to
    /// send the old scan response.
    func isLiveChange(of other: BlueZAdvertising) -> Bool {
        let (new, old) = (properties, other.properties)
        return scanResponseProperties == other.scanResponseProperties
            && (!report.scanResponse.isEmpty || other.report.scanResponse.isEmpty)
            && Self.fixedProperties.allSatisfy { new[$0] == old[$0] }
            && (advertisement.extended == nil || new["Includes"] == old["Includes"])
    }

    /// The properties that cannot change without a new registration.
    private static let fixedProperties = [
        "Type", "SecondaryChannel", "MinInterval", "MaxInterval", "TxPower",
    ]

    private static func lists(of contents: Advertisement.Contents) -> [String: DBusValue] {
        var values: [String: DBusValue] = [:]
        if !contents.serviceUUIDs.isEmpty {
            values["ServiceUUIDs"] = .strings(contents.serviceUUIDs.map(\.description))
        }
        if !contents.solicitedServiceUUIDs.isEmpty {
            values["SolicitUUIDs"] = .strings(contents.solicitedServiceUUIDs.map(\.description))
        }
        if !contents.manufacturerData.isEmpty {
            values["ManufacturerData"] = .dictionary(
                key: "q", value: "v",
                contents.manufacturerData.map { .init(.uint16($0.company), .variant(.bytes($0.data))) })
        }
        if !contents.serviceData.isEmpty {
            values["ServiceData"] = .dictionary(
                key: "s", value: "v",
                contents.serviceData.map {
                    .init(.string($0.uuid.description), .variant(.bytes($0.data)))
                })
        }
        if !contents.raw.isEmpty {
            values["Data"] = .dictionary(
                key: "y", value: "v",
                contents.raw.map { .init(.byte($0.type.rawValue), .variant(.bytes($0.data))) })
        }
        return values
    }

    /// All properties that the radio may use, with their D-Bus types.
    static let propertyTypes: [(name: String, type: String)] = [
        ("Type", "s"), ("ServiceUUIDs", "as"), ("SolicitUUIDs", "as"), ("ManufacturerData", "a{qv}"),
        ("ServiceData", "a{sv}"), ("Data", "a{yv}"), ("Discoverable", "b"), ("Includes", "as"),
        ("LocalName", "s"),
        ("Appearance", "q"), ("MinInterval", "u"), ("MaxInterval", "u"), ("TxPower", "n"),
        ("ScanResponseServiceUUIDs", "as"), ("ScanResponseSolicitUUIDs", "as"),
        ("ScanResponseManufacturerData", "a{qv}"), ("ScanResponseServiceData", "a{sv}"),
        ("ScanResponseData", "a{yv}"), ("SecondaryChannel", "s"),
    ]
}

extension Advertisement {
    /// The Flags that bluetoothd sends for the set, or `nil` for none.
    fileprivate var flagsOnBlueZ: UInt8? { isConnectable && flags != nil ? Self.usualFlags : nil }

    /// Whether Flags were requested.
    fileprivate var asksForFlags: Bool {
        exact.map { $0.data.contains { $0.type == .flags } } ?? (flags != nil)
    }

    /// Whether bluetoothd puts the name into the advertising data, because there is no scan response.
    fileprivate var hasNameInData: Bool { extended != nil && isConnectable }
}

extension Advertisement.Extended {
    /// The value of the property `SecondaryChannel`.
    ///
    /// For `Coded`, the kernel uses LE Coded for the primary advertising, too.
    fileprivate var secondaryChannel: String {
        switch secondaryPHY {
        case .le1M: "1M"
        case .le2M: "2M"
        case .coded: "Coded"
        }
    }
}

extension BluetoothUUID {
    /// The UUID as bluetoothd sends it: in 16 bits if possible, even if the profile has all 128
    /// (bt_string_to_uuid).
    fileprivate var asSent: BluetoothUUID {
        width == .bits128 ? assignedNumber.map { BluetoothUUID($0) } ?? self : self
    }
}

extension Advertisement.Contents {
    /// The fields as bluetoothd sends them.
    fileprivate var asSent: Advertisement.Contents {
        var sent = self
        sent.serviceUUIDs = serviceUUIDs.map(\.asSent)
        sent.solicitedServiceUUIDs = solicitedServiceUUIDs.map(\.asSent)
        for index in sent.serviceData.indices {
            sent.serviceData[index].uuid = sent.serviceData[index].uuid.asSent
        }
        return sent
    }
}
