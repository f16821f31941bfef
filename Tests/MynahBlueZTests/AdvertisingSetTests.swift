import MynahBlueZStandIn
import MynahCore
import MynahDBus
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahBlueZ

/// Several advertising sets, each an advertisement of its own in bluetoothd.
@Suite(.timeLimit(.minutes(15))) struct AdvertisingSetTests {
    private static func set(_ name: String, _ body: (inout Advertisement) -> Void) -> Advertisement {
        var set = Advertisement()
        set.name = name
        body(&set)
        return set
    }

    private static let main = set("main") {
        $0.localName = "Main"
        $0.serviceUUIDs = ["180D"]
    }

    /// A set that only broadcasts, with a byte that tests choose.
    private static func beacon(_ byte: UInt8 = 1) -> Advertisement {
        set("beacon") {
            $0.isConnectable = false
            $0.isScannable = false
            $0.flags = nil
            $0.manufacturerData = [.init(company: 0x004C, data: [2, 0x15, byte])]
        }
    }

    private static let quiet = set("quiet") {
        $0.flags = nil
        $0.serviceData = [.init(uuid: "FCD2", data: [0x40])]
    }

    private static func all(_ sets: [Advertisement]) -> Advertisement {
        var first = sets[0]
        first.otherSets = Array(sets.dropFirst())
        return first
    }

    private static let three = all([main, beacon(), quiet])

    /// The advertising data on the air, in the order of registrations.
    private func data(_ standIn: BlueZStandIn) async -> [String] {
        await standIn.advertisements().map { Hex.encode($0.data) }
    }

    private func refusal(
        _ rig: Rig, _ advertisement: Advertisement
    ) async -> RadioError? {
        let radio = rig.radio
        return await radioError { () async throws(RadioError) in
            _ = try await radio.advertise(advertisement)
        }
    }

    // MARK: On the air

    @Test func `each set is an advertisement with its own bytes`() async throws {
        let rig = try await Rig()
        let report = try await rig.radio.advertise(Self.three)
        #expect(await data(rig.standIn) == ["03030D18020106", "06FF4C00021501", "0416D2FC40"])
        let onAir = await rig.standIn.advertisements()
        #expect(onAir.map(\.isConnectable) == [true, false, true])
        #expect(Set(onAir.map(\.path)).count == 3)
        let reports = [report] + report.otherSets
        #expect(reports.map(\.set) == ["main", "beacon", "quiet"])
        #expect(reports.map(\.data) == onAir.map(\.data))
        #expect(reports.map(\.isScannable) == [true, false, true])
        // The kernel makes up the address of a set that is not connectable.
        #expect(reports.map { $0.address == nil } == [false, true, false])
        #expect(await rig.violations() == [])
    }

    @Test func `a change of one set leaves the others alone`() async throws {
        let rig = try await Rig()
        try await rig.radio.advertise(Self.three)
        let before = await rig.standIn.advertisements().map(\.path)
        try await rig.radio.advertise(Self.all([Self.main, Self.beacon(7), Self.quiet]))
        try await rig.standIn.wait("the beacon has changed") {
            $0.advertisements().contains { Hex.encode($0.data) == "06FF4C00021507" }
        }
        #expect(await rig.standIn.advertisements().map(\.path) == before)
        // Another type needs another registration, of this set only: it is the last one now.
        var connectable = Self.beacon(7)
        (connectable.isConnectable, connectable.isScannable) = (true, true)
        try await rig.radio.advertise(Self.all([Self.main, connectable, Self.quiet]))
        #expect(await data(rig.standIn) == ["03030D18020106", "0416D2FC40", "06FF4C00021507"])
        #expect(await rig.violations() == [])
    }

    @Test func `a set that is switched off goes, and comes back in its place of the report`() async throws {
        let rig = try await Rig()
        try await rig.radio.advertise(Self.three)
        try await rig.radio.advertise(Self.all([Self.main, Self.quiet]))
        #expect(await data(rig.standIn) == ["03030D18020106", "0416D2FC40"])
        // Also the first one.
        try await rig.radio.advertise(Self.quiet)
        #expect(await data(rig.standIn) == ["0416D2FC40"])
        let report = try await rig.radio.advertise(Self.three)
        #expect(([report] + report.otherSets).map(\.set) == ["main", "beacon", "quiet"])
        #expect(await rig.standIn.advertisementCount() == 3)
        await rig.radio.stopAdvertising()
        #expect(await rig.standIn.advertisementCount() == 0)
        #expect(await rig.violations() == [])
    }

    // MARK: Coming back

    @Test func `every set comes back when bluetoothd is restarted`() async throws {
        let rig = try await Rig()
        try await rig.radio.advertise(Self.three)
        await rig.standIn.crash()
        try await rig.sink.wait(for: "lost")
        try await rig.standIn.start()
        try await rig.sink.wait(for: "recovered")
        #expect(await data(rig.standIn) == ["03030D18020106", "06FF4C00021501", "0416D2FC40"])
        #expect(await rig.violations() == [])
    }

    @Test func `every set comes back after the adapter was off, and unplugged`() async throws {
        let rig = try await Rig()
        try await rig.radio.advertise(Self.three)
        try await rig.standIn.setPowered(false)
        try await rig.sink.wait(for: "lost")
        try await rig.standIn.setPowered(true)
        try await rig.sink.wait(for: "recovered")
        #expect(await data(rig.standIn) == ["03030D18020106", "06FF4C00021501", "0416D2FC40"])
        await rig.standIn.unplug()
        try await rig.sink.wait(for: "lost", count: 2)
        try await rig.standIn.plugIn(StandInConfiguration.Adapter())
        try await rig.sink.wait(for: "recovered", count: 2)
        #expect(await data(rig.standIn) == ["03030D18020106", "06FF4C00021501", "0416D2FC40"])
        #expect(await rig.violations() == [])
    }

    @Test func `when a central connects, connectable sets come back and the others stay`() async throws {
        let rig = try await Rig()
        try await rig.radio.advertise(Self.three)
        try await rig.standIn.central().connect()
        try await rig.sink.wait(for: "connected")
        try await rig.standIn.wait("every set is on the air") { $0.advertisements().count == 3 }
        // Only the beacon was not registered again, so it is the first now.
        #expect(await data(rig.standIn).first == "06FF4C00021501")
        #expect(await rig.violations() == [])
    }

    @Test func `a set that bluetoothd releases is gone, and is back after a link`() async throws {
        let rig = try await Rig()
        try await rig.radio.advertise(Self.three)
        let path = try #require(await rig.standIn.advertisements().dropFirst().first?.path)
        await rig.standIn.release(path)
        try await rig.sink.wait(for: "advertising on")
        guard case .advertisingChanged(let report)? = rig.sink.events.last else {
            Issue.record("the change is not the last event: \(rig.sink.words)")
            return
        }
        #expect(([report] + report.otherSets).map(\.set) == ["main", "quiet"])
        let phone = await rig.standIn.central()
        try await phone.connect()
        try await rig.sink.wait(for: "connected")
        await phone.disconnect()
        try await rig.standIn.wait("every set is on the air") { $0.advertisements().count == 3 }
        #expect(await rig.violations() == [])
    }

    // MARK: Room

    @Test func `more sets than the adapter has room for are refused at once`() async throws {
        var configuration = StandInConfiguration()
        configuration.maximumAdvertisements = 2
        let rig = try await Rig(configuration)
        let error = await refusal(rig, Self.three)
        #expect(error?.code == .noAdvertisingSet)
        #expect(error?.message == "3 advertising sets are requested, and the adapter has room for 2")
        #expect(await rig.standIn.advertisementCount() == 0)
        try await rig.radio.advertise(Self.all([Self.main, Self.beacon()]))
        // The room of a set that goes is the next one's.
        try await rig.radio.advertise(Self.all([Self.beacon(), Self.quiet]))
        #expect(await data(rig.standIn) == ["06FF4C00021501", "0416D2FC40"])
        #expect(await rig.violations() == [])
    }

    // MARK: Properties

    @Test func `extended advertising has its PHY, and its name in the data`() async throws {
        var configuration = StandInConfiguration(.trixie)
        configuration.adapters[0].maximumData = 251
        let rig = try await Rig(configuration)
        let long = Self.set("long") {
            $0.localName = "Long"
            $0.extended = Advertisement.Extended()
            $0.extended?.secondaryPHY = .le2M
            $0.isScannable = false
            $0.appearance = 0x0341
            $0.manufacturerData = [.init(company: 0xFFFF, data: [UInt8](repeating: 0xAB, count: 60))]
        }
        let report = try await rig.radio.advertise(long)
        let onAir = try #require(await rig.standIn.advertisements().first)
        #expect(onAir.secondaryChannel == "2M")
        #expect(
            Hex.encode(onAir.data)
                == "3FFFFFFF" + String(repeating: "AB", count: 60) + "05094C6F6E67" + "03194103" + "020106")
        #expect(onAir.scanResponse == [])
        #expect(report.data == onAir.data && report.scanResponse == [])
        #expect(report.extended == long.extended && !report.isScannable)
        // Another PHY is another registration.
        var coded = long
        coded.extended?.secondaryPHY = .coded
        coded.extended?.isPrimaryCoded = true
        try await rig.radio.advertise(coded)
        #expect(await rig.standIn.advertisements().map(\.secondaryChannel) == ["Coded"])
        #expect(await rig.violations() == [])
    }

    @Test func `a level of TX power is requested, and told as it was requested`() async throws {
        let rig = try await Rig(StandInConfiguration(.trixie))
        let loud = Self.set("loud") { $0.txPower = .level(-8) }
        let report = try await rig.radio.advertise(loud)
        let onAir = try #require(await rig.standIn.advertisements().first)
        #expect(Hex.encode(onAir.data) == "020106020AF8")
        #expect(report.data == onAir.data)
        #expect(report.omitted.map(\.item) == ["txPower"])
        #expect(await rig.violations() == [])
    }

    @Test func `an interval with two ends is kept, and changes with another registration`() async throws {
        let rig = try await Rig(StandInConfiguration(.trixie))
        var slow = Self.main
        slow.intervals = .milliseconds(100)...(.milliseconds(150))
        let report = try await rig.radio.advertise(slow)
        #expect(report.interval == .milliseconds(100)...(.milliseconds(150)))
        #expect(await rig.standIn.advertisements().first?.interval == 100...150)
        // bluetoothd would send 60 ms as the longest with 100 ms as the shortest.
        slow.intervals = .milliseconds(40)...(.milliseconds(60))
        try await rig.radio.advertise(slow)
        #expect(await rig.standIn.advertisements().first?.interval == 40...60)
        #expect(await rig.violations() == [])
    }

    @Test func `Flags are left out of a set that is not connectable, and that is said`() async throws {
        let rig = try await Rig()
        let broadcast = Self.set("broadcast") {
            $0.isConnectable = false
            $0.localName = "B"
            $0.serviceUUIDs = ["180F"]
        }
        let report = try await rig.radio.advertise(broadcast)
        let onAir = try #require(await rig.standIn.advertisements().first)
        #expect(Hex.encode(onAir.data) == "03030F18" && Hex.encode(onAir.scanResponse) == "020942")
        #expect(report.omitted.map(\.item) == ["flags"])
        #expect(report.isScannable)
        #expect(await rig.violations() == [])
    }

    // MARK: Everything else

    private static let impossible: [(what: String, Advertisement)] = [
        ("the Flags 0x1A", set("x") { $0.flags = 0x1A }),
        ("a set with an address of its own", set("x") { $0.address = .identity }),
        (
            "a set with LE Coded as only one of its PHYs",
            set("x") {
                $0.extended = Advertisement.Extended()
                $0.extended?.isPrimaryCoded = true
                $0.isScannable = false
            }
        ),
        (
            "extended data that is scannable",
            set("x") {
                $0.extended = Advertisement.Extended()
                $0.isConnectable = false
            }
        ),
        (
            "a local name in extended data that is not connectable",
            set("x") {
                $0.extended = Advertisement.Extended()
                ($0.isConnectable, $0.isScannable, $0.localName) = (false, false, "x")
            }
        ),
        (
            "a local name that is not in the scan response",
            set("x") { ($0.isConnectable, $0.isScannable, $0.localName) = (false, false, "x") }
        ),
        (
            "several data of one company",
            set("x") { $0.manufacturerData = [.init(company: 1, data: [1]), .init(company: 1, data: [2])] }
        ),
    ]

    @Test(arguments: impossible)
    func `a set that bluetoothd cannot advertise is refused, with the radios that can`(
        what: String, set: Advertisement
    ) async throws {
        let rig = try await Rig()
        let error = await refusal(rig, Self.all([Self.main, set]))
        #expect(error?.code == .advertisementRefused)
        #expect(
            error?.message
                == "BlueZ 5.66 on hci0 cannot advertise \(what); choose --radio virtual, netsim or hci:")
        #expect(await rig.standIn.advertisementCount() == 0)
        #expect(await rig.violations() == [])
    }

    @Test func `a field that only a later bluetoothd can advertise is refused by an earlier one`()
        async throws
    {
        let rig = try await Rig()
        let level = await refusal(rig, Self.set("x") { $0.txPower = .level(4) })
        #expect(level?.message.contains("bluetoothd from 5.77 on, or with --experimental") == true)
        let response = await refusal(rig, Self.set("x") { $0.scanResponse.serviceUUIDs = ["180F"] })
        #expect(response?.message.contains("bluetoothd from 5.80 on") == true)
        #expect(await rig.violations() == [])
    }
}

