public import MynahCore
import MynahHCI
import MynahSupport

// Advertising, byte for byte.
extension HostRadio {
    /// The shortest interval of connectable legacy advertising, 20 ms (Core Specification, Vol 6, Part B, 4.4.2.2).
    static let shortestInterval: UInt16 = 0x0020
    /// What is used where none is asked for: 100 ms.
    static let defaultInterval: UInt16 = 0x00A0
    /// The number of the one advertising set, where there are sets.
    static let set: UInt8 = 0

    /// Starts advertising, or changes what is advertised.
    @discardableResult
    public func advertise(_ advertisement: Advertisement) async throws(RadioError) -> AdvertisingReport {
        guard state == .running else {
            throw RadioError(.invalidState, "a device can be advertised while the radio runs")
        }
        let bytes: ExactAdvertisement
        do throws(AdvertisementError) {
            bytes = try AccessoryAdvertising.compose(advertisement)
        } catch {
            throw RadioError(.advertisementRefused, "the advertisement does not fit: \(error)")
        }
        let interval = Self.interval(of: advertisement)
        if self.advertisement != nil { try await setAdvertising(false) }
        self.advertisement = advertisement
        try await setParameters(interval, isConnectable: advertisement.isConnectable)
        try await setData(bytes)
        try await setAdvertising(true)
        let exact = Duration.microseconds(Int64(interval) * 625)
        let report = AdvertisingReport(
            isOn: true, data: bytes.data.bytes, scanResponse: bytes.scanResponse.bytes,
            interval: exact...exact, isConnectable: advertisement.isConnectable, address: ownAddress)
        reported = report
        return report
    }

    /// Stops advertising.
    public func stopAdvertising() async {
        guard advertisement != nil else { return }
        advertisement = nil
        reported = .silent
        await attempt { () throws(RadioError) in try await setAdvertising(false) }
    }

    func setAdvertising(_ isOn: Bool) async throws(RadioError) {
        guard isOn || advertisement != nil || state == .running else { return }
        let doing = isOn ? "starting to advertise" : "stopping to advertise"
        switch chooseStyle() {
        case .legacy: try await command(.leSetAdvertisingEnable, [isOn ? 1 : 0], doing)
        case .extended:
            // One set, for as long as it is not stopped.
            try await command(.leSetExtendedAdvertisingEnable, [isOn ? 1 : 0, 1, Self.set, 0, 0, 0], doing)
        }
    }

    /// After a link came or ended.
    ///
    /// A controller that cannot do both refuses, and is asked again when a link ends.
    func advertiseAgain() async {
        guard state == .running, advertisement != nil else { return }
        await attempt { () throws(RadioError) in try await setAdvertising(true) }
    }

    private func setParameters(_ interval: UInt16, isConnectable: Bool) async throws(RadioError) {
        guard chooseStyle() == .legacy else {
            return try await setExtendedParameters(interval, isConnectable: isConnectable)
        }
        var writer = ByteWriter(capacity: 15)
        writer.write(interval)
        writer.write(interval)
        // ADV_IND, or ADV_SCAN_IND, which a scanner may ask for more but nobody connect to.
        writer.write(UInt8(isConnectable ? 0x00 : 0x02))
        writer.write(ownAddress?.kindCode ?? 0)
        writer.write([0, 0, 0, 0, 0, 0, 0] as [UInt8])
        writer.write([0x07, 0x00] as [UInt8])
        try await command(.leSetAdvertisingParameters, writer.bytes, "setting the advertising parameters")
    }

    /// Of the one advertising set, which sends legacy PDUs: the same bytes as legacy commands do (Vol 4, Part E, 7.8.53).
    private func setExtendedParameters(_ interval: UInt16, isConnectable: Bool) async throws(RadioError) {
        var writer = ByteWriter(capacity: 25)
        writer.write(Self.set)
        writer.write(UInt16(isConnectable ? 0x0013 : 0x0012))
        for _ in 0..<2 {
            writer.write(interval)
            writer.write(0 as UInt8)
        }
        writer.write([0x07, ownAddress?.kindCode ?? 0] as [UInt8])
        writer.write([0, 0, 0, 0, 0, 0, 0, 0] as [UInt8])
        // Any power, LE 1M, no set identifier, and no word of scan requests.
        writer.write([0x7F, 0x01, 0x00, 0x01, 0x00, 0x00] as [UInt8])
        try await command(
            .leSetExtendedAdvertisingParameters, writer.bytes, "setting the advertising parameters")
        if let ownAddress, ownAddress.kind == .random { try await setAddressOfSet(ownAddress) }
    }

    /// A set has a random address of its own (7.8.52).
    func setAddressOfSet(_ address: DeviceAddress) async throws(RadioError) {
        var writer = ByteWriter(capacity: 7)
        writer.write(Self.set)
        writer.write(address)
        try await command(
            .leSetAdvertisingSetRandomAddress, writer.bytes, "setting the random address of its advertising")
    }

    private func setData(_ bytes: ExactAdvertisement) async throws(RadioError) {
        let (data, response) = (bytes.data.bytes, bytes.scanResponse.bytes)
        let (doing, answering) = ("setting the advertising data", "setting the scan response")
        switch chooseStyle() {
        case .legacy:
            try await command(.leSetAdvertisingData, Self.padded(data), doing)
            try await command(.leSetScanResponseData, Self.padded(response), answering)
        case .extended:
            // Whole, and in one piece.
            let head: [UInt8] = [Self.set, 0x03, 0x01]
            try await command(.leSetExtendedAdvertisingData, head + Self.counted(data), doing)
            try await command(.leSetExtendedScanResponseData, head + Self.counted(response), answering)
        }
    }

    /// In 0.625 ms, within what a controller takes.
    private static func interval(of advertisement: Advertisement) -> UInt16 {
        guard let wanted = advertisement.interval else { return defaultInterval }
        let (seconds, attoseconds) = wanted.components
        guard seconds < 11 else { return 0x4000 }
        let microseconds = max(0, seconds) * 1_000_000 + attoseconds / 1_000_000_000_000
        return UInt16(clamping: min(max((microseconds + 312) / 625, Int64(shortestInterval)), 0x4000))
    }

    /// Behind its length, 31 bytes whatever it holds (Vol 4, Part E, 7.8.7).
    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        counted(bytes) + Array(repeating: 0, count: max(0, ExactAdvertisement.legacyCapacity - bytes.count))
    }

    private static func counted(_ bytes: [UInt8]) -> [UInt8] {
        let room = ExactAdvertisement.legacyCapacity
        return [UInt8(min(bytes.count, room))] + bytes.prefix(room)
    }
}
