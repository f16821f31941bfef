import MynahCore
import MynahHCI

/// The advertising of one device, as far as the capture shows it.
struct ObservedAdvertising: Hashable {
    /// The different payloads, each with its number of reports, in the order of their first reports.
    struct Payloads: Hashable {
        struct Payload: Hashable {
            var bytes: [UInt8]
            var count: Int
        }

        private static let limit = 1000
        private static let changeLimit = 10_000
        private(set) var list: [Payload] = []
        /// `true` if payloads were dropped because there were too many.
        private(set) var isCut = false
        private var places: [[UInt8]: Int] = [:]
        private var last: Int?
        /// The times of the first report and of those with another payload than the one before.
        private var changes: [Int64] = []

        /// Adds a payload, and returns its index, or `nil` if there are too many.
        @discardableResult
        mutating func add(_ bytes: [UInt8], at time: Int64) -> Int32? {
            guard let place = place(of: bytes) else { return nil }
            if place != last, changes.count < Self.changeLimit { changes.append(time) }
            last = place
            list[place].count += 1
            return Int32(place)
        }

        private mutating func place(of bytes: [UInt8]) -> Int? {
            if let place = places[bytes] { return place }
            guard list.count < Self.limit else {
                isCut = true
                return nil
            }
            places[bytes] = list.count
            list.append(Payload(bytes: bytes, count: 0))
            return list.count - 1
        }

        /// The most frequent payload, or `nil` if there is none.
        ///
        /// If several are equally frequent, this is the first of them.
        var usual: [UInt8]? {
            list.reduce(nil as Payload?) { best, next in
                best.map { $0.count >= next.count } == true ? best : next
            }?.bytes
        }

        /// The mean time between two changes, or `nil` if it is not known.
        var period: Duration? {
            var gaps = zip(changes.dropFirst(), changes).map { $0 &- $1 }.filter { $0 > 0 }
            // The first payload may have been on the air before it was first heard.
            if gaps.count > 2 { gaps.removeFirst() }
            // A profile has times up to a year, and only a clock that was set makes them longer.
            return UsualTime.between(gaps).flatMap { gap in
                let period = Duration.milliseconds(max(20, (gap + 500) / 1000))
                return period <= .seconds(366 * 86_400) ? period : nil
            }
        }
    }

    private(set) var data = Payloads()
    private(set) var scanResponses = Payloads()
    private var lastReport: Int64?
    /// The times between reports, in microseconds.
    private var gaps: [Int64] = []
    /// The advertising interval in a command of the captured host, in microseconds, or `nil` if there is
    /// none.
    var setInterval: Int64?
    /// The number of gaps between reports that are needed to compute an interval.
    ///
    /// A phone that scans in windows misses many events.
    var neededGaps = 4
    /// The last kind of advertising events.
    private(set) var kind = ScanReport.Kind.connectable
    /// Whether events of several kinds were seen.
    private(set) var hasOtherKinds = false
    /// The PHYs of extended advertising, or `nil` for legacy advertising.
    private(set) var extended: Advertisement.Extended?
    /// Whether extended events with several PHYs were seen.
    private(set) var hasOtherPHYs = false
    /// The Advertising_SID of extended advertising, or `nil` if there is none.
    var identifier: UInt8?
    /// The periodic advertising of the set, or `nil` if none was seen.
    var train: ObservedTrain?
    /// The number of reports whose data was not received completely.
    var incompleteCount = 0
    private var hasKind = false
    /// The first reports, in the order in which they were heard.
    private(set) var heard: [Heard] = []

    /// A report that was heard.
    struct Heard: Hashable {
        var time: Int64
        /// The index among the payloads of its kind.
        var payload: Int32
        var kind: ScanReport.Kind
    }

    private static let heardLimit = 10_000

    var isConnectable: Bool { kind == .connectable }
    /// Whether a device that is not connectable is scannable.
    var isScannable: Bool { kind == .scannable }
    /// `true` if the device used extended advertising.
    var isExtended: Bool { extended != nil }

    /// The longest payload that can be on the air, in bytes.
    var room: Int {
        guard isExtended else { return ExactAdvertisement.legacyCapacity }
        return isConnectable ? ExactAdvertisement.connectableCapacity : ExactAdvertisement.extendedCapacity
    }

    /// A set without reports that has the `setInterval` and the `neededGaps` of this set.
    var unobserved: ObservedAdvertising {
        var set = ObservedAdvertising()
        (set.setInterval, set.neededGaps) = (setInterval, neededGaps)
        return set
    }

    /// `true` if nothing was reported.
    var isEmpty: Bool { !hasAdvertisements && train == nil && incompleteCount == 0 }
    /// Whether advertising data or a scan response was reported completely.
    var hasAdvertisements: Bool { !data.list.isEmpty || !scanResponses.list.isEmpty }
    /// The most frequent advertising data.
    var usualData: [UInt8] { data.usual ?? [] }
    /// The most frequent scan response.
    var usualScanResponse: [UInt8] { scanResponses.usual ?? [] }
    /// Whether a scan response was reported, even an empty one.
    var hasScanResponse: Bool { !scanResponses.list.isEmpty }

    mutating func addData(_ bytes: [UInt8], at time: Int64) { data.add(bytes, at: time) }
    mutating func addScanResponse(_ bytes: [UInt8], at time: Int64) {
        let index = scanResponses.add(bytes, at: time)
        if let index { note(Heard(time: time, payload: index, kind: .scanResponse)) }
    }

    /// Notes the kind and the PHYs of advertising events.
    mutating func note(_ kind: ScanReport.Kind, _ extended: Advertisement.Extended?) {
        hasOtherKinds = hasOtherKinds || hasKind && kind != self.kind
        hasOtherPHYs = hasOtherPHYs || hasKind && extended != self.extended
        (self.kind, self.extended, hasKind) = (kind, extended, true)
    }

    /// Notes the interval of the set's periodic advertising, in units of 1.25 ms.
    mutating func noteTrain(_ interval: ClosedRange<UInt16>) {
        train = train ?? ObservedTrain()
        train?.note(interval)
    }

    /// Notes a train to which a host is synchronized.
    ///
    /// If the set's advertising was not heard, its kind and its PHY are those of its train.
    mutating func noteTrain(_ sync: LEPeriodicSync) {
        identifier = sync.identifier
        noteTrain(sync.interval...sync.interval)
        guard !hasKind else { return }
        kind = .nonConnectable
        extended = extended ?? Advertisement.Extended()
        extended?.secondaryPHY = sync.phy
    }

    private mutating func note(_ report: Heard) {
        if heard.count < Self.heardLimit { heard.append(report) }
    }

    /// Adds a report of advertising data.
    mutating func hear(_ bytes: [UInt8], at time: Int64) {
        let index = data.add(bytes, at: time)
        if let index { note(Heard(time: time, payload: index, kind: kind)) }
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

extension LEPeriodicSync {
    /// The Advertising_SID, or `nil` if it is not valid.
    var identifier: UInt8? { self.set <= 0x0F ? self.set : nil }
}
