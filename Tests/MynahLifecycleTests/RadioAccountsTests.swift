import MynahCore
import MynahLifecycle
import Testing

@Suite struct RadioAccountsTests {
    private static let link = Peer.ID(7)

    /// Totals after so many seconds: a scan of 3/4 of the time, advertising every second, and a link with a
    /// packet a second.
    private static func totals(_ seconds: Int, initiating: Int = 0, link: Int? = nil) -> RadioUse {
        var use = RadioUse()
        use.scanning.scanning = .seconds(seconds) * 3 / 4
        use.initiating.scanning = .seconds(initiating)
        use.advertising.advertisingEvents = Double(seconds)
        use.advertising.airtime = .milliseconds(seconds)
        var own = AirUse()
        own.linked = .seconds(link ?? seconds)
        own.packetsSent = link ?? seconds
        use.links[Self.link] = own
        return use
    }

    private static func holding(
        _ change: (inout RadioAccounts.Holding) -> Void
    ) -> RadioAccounts.Holding {
        var holding = RadioAccounts.Holding()
        change(&holding)
        return holding
    }

    @Test func `a scan and a link count in full for each app that holds them`() {
        var accounts = RadioAccounts(from: RadioUse())
        let both = Self.holding {
            $0.scans = true
            $0.links = [Self.link]
        }
        accounts.change([1: both, 2: both, 3: .init()], Self.totals(0))
        let report = accounts.report(Self.totals(60))
        for app in [UInt64(1), 2] {
            #expect(report[app]?.scanning == .seconds(45) && report[app]?.linked == .seconds(60))
            #expect(report[app]?.packetsSent == 60 && report[app]?.advertisingEvents == 0)
        }
        #expect(report[3] == AirUse())
    }

    @Test func `an app that begins or ceases to hold a link has the use in between`() {
        var accounts = RadioAccounts(from: RadioUse())
        let held = Self.holding { $0.links = [Self.link] }
        accounts.change([1: held, 2: .init()], Self.totals(0))
        accounts.change([1: held, 2: held], Self.totals(10))
        accounts.change([1: .init(), 2: held], Self.totals(25))
        let report = accounts.report(Self.totals(60))
        #expect(report[1]?.linked == .seconds(25) && report[2]?.linked == .seconds(50))
        // It ended a second later, and nothing is counted twice.
        accounts.change([1: .init(), 2: .init()], Self.totals(61))
        let last = accounts.report(Self.totals(70, link: 61))
        #expect(last[1] == AirUse() && last[2]?.linked == .seconds(1) && last[2]?.packetsSent == 1)
    }

    @Test func `the first who hold a link have used it from its beginning`() {
        var accounts = RadioAccounts(from: RadioUse())
        accounts.change([1: Self.holding { $0.scans = true }], Self.totals(2))
        accounts.change([1: Self.holding { $0.links = [Self.link] }], Self.totals(3))
        #expect(accounts.report(Self.totals(4))[1]?.linked == .seconds(4))
    }

    /// The seconds at which the app begins or ceases to hold the link; what it has used of it at 660 s.
    @Test(arguments: [
        (changes: [], linked: 0),
        (changes: [600], linked: 660),
        (changes: [10, 20], linked: 20),
        (changes: [10, 20, 600], linked: 80),
        (changes: [10, 20, 600, 610, 650], linked: 40),
    ])
    func `only a link that nobody has held yet is charged from its beginning`(
        row: (changes: [Int], linked: Int)
    ) {
        var accounts = RadioAccounts(from: RadioUse())
        var isHeld = false
        accounts.change([1: .init()], RadioUse())
        for second in stride(from: 5, through: 655, by: 5) {
            if row.changes.contains(second) { isHeld.toggle() }
            // Something else changes each time.
            let holding = Self.holding {
                $0.advertises = second % 2 == 0
                if isHeld { $0.links = [Self.link] }
            }
            accounts.change([1: holding], Self.totals(second))
        }
        #expect(accounts.report(Self.totals(660))[1]?.linked == .seconds(row.linked))
    }

    @Test(arguments: [1, 64, 65, 1000])
    func `an accessory has every link that ended between two reports`(count: Int) {
        var (accounts, meter) = (RadioAccounts(from: RadioUse()), RadioMeter())
        accounts.change([0: .whole], RadioUse())
        var own = AirUse()
        (own.linked, own.packetsSent) = (.seconds(2), 3)
        for minute in 0..<3 {
            for number in 1...count { meter.ended(.init(UInt32(minute * count + number)), own) }
            let report = accounts.report(meter.use(of: [], at: .zero))[0]
            #expect(report?.linked == .seconds(2 * count) && report?.packetsSent == 3 * count)
        }
        #expect(accounts.report(meter.use(of: [], at: .zero))[0] == AirUse())
    }

    @Test func `no report has less than no airtime, and the sum of all is right`() {
        var accounts = RadioAccounts(from: RadioUse())
        accounts.change([0: .whole], RadioUse())
        var airtime: [Duration?] = []
        for total in [5, 3, 4, 9] {
            var use = RadioUse()
            use.links[Self.link] = AirUse()
            use.links[Self.link]?.airtime = .milliseconds(total)
            airtime.append(accounts.report(use)[0]?.airtime)
        }
        #expect(airtime == [.milliseconds(5), .zero, .zero, .milliseconds(4)])
    }

    @Test func `an accessory has all of its radio`() {
        var accounts = RadioAccounts(from: RadioUse())
        accounts.change([0: .whole], RadioUse())
        let use = accounts.report(Self.totals(4))[0]
        #expect(use?.scanning == .seconds(3) && use?.linked == .seconds(4) && use?.advertisingEvents == 4)
        #expect(use?.airtime == .milliseconds(4))
    }

    @Test func `an app that waits for a connection has the longer of the scan and the initiating`() {
        var accounts = RadioAccounts(from: RadioUse())
        let waits = Self.holding { $0.waits = true }
        accounts.change([1: waits, 2: Self.holding { $0.scans = true }], RadioUse())
        let report = accounts.report(Self.totals(4, initiating: 4))
        #expect(report[1]?.scanning == .seconds(4) && report[2]?.scanning == .seconds(3))
        #expect(accounts.report(Self.totals(8, initiating: 4))[1]?.scanning == .seconds(3))
    }

    @Test func `advertising events come whole, and no part of one is lost`() {
        var accounts = RadioAccounts(from: RadioUse())
        accounts.change([1: Self.holding { $0.advertises = true }], RadioUse())
        var whole: [Double] = []
        for minute in 1...4 {
            var use = RadioUse()
            use.advertising.advertisingEvents = 571.4 * Double(minute)
            whole.append(accounts.report(use)[1]?.advertisingEvents ?? 0)
        }
        // 571.4, 1142.8, 1714.2 and 2285.6, to the nearest.
        #expect(whole == [571, 572, 571, 572])
    }

    @Test func `an app that is gone is reported once more`() {
        var accounts = RadioAccounts(from: RadioUse())
        accounts.change([1: Self.holding { $0.scans = true }], RadioUse())
        accounts.change([:], Self.totals(4))
        #expect(accounts.report(Self.totals(8))[1]?.scanning == .seconds(3))
    }
}
