import MynahCore
import MynahSupport

// Scanning (Core Specification, Vol 4, Part E, 7.8.10, 7.8.11, 7.8.64, 7.8.65; Vol 6, Part B, 4.4.3).
extension VirtualController {
    mutating func setScanParameters(_ reader: inout ByteReader) -> Answer? {
        guard let type = reader.readUInt8(), type <= 1, let interval = reader.readUInt16(),
            let window = reader.readUInt16(), (4...0x4000).contains(interval),
            (4...interval).contains(window), let own = reader.readUInt8(), own <= 3,
            let policy = reader.readUInt8(), policy <= 3
        else { return nil }
        guard !scan.isOn else { return .disallowed }
        scan.parameters = ScanState.Parameters(
            isActive: type == 1, interval: Int64(interval) * 625, window: Int64(window) * 625, ownKind: own,
            policy: policy)
        return .done
    }

    mutating func setExtendedScanParameters(_ reader: inout ByteReader) -> Answer? {
        guard let own = reader.readUInt8(), own <= 3, let policy = reader.readUInt8(), policy <= 3,
            let phys = reader.readUInt8(), phys & 0b101 != 0, phys & 0b101 == phys,
            reader.remaining == 5 * phys.nonzeroBitCount
        else { return nil }
        guard !scan.isOn else { return .disallowed }
        var found: ScanState.Parameters?
        for _ in 0..<phys.nonzeroBitCount {
            guard let type = reader.readUInt8(), type <= 1, let interval = reader.readUInt16(),
                let window = reader.readUInt16(), interval >= 4, (4...interval).contains(window)
            else { return nil }
            // The air has one channel for both: what is asked of the first PHY holds.
            found =
                found
                ?? ScanState.Parameters(
                    isActive: type == 1, interval: Int64(interval) * 625, window: Int64(window) * 625,
                    ownKind: own, policy: policy)
        }
        guard let found else { return nil }
        scan.parameters = found
        return .done
    }

    mutating func enableScan(_ reader: inout ByteReader) -> Answer? {
        guard let on = reader.readUInt8(), on <= 1, let filter = reader.readUInt8(), on == 0 || filter <= 1
        else { return nil }
        return changeScan(isOn: on == 1, filter: filter, duration: 0, period: 0)
    }

    mutating func enableExtendedScan(_ reader: inout ByteReader) -> Answer? {
        guard let on = reader.readUInt8(), on <= 1, let filter = reader.readUInt8(),
            let duration = reader.readUInt16(), let period = reader.readUInt16(), on == 0 || filter <= 2
        else { return nil }
        let isPeriodic = duration != 0 && period != 0
        guard on == 0 || !isPeriodic || Int64(duration) * 10 < Int64(period) * 1280 else { return nil }
        guard on == 0 || filter != 2 || period != 0 else { return nil }
        return changeScan(isOn: on == 1, filter: filter, duration: duration, period: period)
    }

    private mutating func changeScan(isOn: Bool, filter: UInt8, duration: UInt16, period: UInt16) -> Answer? {
        guard isOn else {
            scan.isOn = false
            scan.told = []
            scan.asked = []
            scan.end = nil
            return .done
        }
        guard
            let address = ownAddress(
                scan.parameters.ownKind, peer: resolving.entries.first?.peer, randomAddress: randomAddress)
        else { return nil }
        if !scan.isOn { scan.begun = now }
        scan.isOn = true
        scan.onAir = address
        scan.filtersDuplicates = filter != 0
        scan.told = []
        let lasts = Int64(duration) * 10_000
        let repeats = Int64(period) * 1_280_000
        scan.duration = duration != 0 && period != 0 ? lasts : nil
        scan.period = duration != 0 && period != 0 ? repeats : nil
        scan.end = duration == 0 ? nil : now + (period == 0 ? lasts : repeats)
        return .done
    }

    mutating func advanceScan() {
        guard scan.isOn, let end = scan.end, end <= now else { return }
        scan.told = []
        scan.asked = []
        if let period = scan.period {
            scan.end = now + period
        } else {
            scan.isOn = false
            scan.end = nil
            tellLE(HCIEvent.LESubevent.scanTimeout, [])
        }
    }

    // MARK: - Hearing

    /// Hears an advertisement: for the host, and for a link that it wants.
    mutating func hear(_ advertisement: AirAdvertisement, from station: Station, rssi: Int8) {
        // Legacy hosts cannot be told of others (Vol 4, Part E, 7.7.65.2).
        guard style == .extended || advertisement.properties.contains(.legacy) else { return }
        let identity = resolve(advertisement.address)
        guard identity.isAllowed else { return }
        if scan.hears(at: now) { hearScanning(advertisement, identity, from: station, rssi: rssi) }
        initiate(advertisement, identity, from: station, rssi: rssi)
    }

