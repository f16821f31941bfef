import MynahCore
import MynahLifecycle
import MynahSupport
import MynahTestSupport
import Testing

@testable import Mynah

/// An app with two managers whose state is kept, on a radio that takes its time.
@Suite(.timeLimit(.minutes(15))) struct RepublishTests {
    private final class TwoManagers: AppDelegate, Sendable {
        let managers = Lock<[PeripheralManager]>([])

        func app(_ app: isolated App, didFinishLaunching options: LaunchOptions) {
            let made = ["a", "b"].compactMap { try? app.makePeripheralManager(restoreIdentifier: $0) }
            managers.withLock { $0 = made }
        }

        func app(_ app: isolated App, didChange change: AppChange) {}
    }

    private func start(
        _ radio: FakeRadio, _ directory: StateDirectory, before: () async throws -> Void = {}
    ) async throws -> (Phone, TwoManagers) {
        let phone = Phone(
            radio: radio, identity: DeviceIdentity(name: "iPhone"), stateDirectory: directory)
        let code = TwoManagers()
        let app = await phone.makeApp(
            AppDescription(name: "two", restoreIdentifiers: ["a", "b"]), delegate: code, clock: ManualClock())
        try await phone.start()
        try await before()
        await app.enterForeground()
        return (phone, code)
    }

    @Test func `the preserved services of two managers are published once each`() async throws {
        let temporary = try TemporaryDirectory()
        var (phone, code) = try await start(FakeRadio(), try StateDirectory(path: temporary.path))
        for (manager, uuid) in zip(code.managers.withLock { $0 }, ["1810", "180D"] as [BluetoothUUID]) {
            try await manager.add(
                ServiceDefinition(
                    uuid: uuid, characteristics: [.init(uuid: "2A19", properties: .read, value: [1])]))
        }
        await phone.stop()
        let radio = FakeRadio()
        (phone, code) = try await start(radio, try StateDirectory(path: temporary.path)) {
            await radio.holdPublishing()
        }
        // Each manager that comes back has everything published that is kept, and so has the first one the
        // second's.
        try await until("two calls of the radio are held") { await radio.heldCount >= 2 }
        await radio.release()
        let managers = code.managers.withLock { $0 }
        try await until("two batches of services are published") { await radio.published.count >= 2 }
        #expect(
            await radio.published.flatMap(\.services).map(\.uuid.description).sorted() == ["180D", "1810"])
        for manager in managers { await manager.removeAllServices() }
        #expect(await radio.published.isEmpty)
        await phone.stop()
    }

    @Test func `a manager that is dropped while its restored services are published has none`() async throws {
        let temporary = try TemporaryDirectory()
        var (phone, code) = try await start(FakeRadio(), try StateDirectory(path: temporary.path))
        for uuid in ["1810", "180D"] as [BluetoothUUID] {
            let manager = try #require(code.managers.withLock { $0.first })
            try await manager.add(
                ServiceDefinition(
                    uuid: uuid, characteristics: [.init(uuid: "2A19", properties: .read, value: [1])]))
        }
        await phone.stop()
        let radio = FakeRadio()
        (phone, code) = try await start(radio, try StateDirectory(path: temporary.path)) {
            await radio.holdPublishing()
        }
        try await until("one call of the radio is held") { await radio.heldCount >= 1 }
        code.managers.withLock { $0 = [] }
        // A call that comes after it finds the manager gone.
        try await until("the manager is released") { await phone.hasNoManagers }
        await radio.release()
        // The work after the call takes a few turns of the executor, if it goes on at all.
        for _ in 0..<100 { _ = await phone.radioState }
        #expect(await radio.published.isEmpty)
        await phone.stop()
    }

    @Test func `a phone that is stopped while it publishes restored services has not started`() async throws {
        let temporary = try TemporaryDirectory()
        let level = CharacteristicDefinition(uuid: "2A19", properties: .read)
        let code = TestApp(restoreIdentifier: "a")
        for isSecond in [false, true] {
            let radio = FakeRadio()
            let phone = Phone(
                radio: radio, identity: DeviceIdentity(name: "iPhone"),
                stateDirectory: try StateDirectory(path: temporary.path))
            let app = await phone.makeApp(
                AppDescription(name: "one", restoreIdentifiers: ["a"]), delegate: code, clock: ManualClock())
            await app.enterForeground()
            guard isSecond else {
                try await phone.start()
                try await code.manager?.add(ServiceDefinition(uuid: "1810", characteristics: [level]))
                await phone.stop()
                continue
            }
            await radio.holdPublishing()
            let start = Task { try await phone.start() }
            try await until("one call of the radio is held") { await radio.heldCount == 1 }
            await phone.stop()
            await radio.release()
            let error = await #expect(throws: RadioError.self) { try await start.value }
            #expect(error?.code == .invalidState)
            #expect(await !radio.isRunning)
        }
    }

    @Test func `an event on its way when its app is relaunched goes to the app's new manager`() async throws {
        let temporary = try TemporaryDirectory()
        let code = TestApp(restoreIdentifier: "a")
        let radio = FakeRadio()
        var rules = AppRules()
        rules.backgroundModes = [.bluetoothPeripheral]
        let level = CharacteristicDefinition(uuid: "2A19", properties: .read)
        for isSecond in [false, true] {
            let phone = Phone(
                radio: radio, identity: DeviceIdentity(name: "iPhone"),
                stateDirectory: try StateDirectory(path: temporary.path))
            let app = await phone.makeApp(
                AppDescription(name: "one", rules: rules, restoreIdentifiers: ["a"]), delegate: code,
                clock: ManualClock())
            await app.enterForeground()
            guard isSecond else {
                try await phone.start()
                try await code.manager?.add(ServiceDefinition(uuid: "1810", characteristics: [level]))
                await phone.stop()
                continue
            }
            await radio.holdPublishing()
            let starting = Task { try await phone.start() }
            try await until("one call of the radio is held") { await radio.heldCount == 1 }
            await app.terminate()
            await app.enterForeground()
            await radio.release()
            _ = try await starting.value
            try await until("one batch of services is published") { await radio.published.count == 1 }
            let key = try #require(await radio.published.first).services[0].characteristics[0].key
            let request = ReadRequest(central: Peer.ID(1), attribute: key)
            #expect(try await radio.request(.read(request)) == .success([7]))
            // It is its own to withdraw.
            await code.manager?.removeAllServices()
            #expect(await radio.published.isEmpty)
            await phone.stop()
        }
    }
}

extension Phone {
    fileprivate var hasNoManagers: Bool { memory.managers.isEmpty }
}
