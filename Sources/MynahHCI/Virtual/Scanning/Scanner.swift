import MynahCore
import MynahSupport

/// The scanning state of a Link Layer: when it listens, the devices to which it sends scan requests, and its
/// reports (Core Specification, Vol 6, Part B, 4.4.3).
struct Scanner: Sendable {
    struct Parameters: Sendable {
        var isActive = false
        /// The scan interval, in microseconds.
        var interval: Int64 = 10_000
        /// The scan window, in microseconds.
        var window: Int64 = 10_000
        var ownType: UInt8 = 0
        /// The scanning filter policy: bit 0 uses the filter accept list, and bit 1 accepts directed
        /// advertising to an unresolvable target.
        var policy: UInt8 = 0
    }

    /// The settings of a scanner that is on, and the time at which it stops.
    struct Scan: Sendable {
        let begun: AirTime
        /// The address in scan requests.
        var onAir: DeviceAddress
        var filtersDuplicates: Bool
        /// The time at which the scan ends, or its next period begins; `nil` if it has no duration.
        var end: AirTime?
        /// The duration of listening in each period, and the length of a period, in microseconds; `nil` if
        /// the scan has no periods.
        var period: (duration: Int64, length: Int64)?
    }

    /// The properties by which duplicate reports are recognized.
    private struct Reported: Hashable {
        var address: DeviceAddress
        var identifier: UInt8?
        var isResponse: Bool
        var isScannable: Bool

        init(_ report: ScanReport, isResponse: Bool) {
            address = report.identity.address
            identifier = report.advertisement.identifier
            self.isResponse = isResponse
            isScannable = report.advertisement.properties.contains(.scannable)
        }
    }

    /// A set that was sent a scan request.
    private struct Asked: Hashable {
        var address: DeviceAddress
        var identifier: UInt8?

        init(_ advertisement: AirAdvertisement) {
            (address, identifier) = (advertisement.address, advertisement.identifier)
        }
    }

    /// The largest number of remembered reports, which is more than real controllers remember.
    private static let reportedLimit = 8192
    private static let askedLimit = 1024

    var parameters = Parameters()
    /// The scan, or `nil` if the scanner is off.
    private(set) var scan: Scan?
    private var reported: Set<Reported> = []
    /// The sets that were sent a scan request and have not answered.
    private var asked: Set<Asked> = []

    var isOn: Bool { scan != nil }
    /// Whether the scanner is on and uses the filter accept list.
    var usesAcceptList: Bool { isOn && parameters.policy & 1 == 1 }
    /// The time at which the scan ends or begins its next period, or `nil` for never.
    var due: AirTime? { scan?.end }

    /// Begins a scan, or changes the settings of the current one.
    mutating func begin(_ wanted: Scan) {
        scan = wanted
        reported = []
    }

    mutating func stop() {
        scan = nil
        reported = []
        asked = []
    }

    /// Ends the scan, or begins its next period, if that is due.
    mutating func advance(to now: AirTime, _ outbox: inout ControllerOutbox) {
        guard let end = scan?.end, end <= now else { return }
        reported = []
        asked = []
        if let period = scan?.period {
            scan?.end = now + period.length
        } else {
            scan = nil
            outbox.reportLE(HCIEvent.LESubevent.scanTimeout, [])
        }
    }

    // MARK: Hearing

    /// Whether the scanner listens at this time: only within its window.
    func listens(at time: AirTime) -> Bool {
        guard let scan else { return false }
        let elapsed = time - scan.begun
        if let period = scan.period, elapsed % period.length >= period.duration { return false }
        return parameters.window >= parameters.interval || elapsed % parameters.interval < parameters.window
    }

    /// Reports a received advertisement, and sends a scan request if the scan is active.
    mutating func hear(
        _ heard: ScanReport, from station: Station, _ acceptList: FilterAcceptList,
        _ resolving: ResolvingList, at now: AirTime, _ outbox: inout ControllerOutbox
    ) {
        guard let scan, listens(at: now) else { return }
        guard parameters.policy & 1 == 0 || acceptList.contains(heard.identity) else { return }
        if let target = heard.advertisement.target {
            // Policies 2 and 3 also let through a target that can't be resolved (Vol 6, Part B, 4.3.3).
            guard
                resolving.isLocal(target, own: scan.onAir)
                    || parameters.policy & 2 != 0 && target.isResolvable
            else { return }
        }
        report(heard, isResponse: false, &outbox)
        // A response may be lost: the scanner asks until it has heard one.
        guard parameters.isActive, heard.advertisement.properties.contains(.scannable),
            !(scan.filtersDuplicates && reported.contains(Reported(heard, isResponse: true)))
        else { return }
        if self.asked.count >= Self.askedLimit { self.asked = [] }
        let asked = Asked(heard.advertisement)
        self.asked.insert(asked)
        outbox.transmit(
            .scanRequest(scanner: scan.onAir, advertiser: asked.address, identifier: asked.identifier),
            to: station)
    }

    /// Reports a scan response.
    mutating func hearResponse(
        _ response: AirAdvertisement, rssi: Int8, _ resolving: inout ResolvingList,
        _ outbox: inout ControllerOutbox
    ) {
        guard isOn, asked.remove(Asked(response)) != nil,
            outbox.isExtended || response.properties.contains(.legacy)
        else { return }
        let identity = resolving.resolve(response.address)
        report(ScanReport(response, identity, rssi: rssi), isResponse: true, &outbox)
    }

    private mutating func report(_ heard: ScanReport, isResponse: Bool, _ outbox: inout ControllerOutbox) {
        if scan?.filtersDuplicates ?? false {
            if reported.count >= Self.reportedLimit { reported = [] }
            guard reported.insert(Reported(heard, isResponse: isResponse)).inserted else { return }
        }
        if outbox.isExtended {
            heard.reportExtended(isResponse: isResponse, to: &outbox)
        } else {
            heard.reportLegacy(isResponse: isResponse, to: &outbox)
        }
    }
}
