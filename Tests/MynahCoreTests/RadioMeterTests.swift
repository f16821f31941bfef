import MynahCore
import Testing

/// The figures are worked out by hand from the Core Specification, Vol 6, Part B.
///
/// On LE 1M a byte takes 8 µs. An empty data PDU is 1 byte of preamble, 4 of access address, 2 of header and
/// 3 of CRC (2.1): 80 µs. T_IFS is 150 µs (4.1.1). A connection event without data is two empty PDUs with
/// T_IFS between them: 80 + 150 + 80 = 310 µs.
@Suite struct RadioMeterTests {
    static func activity(_ change: (inout RadioMeter.Activity) -> Void) -> RadioMeter.Activity {
        var activity = RadioMeter.Activity()
        change(&activity)
        return activity
    }

    static func microseconds(_ use: AirUse) -> Int { Int((use.airtime / .microseconds(1)).rounded()) }

    // MARK: Advertising and scanning

    /// Interval in milliseconds, bytes of data, seconds; whole events, and their airtime in microseconds.
    @Test(arguments: [
        // 60 s / (100 ms + 5 ms) = 571.43 events of 3 × (80 + 8 × (6 + 20) + 150) = 1314 µs: 750,857 µs.
        (interval: 100.0, length: 20, seconds: 60, events: 571, airtime: 750_857),
        // An iPhone in the foreground: 60 s / 35 ms = 1714.29 events of 3 × (80 + 8 × (6 + 7) + 150) = 1002
        // µs.
        (interval: 30.0, length: 7, seconds: 60, events: 1714, airtime: 1_717_714),
        // In the background: 60 s / 186.25 ms = 322.15 events of 3 × (80 + 8 × (6 + 3) + 150) = 906 µs.
        (interval: 181.25, length: 3, seconds: 60, events: 322, airtime: 291_866),
        // The longest: 31 bytes make 3 × (80 + 296 + 150) = 1578 µs, 1,000 times in 25 s at 20 ms.
        (interval: 20.0, length: 31, seconds: 25, events: 1000, airtime: 1_578_000),
    ])
    func `advertising events follow from the interval and the mean of the random delay`(
        row: (interval: Double, length: Int, seconds: Int, events: Int, airtime: Int)
    ) {
        var meter = RadioMeter()
        meter.setActivity(
            Self.activity {
                $0.advertising = [.init(interval: .milliseconds(row.interval), dataLength: row.length)]
            }, at: .seconds(7))
        let use = meter.use(of: [], at: .seconds(7 + row.seconds)).advertising
        #expect(Int(use.advertisingEvents.rounded()) == row.events)
        #expect(Self.microseconds(use) == row.airtime)
    }

    /// Extended advertising on LE 1M, on LE 2M and on LE Coded with S=8, for one event, and its train.
    ///
    /// ADV_EXT_IND has 7 bytes: header length, flags, 2 of ADI and 3 of AuxPtr. AUX_ADV_IND has 10 before the
    /// data: header length, flags, 6 of AdvA and 2 of ADI; SyncInfo has 18 more (2.3.4). AUX_SYNC_IND has 2.
    /// A PDU of n bytes takes 80 + 8 n µs on LE 1M, 4 × (11 + n) µs on LE 2M, and on LE Coded with S=8
    /// 80 + 256 + 16 + 24 + 64 × (5 + n) + 24 = 720 + 64 n µs (2.1 and 2.2).
    @Test(
        arguments: [
            // 3 × 136 + 80 + 8 × 30.
            (
                phy: AdvertisingPHY.le1M, isCoded: false, length: 20, isAnswered: false, train: nil,
                airtime: 728
            ),
            // The same with one T_IFS.
            (phy: .le1M, isCoded: false, length: 20, isAnswered: true, train: nil, airtime: 878),
            // 3 × 136 + 4 × 41. Of 600 bytes, 242 and 248 are in two PDUs of 255, and 110 in one of 4 + 110.
            (phy: .le2M, isCoded: false, length: 20, isAnswered: false, train: nil, airtime: 572),
            (phy: .le2M, isCoded: false, length: 600, isAnswered: false, train: nil, airtime: 3036),
            // 3 × (720 + 64 × 7) + 720 + 64 × 30.
            (phy: .coded, isCoded: true, length: 20, isAnswered: false, train: nil, airtime: 6144),
            // 3 × 136 + 80 + 8 × 48 with SyncInfo, and two train events of 80 + 8 × 12.
            (phy: .le1M, isCoded: false, length: 20, isAnswered: false, train: 10, airtime: 872 + 2 * 176),
            // 3 × 136 + 4 × (11 + 28), and two train events of 300 bytes: 250 in 255, and 2 + 50.
            (
                phy: .le2M, isCoded: false, length: 0, isAnswered: false, train: 300,
                airtime: 564 + 2 * (4 * 266 + 4 * 63)
            ),
        ] as [(AdvertisingPHY, Bool, Int, Bool, Int?, Int)])
    func `extended events and trains take the time of their PDUs on their PHYs`(
        row: (phy: AdvertisingPHY, isCoded: Bool, length: Int, isAnswered: Bool, train: Int?, airtime: Int)
    ) {
        var meter = RadioMeter()
        var set = RadioMeter.Activity.Advertising(interval: .milliseconds(95), dataLength: row.length)
        set.extended = Advertisement.Extended()
        set.extended?.secondaryPHY = row.phy
        set.extended?.isPrimaryCoded = row.isCoded
        set.isAnswered = row.isAnswered
        set.train = row.train.map { .init(interval: .milliseconds(50), dataLength: $0) }
        meter.setActivity(Self.activity { $0.advertising = [set] }, at: .zero)
        let use = meter.use(of: [], at: .milliseconds(100)).advertising
        #expect(Int(use.advertisingEvents.rounded()) == 1)
        #expect(Self.microseconds(use) == row.airtime)
    }

