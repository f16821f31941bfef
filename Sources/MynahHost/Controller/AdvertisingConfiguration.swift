import MynahCore

extension HostAdvertiser.Configuration {
    /// The shortest interval of connectable legacy advertising, 20 ms, in units of 0.625 ms (Core
    /// Specification, Vol 6, Part B, 4.4.2.2).
    static let shortestInterval: UInt16 = 0x0020
    /// The interval unless another is asked for: 100 ms.
    static let defaultInterval: UInt16 = 0x00A0

    /// Encodes an advertisement.
    ///
    /// Throws `advertisementRefused` if it does not fit.
    init(_ advertisement: Advertisement) throws(RadioError) {
        let bytes: ExactAdvertisement
        do throws(AdvertisementError) {
            bytes = try AccessoryAdvertising.compose(advertisement)
        } catch {
            throw RadioError(.advertisementRefused, "the advertisement does not fit: \(error)")
        }
        self.init(
            interval: Self.units(of: advertisement.interval), isConnectable: advertisement.isConnectable,
            data: bytes.data.bytes, scanResponse: bytes.scanResponse.bytes)
    }

    /// Converts an interval to units of 0.625 ms, within the range that a controller accepts.
    private static func units(of interval: Duration?) -> UInt16 {
        guard let interval else { return defaultInterval }
        let (seconds, attoseconds) = interval.components
        guard seconds < 11 else { return 0x4000 }
        let microseconds = max(0, seconds) * 1_000_000 + attoseconds / 1_000_000_000_000
        return UInt16(clamping: min(max((microseconds + 312) / 625, Int64(shortestInterval)), 0x4000))
    }

    /// The report while it is on the air.
    func report(from address: DeviceAddress?) -> AdvertisingReport {
        let exact = Duration.microseconds(Int64(interval) * 625)
        return AdvertisingReport(
            isOn: true, data: data, scanResponse: scanResponse, interval: exact...exact,
            isConnectable: isConnectable, address: address)
    }
}
