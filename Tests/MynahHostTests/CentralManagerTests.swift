import Mynah
import MynahCore
import MynahHCI
import MynahLifecycle
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// The library's central against our peripheral, over the air of one process.
@Suite(.timeLimit(.minutes(15))) struct CentralManagerTests {
    @Test func `a strap is found, connected, discovered, read, written and subscribed`() async throws {
        let rig = try await CentralRig(starts: false)
        try await rig.playDevice()
        let manager = CentralManager(radio: rig.phone)
        let events = await manager.events()
        try await manager.start()
        try await manager.scanForPeripherals(withServices: ["180D"])
        rig.sink.answer(.answer(.success([])))
        var words: [String] = []
        for await event in events {
            switch event {
            case .discovered(let discovery) where words.last == "state poweredOn":
                #expect(discovery.peripheral.address == rig.address)
                #expect(discovery.isConnectable)
                await manager.stopScan()
                words.append("discovered \(await discovery.peripheral.name ?? "")")
                try await manager.connect(discovery.peripheral, timeout: nil)
                try await use(discovery.peripheral, rig)
            case .stateChanged(let state): words.append("state \(state)")
            case .connected: words.append("connected")
            case .mtuChanged(_, let mtu): words.append("mtu \(mtu)")
            case .valueUpdated(let update):
                words.append("\(update.characteristic?.uuid.description ?? "") \(Hex.encode(update.value))")
                await manager.cancelPeripheralConnection(update.peripheral)
            case .disconnected(let peripheral, let end):
                words.append("disconnected")
                #expect(end.error == nil)
                #expect(await !peripheral.isConnected)
                await #expect(throws: RequestError.self) { try await peripheral.readRSSI() }
                await manager.stop()
            default: break
            }
        }
        #expect(
            words == [
                "state poweredOn", "discovered Mynah", "connected", "mtu 517", "2A37 0048", "disconnected",
            ])
        await rig.device.stop()
    }

    private func use(_ peripheral: Peripheral, _ rig: CentralRig) async throws {
        let services = try await peripheral.discoverAll()
        #expect(services.map(\.uuid) == ["1800", "1801", "180F", "180D"])
        #expect(services.map(\.isPrimary) == [true, true, false, true])
        #expect(services[3].includedServices.map(\.uuid) == ["180F"])
        let rate = try #require(await peripheral.characteristic("2A37", in: "180D"))
        let control = try #require(await peripheral.characteristic("2A39"))
        let text = try #require(await peripheral.characteristic(rig.text.uuid))
        #expect(rate.descriptors?.map(\.uuid) == ["2902"])
        #expect(try await peripheral.readValue(for: text) == rig.text.value)
        #expect(
            try await peripheral.readValue(for: try #require(text.descriptors?.first)) == Array("Pulse".utf8))
        #expect(await peripheral.mtu == 517)
        #expect(await peripheral.maximumWriteValueLength(for: .withoutResponse) == 512)
        #expect(try await peripheral.writeValue([1], for: control, type: .withResponse))
        #expect(try await peripheral.writeValue([2], for: control, type: .withoutResponse))
        #expect(try await peripheral.readRSSI() == -40)
        await #expect(throws: RequestError.self) { try await peripheral.setNotifyValue(true, for: control) }
        try await peripheral.setNotifyValue(true, for: rate)
        #expect(await peripheral.characteristic("2A37")?.delivery == .notification)
        _ = try await rig.device.send([0, 72], of: rig.rate.key, as: .asSubscribed, to: nil)
    }

    @Test func `services that are withdrawn are reported without being asked for, and forgotten`()
        async throws
    {
        let rig = try await CentralRig(starts: false)
        try await rig.playDevice()
        let extra = try await rig.device.publish([ServiceDefinition(uuid: "180A")])
        let manager = CentralManager(radio: rig.phone)
        let events = await manager.events()
        try await manager.start()
        let strap = await manager.peripheral(at: rig.address)
        try await manager.connect(strap, timeout: .seconds(30))
        try await strap.discoverAll()
        // The radio's own subscription is none of the application's.
        #expect(await strap.characteristic("2A05")?.delivery == nil)
        #expect(await strap.services.contains { $0.uuid == "180A" })
        await rig.device.withdraw(extra.id)
        for await event in events {
            guard case .servicesChanged = event else { continue }
            break
        }
        #expect(await !strap.services.contains { $0.uuid == "180A" })
        #expect(await strap.services.contains { $0.uuid == "180D" })
        await manager.stop()
        await rig.device.stop()
    }

    @Test(arguments: [false, true])
    func `a phone is a peripheral and a central on one radio`(isExtended: Bool) async throws {
        let rig = try await CentralRig(isExtended: isExtended, starts: false)
        try await rig.playDevice()
        let phone = Phone(radio: rig.phone, identity: DeviceIdentity(name: "Phone"))
        try await phone.start()
        let manager = try await phone.makeCentralManager()
        try await manager.start()
        let strap = await manager.peripheral(at: rig.address)
        try await manager.connect(strap, timeout: nil)
        #expect(try await strap.discoverServices(["180D"]).count == 1)
        await manager.stop()
        try await until("the device reports the disconnection") { rig.sink.words.contains("disconnected") }
        #expect(await phone.radioState == .poweredOn)
        await phone.stop()
        await rig.device.stop()
    }
}