    @Test func `a scan counts its windows, and nothing after its end`() {
        var meter = RadioMeter()
        meter.setActivity(Self.activity { $0.scanning = 30.0 / 40 }, at: .zero)
        meter.setActivity(Self.activity { $0.scanning = 30.0 / 300 }, at: .seconds(60))
        // 60 s × 30 / 40 + 60 s × 30 / 300.
        #expect(meter.use(of: [], at: .seconds(120)).scanning.scanning == .seconds(51))
        // Bluetooth is turned off.
        meter.setActivity(RadioMeter.Activity(), at: .seconds(120))
        #expect(meter.use(of: [], at: .seconds(9999)).scanning.scanning == .seconds(51))
        meter.setActivity(Self.activity { $0.initiating = 1 }, at: .seconds(9999))
        let use = meter.use(of: [], at: .seconds(10_001))
        #expect(use.initiating.scanning == .seconds(2) && use.scanning.scanning == .seconds(51))
    }

    // MARK: Links

    @Test func `a link without data is two empty PDUs in each connection event`() {
        let link = LinkMeter(interval: .milliseconds(30), at: .seconds(5))
        let use = link.use(at: .seconds(65))
        #expect(use.linked == .seconds(60) && use.packetsSent == 0 && use.packetsReceived == 0)
        // 60 s / 30 ms = 2,000 events.
        #expect(Self.microseconds(use) == 620_000)
    }

    /// The bytes of each L2CAP PDU, the longest data PDU, whether encrypted; data PDUs and microseconds
    /// beyond empty ones.
    @Test(arguments: [
        (bytes: 7, longest: 27, isEncrypted: false, packets: 1, airtime: 8 * 7),
        (bytes: 27, longest: 27, isEncrypted: false, packets: 1, airtime: 8 * 27),
        // The message integrity check has 4 bytes.
        (bytes: 27, longest: 27, isEncrypted: true, packets: 1, airtime: 8 * (27 + 4)),
        // 27 + 1.
        (bytes: 28, longest: 27, isEncrypted: false, packets: 2, airtime: 8 * 28),
        // 27 + 27 + 6, each with its own check.
        (bytes: 60, longest: 27, isEncrypted: true, packets: 3, airtime: 8 * (60 + 3 * 4)),
        (bytes: 60, longest: 251, isEncrypted: true, packets: 1, airtime: 8 * (60 + 4)),
        (bytes: 252, longest: 251, isEncrypted: false, packets: 2, airtime: 8 * 252),
    ])
    func `data PDUs take the place of empty ones`(
        row: (bytes: Int, longest: Int, isEncrypted: Bool, packets: Int, airtime: Int)
    ) {
        for isSent in [true, false] {
            var link = LinkMeter(interval: .milliseconds(30))
            link.isEncrypted = row.isEncrypted
            link.change(sentLength: row.longest, receivedLength: row.longest)
            for _ in 0..<10 { if isSent { link.sent(row.bytes) } else { link.received(row.bytes) } }
            let use = link.use(at: .seconds(3))
            #expect(use.packetsSent == (isSent ? 10 * row.packets : 0))
            #expect(use.packetsReceived == (isSent ? 0 : 10 * row.packets))
            // 3 s / 30 ms = 100 events of 310 µs.
            #expect(Self.microseconds(use) == 31_000 + 10 * row.airtime)
        }
    }

