import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// Several advertising sets, extended ones among them: the machine of each set, and what a phone hears.
@Suite(.timeLimit(.minutes(15))) struct AdvertisingSetTests {
    typealias Configuration = HostAdvertiser.Configuration

    private static func configuration(_ byte: UInt8, isConnectable: Bool = true) -> Configuration {
        Configuration(
            name: "\(byte)", parameters: .init(interval: 160...160, isConnectable: isConnectable),
            data: [byte],
            scanResponse: [])
    }

    /// Answers every step with success, and returns the steps as `HANDLE STEP`.
    private static func run(_ sets: inout HostAdvertisingSets) -> [String] {
        var steps: [String] = []
        while let (handle, step) = sets.next(), steps.count < 50 {
            sets.finished(.done)
            steps.append("\(handle) \(step.purpose)")
        }
        return steps
    }

    @Test func `each set is brought up, changed and stopped by itself`() {
        var sets = HostAdvertisingSets()
        sets.began(HostAdvertiserTests.home, identity: HostAdvertiserTests.home)
        let number = sets.want([Self.configuration(1), Self.configuration(2, isConnectable: false)])
        let steps = Self.run(&sets)
        #expect(steps.count == 10 && steps.filter { $0.hasPrefix("1 ") }.count == 5)
        #expect(sets.verdict(on: number) == .onAir && sets.sent.count == 2)
        _ = sets.want([Self.configuration(1), Self.configuration(3, isConnectable: false)])
        #expect(Self.run(&sets) == ["1 setting the advertising data"])
        _ = sets.want([Self.configuration(1)])
        #expect(Self.run(&sets) == ["1 stopping to advertise"])
        sets.stop()
        #expect(Self.run(&sets) == ["0 stopping to advertise"])
        #expect(sets.isQuiet)
    }

    @Test func `a set keeps its handle and its identifier while others are switched off and on`() {
        var sets = HostAdvertisingSets()
        sets.began(HostAdvertiserTests.home, identity: HostAdvertiserTests.home)
        let all = (1...3).map { number in
            var set = Self.configuration(UInt8(number), isConnectable: false)
            (set.parameters.extended, set.parameters.isScannable) = (.init(), false)
            return set
        }
        func identifiers(_ sets: inout HostAdvertisingSets) -> [String: UInt8] {
            var found: [String: UInt8] = [:]
            while let (handle, step) = sets.next() {
                sets.finished(.done)
                if case .setParameters(let parameters) = step { found["\(handle)"] = parameters.identifier }
            }
            return found
        }
        _ = sets.want(all)
        #expect(identifiers(&sets) == ["0": 0, "1": 1, "2": 2])
        // Nothing but the switched set changes.
        _ = sets.want(Array(all.dropFirst()))
        #expect(Self.run(&sets) == ["0 stopping to advertise"])
        _ = sets.want([all[0], all[2]])
        #expect(Self.run(&sets) == ["0 starting to advertise", "1 stopping to advertise"])
        let number = sets.want(all)
        #expect(Self.run(&sets) == ["1 starting to advertise"])
        #expect(sets.verdict(on: number) == .onAir)
        // A new set takes the handle of one that is not requested, because controllers have few sets.
        let other = Self.configuration(9, isConnectable: false)
        _ = sets.want([all[0], other, all[2]])
        #expect(Self.run(&sets).allSatisfy { $0.hasPrefix("1 ") })
        // The sets after the 16th share an identifier with another.
        let many = (0..<20).map { number in
            var set = all[0]
            set.name = "many \(number)"
            return set
        }
        var crowded = HostAdvertisingSets()
        crowded.began(HostAdvertiserTests.home, identity: HostAdvertiserTests.home)
        _ = crowded.want(many)
        #expect(Set(identifiers(&crowded).values) == Set(0...15))
    }

    private static func periodic(_ bytes: [UInt8], interval: UInt16 = 80) -> Configuration {
        var set = configuration(1, isConnectable: false)
        (set.parameters.extended, set.parameters.isScannable) = (.init(), false)
        set.periodic = .init(interval: interval...interval, data: bytes)
        return set
    }

    @Test func `periodic advertising begins with its set, changes in place, and ends after it`() {
        var sets = HostAdvertisingSets()
        sets.began(HostAdvertiserTests.home, identity: HostAdvertiserTests.home)
        let number = sets.want([Self.periodic([1])])
        #expect(
            Self.run(&sets).suffix(4) == [
                "0 setting the periodic advertising parameters", "0 setting the periodic advertising data",
                "0 starting periodic advertising", "0 starting to advertise",
            ])
        #expect(sets.verdict(on: number) == .onAir)
        _ = sets.want([Self.periodic([2])])
        #expect(Self.run(&sets) == ["0 setting the periodic advertising data"])
        // Parameters, and data that needs several commands, cannot change while it is on.
        let pause = "0 stopping periodic advertising"
        _ = sets.want([Self.periodic([2], interval: 160)])
        #expect(
            Self.run(&sets) == [
                pause, "0 setting the periodic advertising parameters", "0 starting periodic advertising",
            ])
        _ = sets.want([Self.periodic(Array(repeating: 3, count: 300), interval: 160)])
        let fragments = Array(repeating: "0 setting the periodic advertising data", count: 2)
        #expect(Self.run(&sets) == [pause] + fragments + ["0 starting periodic advertising"])
        // The address changes without it.
        sets.hold()
        #expect(Self.run(&sets) == ["0 stopping to advertise"])
        sets.release(HostAdvertiserTests.home)
        #expect(Self.run(&sets) == ["0 starting to advertise"])
        var plain = Self.periodic([])
        plain.periodic = nil
        _ = sets.want([plain])
        #expect(Self.run(&sets) == [pause])
        _ = sets.want([Self.periodic([4])])
        _ = Self.run(&sets)
        sets.stop()
        #expect(Self.run(&sets) == ["0 stopping to advertise", pause])
    }

    @Test func `a set that becomes connectable first stops its periodic advertising`() {
        var sets = HostAdvertisingSets()
        sets.began(HostAdvertiserTests.home, identity: HostAdvertiserTests.home)
        _ = sets.want([Self.periodic([1])])
        _ = Self.run(&sets)
        _ = sets.want([Self.configuration(1)])
        #expect(Self.run(&sets).prefix(2) == ["0 stopping to advertise", "0 stopping periodic advertising"])
    }

    @Test func `a controller that refuses periodic advertising refuses the set`() {
        var sets = HostAdvertisingSets()
        sets.began(HostAdvertiserTests.home, identity: HostAdvertiserTests.home)
        let number = sets.want([Self.periodic([1])])
        while let (_, step) = sets.next() {
            sets.finished(step == .enablePeriodic ? .refused(.limitedResources) : .done)
        }
        #expect(sets.verdict(on: number) == .refused(.enablePeriodic, .limitedResources))
    }

    @Test func `a link stops the set that it was made to, and no other`() {
        var sets = HostAdvertisingSets()
        sets.began(HostAdvertiserTests.home, identity: HostAdvertiserTests.home)
        _ = sets.want([Self.configuration(1), Self.configuration(2)])
        _ = Self.run(&sets)
        // Which of the two it was, the controller says next.
        sets.linkBegan(.peripheral)
        #expect(Self.run(&sets) == [])
        sets.stopped(1)
        #expect(Self.run(&sets) == ["1 starting to advertise"])
        _ = sets.want([Self.configuration(1), Self.configuration(2, isConnectable: false)])
        _ = Self.run(&sets)
        // There is one that it can have been.
        sets.linkBegan(.peripheral)
        #expect(Self.run(&sets) == ["0 starting to advertise"])
        sets.stopped(0)
        #expect(Self.run(&sets) == [])
    }

    @Test func `a set that is refused decides about the request`() {
        var sets = HostAdvertisingSets()
        sets.began(HostAdvertiserTests.home, identity: HostAdvertiserTests.home)
        let number = sets.want([Self.configuration(1), Self.configuration(2)])
        while let (handle, _) = sets.next() {
            sets.finished(handle == 1 ? .refused(.memoryCapacityExceeded) : .done)
        }
        guard case .refused(.setParameters, .memoryCapacityExceeded) = sets.verdict(on: number) else {
            Issue.record("\(sets.verdict(on: number))")
            return
        }
    }

    @Test func `a set that scanners ask for its data gets no advertising data`() {
        var sets = HostAdvertisingSets()
        sets.began(HostAdvertiserTests.home, identity: HostAdvertiserTests.home)
        var asked = Self.configuration(1, isConnectable: false)
        (asked.parameters.extended, asked.data, asked.scanResponse) = (.init(), [], [7])
        let number = sets.want([asked])
        let steps = Self.run(&sets)
        #expect(
            !steps.contains("0 setting the advertising data") && steps.contains("0 setting the scan response")
        )
        #expect(sets.verdict(on: number) == .onAir && sets.sent.map(\.dataLength) == [0])
    }

    @Test func `data that the new parameters do not allow leaves the set before they change`() {
        var sets = HostAdvertisingSets()
        sets.began(HostAdvertiserTests.home, identity: HostAdvertiserTests.home)
        var long = Self.configuration(1, isConnectable: false)
        (long.parameters.extended, long.parameters.isScannable) = (.init(), false)
        long.data = Array(repeating: 1, count: 40)
        _ = sets.want([long])
        _ = Self.run(&sets)
        _ = sets.want([Self.configuration(2, isConnectable: false)])
        #expect(
            Self.run(&sets).prefix(3) == [
                "0 stopping to advertise", "0 setting the advertising data",
                "0 setting the advertising parameters",
            ])
    }

    @Test(arguments: [0, 1, 251, 252, 502, 503, 1650])
    func `data goes to the controller in fragments of 251 bytes`(count: Int) {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        var held: [UInt8] = []
        var operations: [HostAdvertiser.Fragment.Operation] = []
        repeat {
            let fragment = HostAdvertiser.Fragment(of: payload, after: held)
            #expect(fragment.bytes.count <= 251)
            held += fragment.bytes
            operations.append(fragment.operation)
        } while held.count < payload.count
        #expect(held == payload)
        let isWhole = count <= 251
        #expect(operations.first == (isWhole ? .complete : .first))
        #expect(operations.last == (isWhole ? .complete : .last))
        #expect(operations.dropFirst().dropLast().allSatisfy { $0 == .intermediate })
    }

    @Test func `a phone hears a legacy set, a beacon with an address of its own and 600 extended bytes`()
        async throws
    {
        let rig = try await CentralRig()
        var advertisement = Advertisement(localName: "Main", serviceUUIDs: ["180D"])
        advertisement.interval = .milliseconds(20)
        var beacon = Advertisement()
        beacon.name = "beacon"
        (beacon.isConnectable, beacon.isScannable, beacon.address) = (false, false, .random)
        beacon.manufacturerData = [.init(company: 0x0499, data: [5])]
        beacon.interval = .milliseconds(20)
        var long = Advertisement()
        long.name = "long"
        (long.isConnectable, long.isScannable, long.flags) = (false, false, nil)
        long.extended = Advertisement.Extended()
        long.extended?.secondaryPHY = .le2M
        let bytes = (0..<198).map { UInt8($0) }
        long.raw = (0..<3).map { _ in ADStructure(type: .manufacturerSpecificData, data: bytes) }
        long.interval = .milliseconds(20)
        advertisement.otherSets = [beacon, long]
        // The device advertised with legacy commands before; a radio of its own begins with sets.
        let address = try #require(DeviceAddress("C0:00:00:00:00:07", kind: .public))
        let device = HostRadio(transport: rig.air.transport(ControllerConfiguration(address: address)))
        _ = try await device.start(DeviceIdentity(name: "Sets"), sink: HostSink())
        let report = try await device.advertise(advertisement)
        #expect([report.set] + report.otherSets.map(\.set) == ["1", "beacon", "long"])
        let own = try #require(report.otherSets[0].address)
        #expect(own != address && own.kind == .random)
        try await rig.phone.scan(ScanOptions(allowsDuplicates: true))
        func heard(_ report: AdvertisingReport, _ kind: ScanReport.Kind) -> Bool {
            rig.phoneSink.reports.contains {
                $0.address == report.address && $0.kind == kind && $0.data == report.data
            }
        }
        try await until("the legacy set is heard") { heard(report, .connectable) }
        try await until("the beacon is heard") { heard(report.otherSets[0], .nonConnectable) }
        try await until("the long one is heard") {
            heard(report.otherSets[1], .nonConnectable) && report.otherSets[1].data.count == 600
        }
        await device.stop()
        await rig.stop()
    }

    @Test func `a phone synchronizes to 600 bytes of periodic advertising, and sees them change`()
        async throws
    {
        let rig = try await CentralRig()
        var advertisement = Advertisement(localName: "Train")
        (advertisement.isConnectable, advertisement.isScannable) = (false, false)
        advertisement.extended = Advertisement.Extended()
        advertisement.interval = .milliseconds(20)
        var periodic = Advertisement.Periodic()
        periodic.interval = .milliseconds(10) ... .milliseconds(10)
        func structures(_ byte: UInt8) -> [ADStructure] {
            (0..<3).map { _ in
                ADStructure(type: .manufacturerSpecificData, data: Array(repeating: byte, count: 198))
            }
        }
        periodic.contents.raw = structures(1)
        advertisement.periodic = periodic
        let address = try #require(DeviceAddress("C0:00:00:00:00:07", kind: .public))
        let device = HostRadio(transport: rig.air.transport(ControllerConfiguration(address: address)))
        _ = try await device.start(DeviceIdentity(name: "Train"), sink: HostSink())
        let report = try await device.advertise(advertisement)
        #expect(report.periodic?.data == structures(1).bytes)
        #expect(report.periodic?.interval == .milliseconds(10) ... .milliseconds(10))
        let sent = await device.session.advertiser.sent.first
        #expect(sent?.train == .init(interval: .milliseconds(10), dataLength: 600))
        #expect(sent?.extended == Advertisement.Extended() && sent?.isAnswered == false)
        var options = ScanOptions(allowsDuplicates: true)
        try await rig.phone.scan(options)
        try await until("its interval is heard") {
            rig.phoneSink.reports.contains { $0.periodicInterval == .milliseconds(10) }
        }
        #expect(!rig.phoneSink.reports.contains { $0.isPeriodic })
        options.synchronization = .required
        try await rig.phone.scan(options)
        func hears(_ byte: UInt8) -> Bool {
            rig.phoneSink.reports.contains {
                $0.isPeriodic && $0.address == address && $0.set == 0 && $0.data == structures(byte).bytes
            }
        }
        try await until("the first data is heard") { hears(1) }
        // Data of several commands needs a new train, which the phone looks for after the old one is lost.
        periodic.contents.raw = structures(2)
        advertisement.periodic = periodic
        _ = try await device.advertise(advertisement)
        try await until("the changed data is heard") { hears(2) }
        await device.stop()
        await rig.stop()
    }

    @Test func `a phone that cannot receive periodic advertising says so`() async throws {
        let air = LiveAir(seed: 1)
        var configuration = ControllerConfiguration(
            address: try #require(DeviceAddress("C0:00:00:00:00:01", kind: .public)))
        configuration.isExtended = false
        let radio = HostRadio(transport: air.transport(configuration))
        _ = try await radio.start(DeviceIdentity(name: "Old"), sink: HostSink())
        var options = ScanOptions()
        options.synchronization = .required
        let wanted = options
        let error = await #expect(throws: RadioError.self) { try await radio.scan(wanted) }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("does not receive periodic advertising") == true)
        await radio.stop()
    }

    @Test func `a controller without extended advertising is named when several sets are asked for`()
        async throws
    {
        let air = LiveAir(seed: 1)
        var configuration = ControllerConfiguration(
            address: try #require(DeviceAddress("C0:00:00:00:00:01", kind: .public)))
        configuration.isExtended = false
        let radio = HostRadio(transport: air.transport(configuration))
        _ = try await radio.start(DeviceIdentity(name: "Old"), sink: HostSink())
        var advertisement = Advertisement(localName: "Old")
        advertisement.otherSets = [Advertisement(localName: "Second")]
        let error = await #expect(throws: RadioError.self) { try await radio.advertise(advertisement) }
        #expect(error?.message.contains("several advertising sets cannot be advertised") == true)
        #expect(error?.message.contains("has no extended advertising") == true)
        await radio.stop()
    }
}
