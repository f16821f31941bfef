import MynahCore
import MynahLifecycle
import MynahSupport
import MynahTestSupport
import Testing

@testable import Mynah

/// An app that uses AccessorySetupKit, on a radio without air.
@Suite(.timeLimit(.minutes(5))) struct AccessoryTests {
    private let radio = FakeCentralRadio()
    private let clock = ManualClock()
    private let code = CentralApp(nil)
    private let strap = DeviceAddress(value: 1, kind: .public)
    private let other = DeviceAddress(value: 2, kind: .public)
    private static let service = "03030D18"

    private func start(on phone: Phone) async throws -> App {
        var description = AppDescription(name: "setup")
        description.usesAccessorySetup = true
        let app = await phone.makeApp(description, delegate: code, clock: clock)
        await app.enterForeground()
        try await phone.start()
        let code = code
        try await until("Bluetooth is off for it") {
            code.state.withLock { $0.words.contains("state poweredOff") }
        }
        _ = code.takeWords()
        return app
    }

    /// Shows the picker, and has it hear a device.
    private func pick(_ address: DeviceAddress, for app: App, on phone: Phone) async throws {
        let picks = Mailbox<AccessoryPick>("picks")
        try await app.pick { picks.put($0) }
        let radio = radio
        try await until("the system scans") { await radio.scanning != nil }
        await radio.hear(address, "02010A")
        await radio.hear(address, Self.service)
        guard case .picked(let device, let found, _) = try await picks.take().first else {
            throw RadioError(.invalidState, "nothing was picked")
        }
        #expect(found == address)
        await app.add(device, at: found)
    }

    @Test func `an app with accessories sees and connects no other device`() async throws {
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "iPhone"))
        let app = try await start(on: phone)
        let manager = try #require(code.manager)
        let scan = await #expect(throws: RadioError.self) { try await manager.scanForPeripherals() }
        #expect(scan?.code == .invalidState)
        try await pick(strap, for: app, on: phone)
        #expect(code.takeWords() == ["state poweredOn"])
        try await manager.scanForPeripherals(withServices: ["180D"])
        await radio.hear(other, Self.service)
        await radio.hear(strap, Self.service)
        #expect(code.takeWords() == ["discovered -"])
        let stranger = await manager.peripheral(at: other)
        let refused = await #expect(throws: RadioError.self) { try await manager.connect(stranger) }
        #expect(refused?.description.contains("is no accessory of the app setup") == true)
        #expect(await manager.retrievePeripherals(withIdentifiers: [stranger.identifier]).isEmpty)
        let own = await manager.peripheral(at: strap)
        #expect(await manager.retrievePeripherals(withIdentifiers: [own.identifier]).count == 1)
        try await manager.connect(own)
        let radio = radio
        try await until("the radio is asked to connect") { await radio.isAsked(for: strap) }
        await radio.answer(strap, link: 1)
        #expect(code.takeWords() == ["connected"])
        #expect(await app.remove(own.identifier))
        #expect(code.takeWords() == ["disconnected", "state poweredOff"])
        #expect(await manager.isScanning == false)
        #expect(await app.remove(own.identifier) == false)
        await phone.stop()
    }

    @Test func `an accessory is not forgotten, however many devices are heard after it`() async throws {
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "iPhone"))
        let app = try await start(on: phone)
        try await pick(strap, for: app, on: phone)
        let manager = try #require(code.manager)
        let own = await manager.peripheral(at: strap)
        let program = try await phone.makeCentralManager(sink: CentralApp(nil))
        try await program.start()
        try await program.scanForPeripherals()
        let first = await program.peripheral(at: other)
        for number in 3...UInt64(KnownPeripherals.limit + 3) {
            await radio.hear(DeviceAddress(value: number, kind: .public), Self.service)
        }
        #expect(await program.retrievePeripherals(withIdentifiers: [first.identifier]).isEmpty)
        #expect(await manager.retrievePeripherals(withIdentifiers: [own.identifier]).count == 1)
        await phone.stop()
    }

    @Test func `a picker that hears nothing ends after its time`() async throws {
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "iPhone"))
        let app = try await start(on: phone)
        let picks = Mailbox<AccessoryPick>("picks")
        try await app.pick { picks.put($0) }
        try await clock.waitForSleepers(1)
        clock.advance(by: AccessoryPicker.timeout)
        #expect(try await picks.take().map(\.word) == ["notFound"])
        let radio = radio
        try await until("nothing is scanned for") { await radio.scanning == nil }
        // The app's end closes a picker too.
        try await app.pick { picks.put($0) }
        await app.terminate()
        #expect(try await picks.take().map(\.word) == ["ended"])
        await phone.stop()
    }
}

extension App {
    /// Shows a picker for devices with the service 180D.
    fileprivate func pick(then end: @escaping @Sendable (AccessoryPick) -> Void) throws(RadioError) {
        try access.pickAccessory({ $0.serviceUUIDs.contains("180D") }, then: end)
    }

    fileprivate func add(_ device: PeripheralIdentifier, at address: DeviceAddress) {
        access.add(accessory: device, at: address)
    }

    fileprivate func remove(_ device: PeripheralIdentifier) -> Bool {
        access.remove(accessory: device) != nil
    }
}

extension AccessoryPick {
    fileprivate var word: String {
        switch self {
        case .picked: "picked"
        case .notFound: "notFound"
        case .poweredOff: "poweredOff"
        case .ended: "ended"
        }
    }
}
