import MynahCore

extension HostAdvertiser.Configuration {
    /// The shortest interval of connectable legacy advertising, 20 ms, in units of 0.625 ms (Core
    /// Specification, Vol 6, Part B, 4.4.2.2).
    static let shortestInterval: UInt16 = 0x0020
    /// The default interval, 100 ms, in units of 0.625 ms.
    static let defaultInterval: UInt16 = 0x00A0

    /// Encodes an advertising set; throws `advertisementRefused` if the data does not fit.
    init(_ set: Advertisement, address: HostAdvertiser.Address) throws(RadioError) {
        let bytes: ExactAdvertisement
        do throws(AdvertisementError) {
            bytes = try AccessoryAdvertising.compose(set)
        } catch {
            throw RadioError(.advertisementRefused, "the advertisement does not fit: \(error)")
        }
        let shortest = set.intervals.map { Self.units(of: $0.lowerBound) } ?? Self.defaultInterval
        let longest = set.intervals.map { Self.units(of: $0.upperBound) } ?? Self.defaultInterval
        self.init(
            name: set.name,
            parameters: HostAdvertiser.Parameters(
                interval: shortest...longest, isConnectable: set.isConnectable,
                isScannable: set.isScannable && !(set.extended != nil && set.isConnectable),
                extended: set.extended),
            address: address, data: bytes.data.bytes, scanResponse: bytes.scanResponse.bytes,
            periodic: set.periodic.map {
                HostAdvertiser.Periodic(
                    interval: Self.periodicUnits(of: $0.interval), data: bytes.periodic.bytes)
            })
    }

    /// The interval in units of 0.625 ms, limited to the range that a controller accepts.
    private static func units(of interval: Duration) -> UInt16 {
        let (seconds, attoseconds) = interval.components
        guard seconds < 11 else { return 0x4000 }
        let microseconds = max(0, seconds) * 1_000_000 + attoseconds / 1_000_000_000_000
        return UInt16(clamping: min(max((microseconds + 312) / 625, Int64(shortestInterval)), 0x4000))
    }

    /// Converts an interval of periodic advertising to units of 1.25 ms, within the range of the commands.
    private static func periodicUnits(of interval: ClosedRange<Duration>) -> ClosedRange<UInt16> {
        func units(_ duration: Duration) -> UInt16 {
            let microseconds = min(max(duration, .zero), .seconds(90)) / .microseconds(1)
            return UInt16(clamping: max(Int((microseconds + 625) / 1250), 6))
        }
        return units(interval.lowerBound)...units(interval.upperBound)
    }

    /// Returns the report that describes this set while it is on the air.
    func report(named name: String, from address: DeviceAddress?) -> AdvertisingReport {
        let shortest = Duration.microseconds(Int64(parameters.interval.lowerBound) * 625)
        let longest = Duration.microseconds(Int64(parameters.interval.upperBound) * 625)
        var report = AdvertisingReport(
            isOn: true, data: data, scanResponse: scanResponse, interval: shortest...longest,
            isConnectable: parameters.isConnectable, address: address)
        report.set = name
        report.isScannable = parameters.isScannable
        report.extended = parameters.extended
        report.periodic = periodic.map {
            AdvertisingReport.Periodic(
                data: $0.data,
                interval: .microseconds(Int64($0.interval.lowerBound) * 1250)
                    ... .microseconds(Int64($0.interval.upperBound) * 1250))
        }
        return report
    }
}

extension Advertisement {
    /// The reason why the set needs the extended advertising commands, or `nil` if it does not (Core
    /// Specification, Vol 4, Part E, 7.8.52 to 7.8.60).
    var needForExtendedCommands: String? {
        if !otherSets.isEmpty { return "several advertising sets" }
        if extended != nil { return "extended advertising" }
        return address == nil ? nil : "an advertising set with an address of its own"
    }
}