    @Test func `PDUs that do not fit into the connection events take further pairs of PDUs`() {
        var link = LinkMeter(interval: .seconds(1))
        for _ in 0..<3 { link.sent(10) }
        // One event with three pairs: three PDUs of 80 + 80 µs, three empty ones of 80, T_IFS within three
        // pairs and between them.
        #expect(Self.microseconds(link.use(at: .seconds(1))) == 3 * 160 + 3 * 80 + 5 * 150)
    }

    @Test func `another interval counts from when it is in force`() {
        var link = LinkMeter(interval: .milliseconds(30))
        link.change(interval: .milliseconds(300), at: .seconds(30))
        let use = link.use(at: .seconds(60))
        // 1,000 events and 100.
        #expect(use.linked == .seconds(60) && Self.microseconds(use) == 1100 * 310)
    }

    @Test func `without an interval the time of a link is all that is known`() {
        var link = LinkMeter()
        link.sent(20)
        let use = link.use(at: .seconds(2))
        #expect(use.linked == .seconds(2) && use.airtime == .zero)
        // A controller that is out of order may report 0.
        var broken = LinkMeter(interval: .zero)
        #expect(broken.use(at: .seconds(2)).airtime == .zero)
        broken.change(interval: .milliseconds(30), at: .seconds(2))
        #expect(Self.microseconds(broken.use(at: .seconds(5))) == 31_000)
        broken.change(interval: .zero, at: .seconds(5))
        #expect(broken.use(at: .seconds(9)).linked == .seconds(9))
    }

    @Test func `a link that ended keeps what it has used, for as long as anybody may ask`() {
        var meter = RadioMeter()
        let use = LinkMeter(interval: .milliseconds(30)).use(at: .seconds(3))
        meter.ended(.init(1), use)
        let live = LinkMeter(interval: .milliseconds(30), at: .seconds(3)).use(at: .seconds(9))
        #expect(
            meter.use(of: [(.init(2), live)], at: .seconds(9)).links == [.init(1): use, .init(2): live])
        // Its peer comes back under the same number.
        #expect(meter.use(of: [(.init(1), live)], at: .seconds(9)).links == [.init(1): use + live])
    }

    @Test(arguments: [1, 64, 65, 1000])
    func `of however many links that ended nothing is lost, and at most 64 are kept by themselves`(
        count: Int
    ) {
        var meter = RadioMeter()
        let use = LinkMeter(interval: .milliseconds(30)).use(at: .seconds(3))
        for number in 1...count {
            meter.ended(.init(UInt32(number)), use)
            let all = meter.use(of: [], at: .seconds(3)).allLinks
            #expect(all.linked == .seconds(3 * number) && Self.microseconds(all) == 31_000 * number)
        }
        #expect(meter.use(of: [], at: .seconds(9)).links.count == min(count, 64))
    }

    /// The intervals in milliseconds that are reported, one a second; the airtime after each second, in
    /// microseconds.
    @Test(arguments: [
        (intervals: [20, 0], airtime: [15_500, 31_000]),
        (intervals: [20, 0, 40], airtime: [15_500, 31_000, 38_750]),
        (intervals: [0, 0, 20], airtime: [0, 0, 15_500]),
        (intervals: [20, -20], airtime: [15_500, 31_000]),
    ])
    func `an invalid interval keeps the interval before, so that airtime only grows`(
        row: (intervals: [Int], airtime: [Int])
    ) {
        var link = LinkMeter(interval: .milliseconds(row.intervals[0]))
        var airtime: [Int] = []
        for (second, interval) in row.intervals.enumerated() {
            if second > 0 { link.change(interval: .milliseconds(interval), at: .seconds(second)) }
            airtime.append(Self.microseconds(link.use(at: .seconds(second + 1))))
        }
        #expect(airtime == row.airtime)
    }
}
