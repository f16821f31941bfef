import Mynah
import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

/// What ends with the last reference to a phone, or to a manager.
@Suite(.timeLimit(.minutes(15))) struct HandleTests {
    private let radio = FakeRadio()
    private let level = CharacteristicDefinition(uuid: "2A19", properties: [.read, .notify])

    private func publish(_ manager: PeripheralManager, _ uuid: BluetoothUUID = "180F") async throws {
        try await manager.add(ServiceDefinition(uuid: uuid, characteristics: [level]))
        var advertisement = Advertisement()
        advertisement.serviceUUIDs = [uuid]
        try await manager.startAdvertising(advertisement)
    }

    private func playAccessory() async throws {
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "test"), sink: RecordingSink())
        let manager = await phone.makePeripheralManager(sink: RecordingSink())
        try await phone.start()
        try await publish(manager)
        #expect(await radio.isRunning)
    }

    @Test func `a phone that is dropped stops its radio`() async throws {
        try await playAccessory()
        try await until("the radio is stopped") { await !radio.isRunning }
        #expect(await radio.published.isEmpty)
        #expect(await radio.advertisement == nil)
    }

    private func playApp(_ clock: ManualClock) async throws {
        // The app's code holds its manager, and the phone holds the app's code.
        let rig = try await AppRig(restoreIdentifier: "test", radio: radio)
        #expect(rig.code.manager != nil)
        await rig.app.suspend()
        _ = try await rig.read()
        #expect(await radio.isRunning)
    }

    @Test func `a phone that is dropped stops its radio though an app holds its manager and an alarm is set`()
        async throws
    {
        try await playApp(ManualClock())
        try await until("the radio is stopped") { await !radio.isRunning }
        #expect(await radio.advertisement == nil)
    }

    @Test func `an accessory's manager keeps its phone`() async throws {
        var phone: Phone? = Phone(radio: radio, identity: DeviceIdentity(name: "test"))
        try await phone?.start()
        let manager = await phone?.makePeripheralManager()
        phone = nil
        try await publish(try #require(manager))
        #expect(await radio.isRunning)
    }

    @Test func `an app's manager whose phone is gone says so`() async throws {
        let code = TestApp()
        do {
            let phone = Phone(radio: radio, identity: DeviceIdentity(name: "iPhone"))
            let app = await phone.makeApp(
                AppDescription(name: "test"), delegate: code, clock: ManualClock())
            await app.enterForeground()
            try await phone.start()
        }
        try await until("the radio is stopped") { await !radio.isRunning }
        let manager = try #require(code.manager)
        let error = await #expect(throws: RadioError.self) { try await publish(manager) }
        #expect(error?.code == .invalidState)
        #expect(error?.remedy?.contains("Phone") == true)
        #expect(await manager.services.isEmpty)
    }

    @Test func `a manager that is dropped takes its services and its advertising with it`() async throws {
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "test"))
        try await phone.start()
        let other = await phone.makePeripheralManager()
        let service = ServiceDefinition(uuid: "180A")
        try await other.add(service)
        try await publish(await phone.makePeripheralManager())
        try await until("only the other manager's service is published") {
            await radio.published.map(\.services) == [[service]]
        }
        try await until("nothing is advertised") { await radio.advertisement == nil }
        #expect(await radio.isRunning)
        // What it had is free again.
        try await publish(other)
        #expect(await radio.advertisement != nil)
    }

    @Test func `an app's manager that is dropped leaves what it preserved`() async throws {
        let temporary = try TemporaryDirectory()
        let rig = try await AppRig(
            restoreIdentifier: "test", directory: try StateDirectory(path: temporary.path), radio: radio)
        rig.code.state.withLock { $0.manager = nil }
        try await until("nothing is published") { await radio.published.isEmpty }
        try await until("nothing is advertised") { await radio.advertisement == nil }
        // A thread of its own writes the file; a stop waits for it.
        await rig.phone.stop()
        #expect(try temporary.read("peripheral+test+test.json").contains("180F"))
    }

    @Test func `a central's manager that is dropped stops its radio`() async throws {
        let radio = FakeCentralRadio()
        do {
            let manager = CentralManager(radio: radio)
            try await manager.start()
            #expect(await radio.isRunning)
        }
        try await until("the radio is stopped") { await !radio.isRunning }
    }
}
