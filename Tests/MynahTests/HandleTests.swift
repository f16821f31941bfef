import Mynah
import MynahCore
import MynahLifecycle
import MynahSupport
import MynahTestSupport
import Testing

/// The registrations that end with the last reference to a phone, or to a manager.
@Suite(.timeLimit(.minutes(15))) struct HandleTests {
    private let radio = FakeRadio()
    private let level = CharacteristicDefinition(uuid: "2A19", properties: [.read, .notify])

    private func publish(_ manager: PeripheralManager, _ uuid: BluetoothUUID = "1810") async throws {
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
        // Its registrations are free again.
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
        #expect(try temporary.read("peripheral+test+test.json").contains("1810"))
    }

    // MARK: Both roles of an app

    private final class Code: AppDelegate, Sendable {
        let accessory = Lock<PeripheralManager?>(nil)
        let central = Lock<CentralManager?>(nil)
        let restoreIdentifier: String?

        init(restoreIdentifier: String? = nil) {
            self.restoreIdentifier = restoreIdentifier
        }

        func app(_ app: isolated App, didFinishLaunching options: LaunchOptions) {
            let accessory = try? app.makePeripheralManager()
            let central = try? app.makeCentralManager(restoreIdentifier: restoreIdentifier)
            self.accessory.withLock { $0 = accessory }
            self.central.withLock { $0 = central }
        }

        func app(_ app: isolated App, didChange change: AppChange) {}
    }

    enum End: CaseIterable {
        case managersDropped, centralStopped, terminate, crash, quit
    }

    @Test(arguments: End.allCases)
    func `nothing of an app is on the radio when its managers or its process end`(end: End) async throws {
        let radio = FakeCentralRadio()
        let code = Code()
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "iPhone"))
        let app = await phone.makeApp(AppDescription(name: "test"), delegate: code, clock: ManualClock())
        await app.enterForeground()
        try await phone.start()
        let strap = DeviceAddress(value: 1, kind: .public)
        do {
            let manager = try #require(code.central.withLock { $0 })
            try await until("Bluetooth is on") { await manager.state == .poweredOn }
            try await manager.connect(await manager.peripheral(at: strap))
            await radio.answer(strap, link: 1)
            let absent = DeviceAddress(value: 2, kind: .public)
            try await manager.connect(await manager.peripheral(at: absent))
            try await until("the radio is asked to connect") { await radio.isAsked(for: absent) }
            try await manager.scanForPeripherals(withServices: ["1810"])
            await manager.registerForConnectionEvents()
            try await publish(try #require(code.accessory.withLock { $0 }))
        }
        #expect(await !radio.isQuiet)
        switch end {
        case .managersDropped:
            code.accessory.withLock { $0 = nil }
            code.central.withLock { $0 = nil }
        case .centralStopped:
            code.accessory.withLock { $0 = nil }
            await code.central.withLock { $0 }?.stop()
        case .terminate: await app.terminate()
        case .crash: await app.crash()
        case .quit: await app.quit()
        }
        try await until("the radio neither scans, connects nor has a link") { await radio.isQuiet }
        try await until("nothing is published") { await radio.published.isEmpty }
        try await until("nothing is advertised") { await radio.advertisement == nil }
        #expect(await radio.ended == [.init(1)])
        await phone.stop()
    }

    @Test(arguments: ["cancel", "stop", "drop", "terminate", "quit"])
    func `a channel closes with the connection of the app that opened it, and no other's does`(end: String)
        async throws
    {
        let radio = FakeCentralRadio()
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "iPhone"))
        let code = Code(restoreIdentifier: "central")
        var rules = AppRules()
        rules.backgroundModes = [.bluetoothCentral]
        let app = await phone.makeApp(
            AppDescription(name: "test", rules: rules), delegate: code, clock: ManualClock())
        await app.enterForeground()
        try await phone.start()
        let strap = DeviceAddress(value: 1, kind: .public)
        let other = try await phone.makeCentralManager()
        try await other.start()
        var channels: [any L2CAPChannel] = []
        do {
            let manager = try #require(code.central.withLock { $0 })
            try await until("Bluetooth is on") { await manager.state == .poweredOn }
            for each in [manager, other] {
                let peripheral = await each.peripheral(at: strap)
                try await each.connect(peripheral)
                if await !radio.linked.contains(strap) { await radio.answer(strap, link: 1) }
                channels.append(try await peripheral.openL2CAPChannel(0x80))
            }
        }
        let opened = await radio.channels
        switch end {
        case "cancel":
            let manager = try #require(code.central.withLock { $0 })
            await manager.cancelPeripheralConnection(await manager.peripheral(at: strap))
        case "stop": await code.central.withLock { $0 }?.stop()
        case "drop": code.central.withLock { $0 = nil }
        case "terminate": await app.terminate()
        default: await app.quit()
        }
        try await until("the app's channel is closed") { !opened[0].isOpen }
        #expect(opened[1].isOpen)
        #expect(await radio.linked == [strap])
        withExtendedLifetime(channels) {}
        await phone.stop()
    }

    @Test func `a manager that is dropped or stopped hears of no connection any more`() async throws {
        final class Sink: CentralManagerSink {
            let words = Lock<[String]>([])

            func handle(_ event: CentralManagerEvent) -> RadioAnswer {
                if case .connectionEvent(let event, _) = event {
                    words.withLock { $0.append(event.rawValue) }
                }
                return .none
            }
        }
        let radio = FakeCentralRadio()
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "phone"))
        try await phone.start()
        let manager = try await phone.makeCentralManager()
        try await manager.start()
        let sinks = [Sink(), Sink(), Sink()]
        var dropped: CentralManager? = try await phone.makeCentralManager(sink: sinks[0])
        let stopped = try await phone.makeCentralManager(sink: sinks[1])
        let kept = try await phone.makeCentralManager(sink: sinks[2])
        await dropped?.registerForConnectionEvents()
        await stopped.registerForConnectionEvents()
        await kept.registerForConnectionEvents()
        dropped = nil
        await stopped.stop()
        let strap = DeviceAddress(value: 1, kind: .public)
        // A manager is released by work on the phone's queue, which may come after a link or two.
        try await until("a link comes and goes without a word to the manager that was dropped") {
            let before = sinks[0].words.withLock { $0 }
            try? await manager.connect(await manager.peripheral(at: strap))
            await radio.answer(strap, link: 1)
            await radio.lose(strap)
            return sinks[0].words.withLock { $0 } == before
        }
        #expect(sinks[1].words.withLock { $0 } == [])
        #expect(sinks[2].words.withLock { $0.prefix(2) } == ["peerConnected", "peerDisconnected"])
        await phone.stop()
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
