import MynahCore

/// The advertising of one device, as far as the capture shows it.
struct ObservedAdvertising: Hashable {
    /// The different payloads, each with its number of reports, in the order of their first reports.
    struct Payloads: Hashable {
        struct Payload: Hashable {
            var bytes: [UInt8]
            var count: Int
            /// The time of the payload's first report, in microseconds, or `nil` if it is not known.
            var time: Int64?
        }

        private static let limit = 1000
        private(set) var list: [Payload] = []
        /// `true` if payloads were dropped because there were too many.
        private(set) var isCut = false
        private var places: [[UInt8]: Int] = [:]

        mutating func add(_ bytes: [UInt8], at time: Int64? = nil) {
            if let place = places[bytes] {
                list[place].count += 1
            } else if list.count < Self.limit {
                places[bytes] = list.count
                list.append(Payload(bytes: bytes, count: 1, time: time))
            } else {
                isCut = true
            }
        }

        /// The most frequent payload, or the first one of several, or `nil` if there is none.
        var usual: [UInt8]? {
            list.reduce(nil as Payload?) { best, next in
                best.map { $0.count >= next.count } == true ? best : next
            }?.bytes
        }

        /// The mean time between the first reports of successive payloads, or `nil` if it is not known.
        var period: Duration? {
            let times = list.compactMap(\.time)
            guard times.count > 1, times.count == list.count, let first = times.first, let last = times.last,
                last > first
            else { return nil }
            let mean = (last - first) / Int64(times.count - 1)
            return .milliseconds(max(20, (mean + 500) / 1000))
        }
    }

    private(set) var data = Payloads()
    private(set) var scanResponses = Payloads()
    private var lastReport: Int64?
    /// The times between reports, in microseconds.
    private var gaps: [Int64] = []
    /// The interval that the host set, in microseconds.
    var setInterval: Int64?
    /// The number of gaps between reports that are needed to compute an interval.
    ///
    /// A phone that scans in windows misses many events.
    var neededGaps = 4
    var isConnectable = true
    /// Whether a device that is not connectable is scannable.
    var isScannable = false
    /// `true` if the device used extended advertising.
    var isExtended = false

    /// The longest payload that can be on the air, in bytes.
    var room: Int {
        guard isExtended else { return ExactAdvertisement.legacyCapacity }
        return isConnectable ? ExactAdvertisement.connectableCapacity : ExactAdvertisement.extendedCapacity
    }

    /// `true` if no payload was reported.
    var isEmpty: Bool { data.list.isEmpty && scanResponses.list.isEmpty }
    /// The most frequent advertising data.
    var usualData: [UInt8] { data.usual ?? [] }
    /// The most frequent scan response.
    var usualScanResponse: [UInt8] { scanResponses.usual ?? [] }
    /// Whether a scan response was reported, even an empty one.
    var hasScanResponse: Bool { !scanResponses.list.isEmpty }

    mutating func addData(_ bytes: [UInt8]) { data.add(bytes) }
    mutating func addScanResponse(_ bytes: [UInt8], at time: Int64? = nil) {
        scanResponses.add(bytes, at: time)
    }

    /// Adds a report of advertising data.
    mutating func hear(_ bytes: [UInt8], at time: Int64) {
        data.add(bytes, at: time)
        defer { lastReport = time }
        guard let lastReport, gaps.count < 10_000 else { return }
        // One event is sent on up to three channels within 10 ms (Core Specification, Vol 6, Part B,
        // 4.4.2.2).
        let gap = time &- lastReport
        if gap >= 10_000, gap <= 60_000_000 { gaps.append(gap) }
    }

    /// The advertising interval in microseconds, or `nil` if there were too few reports.
    ///
    /// The time between two events is the interval plus a random delay of up to 10 ms (4.4.2.2.1). If events
    /// were missed, the time is a multiple of that, and counts for as many events. A late report makes one
    /// time longer and the next one shorter, which the mean compensates. The result is rounded to a common
    /// interval.
    var interval: Int64? {
        if let setInterval { return setInterval }
        guard gaps.count >= neededGaps else { return nil }
        let sorted = gaps.sorted()
        // A shorter gap may follow a late report, and a longer gap may contain a missed event.
        let base = sorted[gaps.count / 4]
        let near = gaps.filter { $0 <= base * 4 }
        let events = near.reduce(0) { $0 + max(1, ($1 + base / 2) / base) }
        let mean = near.reduce(0, +) / events - 5000
        // Some devices have no random delay, but make the interval longer by half of it.
        let middle = mean + 2500
        if let usual = Self.usual.min(by: { abs($0 - middle) < abs($1 - middle) }),
            abs(usual - middle) <= max(4500, mean / 50)
        {
            return usual
        }
        return min(max(20_000, mean / 625 * 625), 10_240_000)
    }

    /// The intervals of the Accessory Design Guidelines for Apple Devices, and round intervals, in
    /// microseconds.
    private static let usual: [Int64] = [
        20_000, 30_000, 40_000, 50_000, 60_000, 100_000, 152_500, 200_000, 211_250, 250_000, 318_750, 417_500,
        500_000, 546_250, 760_000, 852_500, 1_000_000, 1_022_500, 1_285_000, 2_000_000, 2_500_000, 5_000_000,
        10_000_000,
    ]
}