@Suite struct AdvertisementSetsTests {
    private func set(_ name: String, _ localName: String = "") throws -> BlueZAdvertising {
        var advertisement = Advertisement(localName: localName)
        advertisement.name = name
        return try BlueZAdvertising(advertisement, keepsInterval: true)
    }

    /// Carries out every step, and returns them with the numbers of their sets.
    private func run(_ sets: inout AdvertisementSets, at now: Duration = .zero) -> [String] {
        var steps: [String] = []
        while true {
            let (number, step) = sets.next(at: now)
            switch step {
            case .rest: return steps
            case .wait(let time):
                return steps + ["wait \(number) \(time)"]
            case .register(let advertising):
                steps.append("register \(number) \(advertising.advertisement.name)")
                _ = sets.registered(number)
            case .unregister: steps.append("unregister \(number)")
            case .change: steps.append("change \(number)")
            }
        }
    }

    @Test func `a number is free again when its set was unregistered`() throws {
        var sets = AdvertisementSets()
        sets.reached()
        sets.want([try set("a"), try set("b"), try set("c")])
        #expect(run(&sets) == ["register 0 a", "register 1 b", "register 2 c"])
        sets.want([try set("a"), try set("c"), try set("d")])
        #expect(run(&sets) == ["unregister 1", "register 3 d"])
        sets.want([try set("a"), try set("c"), try set("d"), try set("e")])
        #expect(run(&sets) == ["register 1 e"])
        #expect(sets.held.map(\.advertisement.name) == ["a", "c", "d", "e"])
        sets.stop()
        #expect(run(&sets) == ["unregister 0", "unregister 1", "unregister 2", "unregister 3"])
        #expect(!sets.isWanted && sets.held.isEmpty)
    }