    private mutating func hearScanning(
        _ advertisement: AirAdvertisement, _ identity: Identity, from station: Station, rssi: Int8
    ) {
        guard scan.parameters.policy & 1 == 0 || acceptList.contains(identity.address) else { return }
        if let target = advertisement.target {
            // Policies 2 and 3 let through what is for an address that cannot be resolved here (Vol 6, Part B, 4.3.3).
            let isForUs = scan.onAir.map { isOwn(target, $0) } ?? false
            let mayBe =
                scan.parameters.policy & 2 != 0 && target.kind == .random && target.value >> 46 == 0b01
            guard isForUs || mayBe else { return }
        }
        report(advertisement, identity, rssi: rssi, isResponse: false)
        // Whoever filters asks until it has heard an answer, which may be lost on the way.
        guard scan.parameters.isActive, advertisement.properties.contains(.scannable),
            !(scan.filtersDuplicates && scan.told.contains(told(advertisement, identity, isResponse: true))),
            let own = scan.onAir
        else { return }
        if scan.asked.count >= ScanState.askedLimit { scan.asked = [] }
        scan.asked.insert(advertisement.address)
        outputs.append(.air(.scanRequest(scanner: own, advertiser: advertisement.address), to: station))
    }

    /// Hears an answer to what it asked.
    mutating func hearResponse(_ response: AirAdvertisement, rssi: Int8) {
        guard scan.isOn, scan.asked.remove(response.address) != nil,
            style == .extended || response.properties.contains(.legacy)
        else { return }
        let identity = resolve(response.address)
        report(response, identity, rssi: rssi, isResponse: true)
    }

    private func told(
        _ advertisement: AirAdvertisement, _ identity: Identity, isResponse: Bool
    ) -> ScanState.Told {
        ScanState.Told(
            address: identity.address, identifier: advertisement.identifier, isResponse: isResponse,
            isScannable: advertisement.properties.contains(.scannable))
    }

    /// Tells the host, unless it was told.
    private mutating func report(
        _ advertisement: AirAdvertisement, _ identity: Identity, rssi: Int8, isResponse: Bool
    ) {
        if scan.filtersDuplicates {
            if scan.told.count >= ScanState.toldLimit { scan.told = [] }
            guard scan.told.insert(told(advertisement, identity, isResponse: isResponse)).inserted else {
                return
            }
        }
        if style == .extended {
            reportExtended(advertisement, identity, rssi, isResponse: isResponse)
        } else {
            reportLegacy(advertisement, identity, rssi, isResponse: isResponse)
        }
    }

    private mutating func reportLegacy(
        _ advertisement: AirAdvertisement, _ identity: Identity, _ rssi: Int8, isResponse: Bool
    ) {
        let properties = advertisement.properties
        var writer = ByteWriter(capacity: 12 + advertisement.data.count)
        writer.write(1 as UInt8)
        let kind: LEAdvertisingReport.Kind =
            if isResponse {
                .scanResponse
            } else if properties.contains(.directed) {
                .directed
            } else if properties.contains(.connectable) {
                .connectable
            } else {
                properties.contains(.scannable) ? .scannable : .nonConnectable
            }
        writer.write(kind.rawValue)
        writer.write(identity.kindCode)
        writer.write(identity.address)
        writer.write(UInt8(advertisement.data.count))
        writer.write(advertisement.data)
        writer.write(UInt8(bitPattern: rssi))
        tellLE(HCIEvent.LESubevent.advertisingReport, writer.bytes)
    }

    private mutating func reportExtended(
        _ advertisement: AirAdvertisement, _ identity: Identity, _ rssi: Int8, isResponse: Bool
    ) {
        let isLegacy = advertisement.properties.contains(.legacy)
        var rest = advertisement.data[...]
        // What does not fit one event comes in several (7.7.65.13).
        repeat {
            let piece = rest.prefix(229)
            rest = rest.dropFirst(piece.count)
            var writer = ByteWriter(capacity: 32 + piece.count)
            writer.write(1 as UInt8)
            var type = UInt16(advertisement.properties.rawValue)
            if isResponse { type |= 0x08 }
            if !rest.isEmpty { type |= 0b01 << 5 }
            writer.write(type)
            writer.write(identity.kindCode)
            writer.write(identity.address)
            writer.write(1 as UInt8)
            writer.write(isLegacy ? 0 : advertisement.secondaryPHY)
            writer.write(advertisement.identifier ?? 0xFF)
            writer.write(isLegacy ? 0x7F : UInt8(bitPattern: advertisement.power))
            writer.write(UInt8(bitPattern: rssi))
            writer.write(0 as UInt16)
            if let target = advertisement.target {
                writer.writeWithKind(target)
            } else {
                writer.write([UInt8](repeating: 0, count: 7))
            }
            writer.write(UInt8(piece.count))
            writer.write(piece)
            tellLE(HCIEvent.LESubevent.extendedAdvertisingReport, writer.bytes)
        } while !rest.isEmpty
    }
}
