import MynahCore
import MynahLifecycle
import MynahSupport
import MynahTestSupport
import Testing

@testable import Mynah

/// Programs' use of central managers, on a radio without air.
@Suite(.timeLimit(.minutes(15))) struct CentralManagerTests {
    private let radio = FakeCentralRadio()
    private let strap = DeviceAddress(value: 1, kind: .public)
    private let other = DeviceAddress(value: 2, kind: .public)

    /// Two managers of one phone.
    private func pair() async throws -> (phone: Phone, first: CentralManager, second: CentralManager) {
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "phone"))
        try await phone.start()
        let first = try await phone.makeCentralManager()
        let second = try await phone.makeCentralManager()
        try await first.start()
        try await second.start()
        return (phone, first, second)
    }

    private func connect(_ manager: CentralManager, link: UInt32 = 1) async throws -> Peripheral {
        let peripheral = await manager.peripheral(at: strap)
        try await manager.connect(peripheral)
        try await until("the radio is asked to connect") { await radio.isAsked(for: strap) }
        await radio.answer(strap, link: link)
        #expect(await peripheral.isConnected)
        return peripheral
    }

    @Test func `phones with one seed give a device one identifier, and others another`() async throws {
        func identifier(_ seed: UInt64?) async throws -> PeripheralIdentifier {
            let phone = Phone(radio: FakeCentralRadio(), identity: DeviceIdentity(name: "phone"), seed: seed)
            try await phone.start()
            let found = await (try await phone.makeCentralManager()).peripheral(at: strap).identifier
            await phone.stop()
            return found
        }
        let first = try await identifier(7)
        #expect(try await identifier(7) == first)
        #expect(try await identifier(8) != first)
        #expect(try await identifier(nil) != first)
    }

    @Test func `each error has the number that Core Bluetooth gives it`() {
        func code(_ reason: UInt8?, _ code: RadioError.Code = .disconnected) -> Int {
            RadioError(code, "ended", reason: reason).coreBluetoothCode
        }
        #expect([0x08, 0x13, 0x15, 0x3E, 0x06, 0x0D, 0x3D].map { code($0) } == [6, 7, 7, 10, 14, 11, 0])
        #expect(code(nil) == 7 && code(nil, .timedOut) == 6 && code(nil, .unsupported) == 13)
    }

    // MARK: Discovery

    private func discoveries(
        _ options: ScanOptions, _ packets: [(String, ScanReport.Kind)]
    ) async throws -> [String] {
        let manager = CentralManager(radio: radio)
        let events = await manager.events()
        try await manager.start()
        try await manager.scanForPeripherals(options: options)
        for (hex, kind) in packets { await radio.hear(strap, hex, kind) }
        await manager.stop()
        var words: [String] = []
        for await case .discovered(let found) in events {
            words.append("\(found.advertisement.localName ?? "-") \(found.coalesced)")
        }
        return words
    }

    @Test func `a device is discovered once, and again when its name appears`() async throws {
        let packets: [(String, ScanReport.Kind)] = [
            ("020106", .connectable), ("", .scanResponse), ("020106", .connectable), ("", .scanResponse),
            ("020106", .connectable), ("03094142", .scanResponse), ("020106", .connectable),
        ]
        #expect(try await discoveries(ScanOptions(), packets) == ["- 2", "AB 4"])
        // With duplicates a program that no app is gets every packet as it comes.
        let all = try await discoveries(ScanOptions(allowsDuplicates: true), packets)
        #expect(all == ["- 1", "- 1", "- 1", "- 1", "- 1", "AB 1", "AB 1"])
        // Nobody asks for scan responses.
        let passive = try await discoveries(ScanOptions(isActive: false), [("020106", .connectable)])
        #expect(passive == ["- 1"])
    }

    @Test func `the controller's filter hides no change, and the scan ends with the last that scans`()
        async throws
    {
        let (phone, first, second) = try await pair()
        try await first.scanForPeripherals()
        #expect(await radio.scanning == ScanOptions(allowsDuplicates: true))
        try await second.scanForPeripherals(options: ScanOptions(isActive: false))
        #expect(await radio.scanning == ScanOptions(allowsDuplicates: true))
        await first.stopScan()
        #expect(await radio.scanning == ScanOptions(isActive: false, allowsDuplicates: true))
        #expect(await !first.isScanning)
        await second.stop()
        try await until("nothing is scanned for") { await radio.scanning == nil }
        await phone.stop()
    }

    @Test func `a scan that the radio refuses is an error, and not under way`() async throws {
        let manager = CentralManager(radio: radio)
        await #expect(throws: RadioError.self) { try await manager.scanForPeripherals() }
        try await manager.start()
        await radio.refuseScan(RadioError(.unsupported, "no"))
        await #expect(throws: RadioError.self) { try await manager.scanForPeripherals() }
        #expect(await !manager.isScanning)
        try await manager.scanForPeripherals()
        #expect(await manager.isScanning)
        await manager.stop()
    }

    // MARK: Known devices

    @Test func `known devices are retrieved by their identifiers, and no others`() async throws {
        let (phone, first, second) = try await pair()
        let events = await first.events()
        try await first.scanForPeripherals()
        await radio.hear(strap, "03094142")
        var found: Peripheral?
        for await case .discovered(let discovery) in events {
            found = discovery.peripheral
            break
        }
        let identifier = try #require(found?.identifier)
        let unknown = PeripheralIdentifier(high: 1, low: 2)
        let known = await second.retrievePeripherals(withIdentifiers: [unknown, identifier])
        #expect(known.map(\.address) == [strap])
        #expect(await known.first?.name == "AB")
        #expect(known.first !== found)
        #expect(await first.retrievePeripherals(withIdentifiers: [identifier]).first === found)
        #expect(await first.peripheral(at: strap) === found)
        await phone.stop()
    }

    @Test
    func `devices that the phone is connected to are retrieved by their services, and connected at once`()
        async throws
    {
        let (phone, first, second) = try await pair()
        let mine = try await connect(first)
        try await mine.discoverServices(["180D"])
        #expect(try await second.retrieveConnectedPeripherals(withServices: ["180A"]).isEmpty)
        let found = try await second.retrieveConnectedPeripherals(withServices: ["180D", "180A"])
        let theirs = try #require(found.first)
        #expect(found.count == 1 && theirs !== mine && theirs.identifier == mine.identifier)
        #expect(await theirs.state == .disconnected)
        let events = await second.events()
        try await second.connect(theirs)
        for await case .connected(let peripheral, let isLocal) in events {
            #expect(peripheral === theirs && isLocal)
            break
        }
        // The radio was not asked again.
        #expect(await radio.wanted.isEmpty)
        try await second.connect(theirs, timeout: nil)
        await phone.stop()
    }

    // MARK: Shared links

    @Test func `two managers hold one link, one cancels, the other reads on`() async throws {
        let (phone, first, second) = try await pair()
        let mine = try await connect(first)
        let theirs = await second.peripheral(at: strap)
        try await second.connect(theirs)
        try await theirs.discoverServices()
        let events = await first.events()
        await first.cancelPeripheralConnection(mine)
        for await case .disconnected(_, let end) in events {
            #expect(end.isLocal && !end.wasPending)
            break
        }
        #expect(await !mine.isConnected)
        #expect(await theirs.isConnected)
        #expect(await radio.ended.isEmpty)
        let service = try #require(await theirs.services.first { $0.uuid == "180D" })
        let location = try #require(try await theirs.discoverCharacteristics(["2A38"], for: service).first)
        #expect(try await theirs.readValue(for: location) == [7])
        await second.cancelPeripheralConnection(theirs)
        try await until("the link ends on the air") { await radio.ended == [.init(1)] }
        await phone.stop()
    }

    @Test func `a subscription is written for the first manager and cleared after the last`() async throws {
        let (phone, first, second) = try await pair()
        let mine = try await connect(first)
        let theirs = await second.peripheral(at: strap)
        try await second.connect(theirs)
        var rates: [DiscoveredCharacteristic] = []
        for peripheral in [mine, theirs] {
            try await peripheral.discoverAll()
            let rate = try #require(await peripheral.characteristic("2A37"))
            try await peripheral.setNotifyValue(true, for: rate)
            #expect(await peripheral.characteristic("2A37")?.delivery == .notification)
            rates.append(rate)
        }
        try await mine.setNotifyValue(false, for: rates[0])
        #expect(await mine.characteristic("2A37")?.delivery == nil)
        try await theirs.setNotifyValue(false, for: rates[1])
        #expect(await radio.requests.filter { $0.hasPrefix("write") } == ["write 4 0100", "write 4 0000"])
        await phone.stop()
    }

    @Test func `a program that ends leaves its subscription and its link to no other`() async throws {
        let (phone, first, second) = try await pair()
        let mine = try await connect(first)
        let theirs = await second.peripheral(at: strap)
        try await second.connect(theirs)
        try await mine.discoverAll()
        try await mine.setNotifyValue(true, for: try #require(await mine.characteristic("2A37")))
        await first.stop()
        try await until("the subscription is cleared") { await radio.requests.last == "write 4 0000" }
        #expect(await !mine.isConnected)
        await #expect(throws: RequestError.self) { try await mine.discoverServices() }
        #expect(await theirs.isConnected)
        await second.stop()
        try await until("the link ends on the air") { await radio.ended == [.init(1)] }
        await phone.stop()
    }

    // MARK: Attributes

    @Test func `a characteristic keeps the value that came last`() async throws {
        let manager = CentralManager(radio: radio)
        try await manager.start()
        let events = await manager.events()
        let peripheral = try await connect(manager)
        try await peripheral.discoverAll()
        let location = try #require(await peripheral.characteristic("2A38"))
        #expect(location.value == nil)
        _ = try await peripheral.readValue(for: location)
        #expect(await peripheral.characteristic("2A38")?.value == [7])
        await radio.simulate(.notified(.init(1), 3, [0, 72], .notification))
        for await case .valueUpdated(let update) in events {
            #expect(update.characteristic?.value == [0, 72])
            break
        }
        #expect(await peripheral.characteristic("2A37")?.value == [0, 72])
        await manager.stop()
    }

    @Test func `characteristics are discovered by their types, beside those that are known`() async throws {
        let manager = CentralManager(radio: radio)
        try await manager.start()
        let peripheral = try await connect(manager)
        let service = try #require(try await peripheral.discoverServices(["180D"]).first)
        #expect(try await peripheral.discoverCharacteristics(["2A38"], for: service).map(\.uuid) == ["2A38"])
        #expect(try await peripheral.discoverCharacteristics(["2A37"], for: service).map(\.uuid) == ["2A37"])
        #expect(await peripheral.services[0].characteristics.map(\.uuid) == ["2A37", "2A38"])
        #expect(await radio.requests.first == "services 180D")
        await manager.stop()
    }

    // MARK: Room for writes without response

    /// Tells of room, and of whose it is.
    private func ready(_ events: AsyncStream<CentralManagerEvent>) async -> [Peripheral] {
        var found: [Peripheral] = []
        for await case .readyToWrite(let peripheral) in events { found.append(peripheral) }
        return found
    }

    @Test func `services of other types stay when some are looked for`() async throws {
        let manager = CentralManager(radio: radio)
        try await manager.start()
        let peripheral = try await connect(manager)
        try await peripheral.discoverAll(["180D"])
        let rate = try #require(await peripheral.characteristic("2A37"))
        try await peripheral.setNotifyValue(true, for: rate)
        #expect(try await peripheral.discoverServices(["180F"]).map(\.uuid) == ["180F"])
        #expect(Set(await peripheral.services.map(\.uuid)) == ["180D", "180F"])
        #expect(await peripheral.characteristic("2A37")?.delivery == .notification)
        #expect(try await peripheral.discoverAll(["180F"]).map(\.uuid) == ["180F"])
        // All of them are what there is.
        #expect(Set(try await peripheral.discoverServices().map(\.uuid)) == ["180D", "180F"])
        #expect(await peripheral.characteristic("2A37")?.delivery == .notification)
        await manager.stop()
    }

    @Test func `room on a link is reported to those that it was refused to, with the peripheral`()
        async throws
    {
        let (phone, first, second) = try await pair()
        let third = try await phone.makeCentralManager()
        let all = await [first.events(), second.events(), third.events()]
        let mine = try await connect(first)
        let theirs = await second.peripheral(at: strap)
        try await second.connect(theirs)
        try await third.connect(await third.peripheral(at: strap))
        let far = await second.peripheral(at: other)
        try await second.connect(far)
        await radio.answer(other, link: 2)
        let rate = DiscoveredCharacteristic(FakeCentralRadio.rate, of: "180D")
        #expect(await mine.canSendWriteWithoutResponse)
        #expect(try await mine.writeValue([1], for: rate, type: .withoutResponse))
        await radio.setRoom(false, on: .init(1))
        #expect(try await !mine.writeValue([1], for: rate, type: .withoutResponse))
        #expect(try await !mine.writeValue([1], for: rate, type: .signed))
        #expect(await !theirs.canSendWriteWithoutResponse)
        #expect(await far.canSendWriteWithoutResponse)
        await radio.setRoom(true, on: .init(1))
        // Once for each refusal.
        await radio.setRoom(true, on: .init(1))
        await radio.setRoom(true, on: .init(2))
        #expect(await theirs.canSendWriteWithoutResponse)
        // A manager that gave up its connection is told nothing of the next one.
        await radio.setRoom(false, on: .init(1))
        #expect(await !theirs.canSendWriteWithoutResponse)
        await second.cancelPeripheralConnection(theirs)
        #expect(await !theirs.canSendWriteWithoutResponse)
        try await second.connect(theirs)
        #expect(await theirs.isConnected)
        await radio.setRoom(true, on: .init(1))
        await phone.stop()
        var found: [[Peripheral]] = []
        for events in all { found.append(await ready(events)) }
        #expect(found.map(\.count) == [1, 1, 0])
        #expect(found[0].first === mine && found[1].first === theirs)
    }
}
