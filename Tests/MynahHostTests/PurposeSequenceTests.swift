import Mynah
import MynahHost
import MynahSupport
import MynahTestSupport
import Testing

/// The parts of the library that have one purpose each: discoveries, values, and a device in one call.
@Suite(.timeLimit(.minutes(15))) struct PurposeSequenceTests {
    /// A central manager that scans, on the rig's phone.
    private func startManager(_ rig: CentralRig) async throws -> CentralManager {
        try await rig.playDevice()
        let manager = CentralManager(radio: rig.phone)
        try await manager.start()
        return manager
    }

    private func stop(_ rig: CentralRig, _ manager: CentralManager) async {
        await manager.stop()
        await rig.device.stop()
    }

    // MARK: Discoveries

    @Test func `a scan stops when the loop over its discoveries is left`() async throws {
        let rig = try await CentralRig(starts: false)
        let manager = try await startManager(rig)
        for await discovery in try await manager.discoveries(of: ["180D"]) {
            #expect(discovery.peripheral.address == rig.address)
            #expect(await manager.isScanning)
            break
        }
        try await until("the scan has stopped") { await !manager.isScanning }
        await stop(rig, manager)
    }

    @Test func `discoveries end with their scan, and a newer scan goes on`() async throws {
        let rig = try await CentralRig(starts: false)
        let manager = try await startManager(rig)
        let first = try await manager.discoveries()
        let second = try await manager.discoveries()
        // The first scan was replaced.
        for await _ in first {}
        await manager.stopScan()
        for await _ in second {}
        _ = try await manager.discoveries()
        // The scan that was left does not take this one with it.
        let events = await manager.events()
        try await manager.scanForPeripherals(options: ScanOptions(allowsDuplicates: true))
        var packets = 0
        for await event in events {
            if case .discovered = event { packets += 1 }
            if packets == 5 { break }
        }
        #expect(await manager.isScanning)
        await stop(rig, manager)
    }

    @Test func `discoveries end with their manager`() async throws {
        let rig = try await CentralRig(starts: false)
        let manager = try await startManager(rig)
        let discoveries = try await manager.discoveries(of: ["FFFF"])
        await stop(rig, manager)
        for await _ in discoveries { Issue.record("no device has this service") }
        await #expect(throws: RadioError.self) { _ = try await manager.discoveries() }
    }

    // MARK: Values

    private func connectedStrap(_ rig: CentralRig, _ manager: CentralManager) async throws -> (
        strap: Peripheral, rate: DiscoveredCharacteristic
    ) {
        let strap = await manager.peripheral(at: rig.address)
        try await manager.connect(strap, timeout: nil)
        try await strap.discoverAll()
        return (strap, try #require(await strap.characteristic("2A37")))
    }

    @Test func `a subscription ends when the loop over its values is left`() async throws {
        let rig = try await CentralRig(starts: false)
        let manager = try await startManager(rig)
        let (strap, rate) = try await connectedStrap(rig, manager)
        let values = try await strap.values(of: rate)
        let other = try await strap.values(of: rate)
        for value in [[1], [2, 3]] as [[UInt8]] {
            _ = try await rig.device.send(value, of: rig.rate.key, as: .asSubscribed, to: nil)
        }
        var read: [[UInt8]] = []
        for await value in values.prefix(2) { read.append(value) }
        #expect(read == [[1], [2, 3]])
        // The other sequence has them too, and ends the subscription with its last loop.
        read = []
        for await value in other {
            read.append(value)
            if read.count == 2 { break }
        }
        #expect(read == [[1], [2, 3]])
        await stop(rig, manager)
    }

    @Test func `the last sequence of a subscription ends it on the air`() async throws {
        let rig = try await CentralRig(starts: false)
        let manager = try await startManager(rig)
        let (strap, rate) = try await connectedStrap(rig, manager)
        _ = try await strap.values(of: rate)
        try await until("the device reports it") { rig.sink.words.contains("unsubscribed") }
        #expect(rig.sink.words.contains("subscribed notification"))
        try await until("the phone has the answer") { await strap.characteristic("2A37")?.delivery == nil }
        await stop(rig, manager)
    }

    @Test func `a subscription that was there before outlives a sequence`() async throws {
        let rig = try await CentralRig(starts: false)
        let manager = try await startManager(rig)
        let (strap, rate) = try await connectedStrap(rig, manager)
        try await strap.setNotifyValue(true, for: rate)
        _ = try await strap.values(of: rate)
        // A command for what the sequence left would be on the air by now.
        for _ in 1...3 { _ = try await strap.readRSSI() }
        #expect(!rig.sink.words.contains("unsubscribed"))
        let ending = try await strap.values(of: rate)
        try await strap.setNotifyValue(false, for: rate)
        for await _ in ending {}
        #expect(rig.sink.words.contains("unsubscribed"))
        await stop(rig, manager)
    }

    @Test func `a sequence that is made right after another was left has the values`() async throws {
        let rig = try await CentralRig(starts: false)
        let manager = try await startManager(rig)
        let (strap, rate) = try await connectedStrap(rig, manager)
        for round in 1...20 as ClosedRange<UInt8> {
            // Dropping a sequence gives up its subscription, while the next one is made.
            let values = try await strap.values(of: rate)
            _ = try await rig.device.send([round], of: rig.rate.key, as: .asSubscribed, to: nil)
            #expect(await values.first { _ in true } == [round])
        }
        try await until("the last one is given up") { await strap.characteristic("2A37")?.delivery == nil }
        await stop(rig, manager)
    }

    @Test func `values end with the connection, and a refused subscription gives none`() async throws {
        let rig = try await CentralRig(starts: false)
        let manager = try await startManager(rig)
        let (strap, rate) = try await connectedStrap(rig, manager)
        let control = try #require(await strap.characteristic("2A39"))
        await #expect(throws: RequestError.self) { _ = try await strap.values(of: control) }
        let values = try await strap.values(of: rate)
        await manager.cancelPeripheralConnection(strap)
        for await _ in values {}
        await #expect(throws: RequestError.self) { _ = try await strap.values(of: rate) }
        await stop(rig, manager)
    }

    // MARK: A device in one call

    @Test func `a device is served, read, written and taken off the air`() async throws {
        let folder = try TemporaryDirectory()
        let air = try SharedAir(directory: folder.path)
        let level = CharacteristicDefinition(uuid: "2A19", properties: [.read, .write])
        let battery = ServiceDefinition(uuid: "180F", characteristics: [level])
        let served = try await PeripheralManager.serve([battery], as: "Battery", on: .virtual(on: air))
        #expect(await served.manager.isAdvertising)
        let answering = Task {
            var written: [[UInt8]] = []
            loop: for await event in served {
                switch event.event {
                case .read: event.accept(Array(repeating: 7, count: 500))
                case .write(let request, _):
                    written.append(request.parts[0].value)
                    if written.count == 1 { event.reject(.unlikelyError) } else { event.accept() }
                    #expect(!event.accept())
                case .disconnected: break loop
                default: break
                }
            }
            return written
        }
        let manager = CentralManager(radio: try HostRadio.virtual(on: air))
        try await manager.start()
        let found = try #require(try await manager.discoveries(of: ["180F"]).first { _ in true })
        #expect(found.advertisement.localName == "Battery")
        try await manager.connect(found.peripheral, timeout: nil)
        try await found.peripheral.discoverAll(["180F"])
        let remote = try #require(await found.peripheral.characteristic("2A19"))
        #expect(try await found.peripheral.readValue(for: remote) == Array(repeating: 7, count: 500))
        await #expect(throws: RequestError.self) {
            try await found.peripheral.writeValue([1], for: remote, type: .withResponse)
        }
        try await found.peripheral.writeValue([2], for: remote, type: .withResponse)
        await manager.stop()
        #expect(await answering.value == [[1], [2]])
    }

    @Test func `an address of a controller that has no form is an error`() {
        let error = #expect(throws: RadioError.self) { try HostRadio(controller: "bluetooth:0") }
        #expect(error?.message.contains("bluetooth:0") == true)
    }
}