    @Test func `a set that was just changed is waited for, and holds up no other`() throws {
        var sets = AdvertisementSets()
        sets.reached()
        sets.want([try set("a", "1"), try set("b", "1")])
        #expect(run(&sets) == ["register 0 a", "register 1 b"])
        sets.want([try set("a", "2"), try set("b", "1")])
        #expect(run(&sets) == ["change 0"])
        sets.stop()
        #expect(run(&sets) == ["unregister 1", "wait 0 \(AdvertisementMachine.settlingTime)"])
        #expect(run(&sets, at: AdvertisementMachine.settlingTime) == ["unregister 0"])
    }

    @Test func `a refused set is given up, and the others stay`() throws {
        var sets = AdvertisementSets()
        sets.reached()
        sets.want([try set("a"), try set("b")])
        let (number, _) = sets.next(at: .zero)
        #expect(sets.refused(number) == .givenUp)
        #expect(run(&sets) == ["register 1 b"])
        #expect(sets.held.map(\.advertisement.name) == ["b"])
        // A set that was registered once is only postponed.
        sets.linkBegan(hasExtendedAdvertising: true)
        #expect(sets.next(at: .zero).step == .unregister)
        #expect(sets.next(at: .zero).number == 1)
        #expect(sets.refused(1) == .postponed)
        #expect(run(&sets).isEmpty && sets.held.isEmpty)
        sets.linkEnded()
        #expect(run(&sets) == ["register 1 b"])
    }

    @Test func `without extended advertising a link stops every set`() throws {
        var broadcast = Advertisement()
        (broadcast.name, broadcast.isConnectable) = ("b", false)
        for hasExtendedAdvertising in [true, false] {
            var sets = AdvertisementSets()
            sets.reached()
            sets.want([try set("a"), try BlueZAdvertising(broadcast, keepsInterval: true)])
            #expect(run(&sets) == ["register 0 a", "register 1 b"])
            sets.linkBegan(hasExtendedAdvertising: hasExtendedAdvertising)
            let again = ["unregister 0", "register 0 a"]
            let both = again + ["unregister 1", "register 1 b"]
            #expect(run(&sets) == (hasExtendedAdvertising ? again : both))
        }
    }
}
