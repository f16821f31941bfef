import MynahCore
import MynahLifecycle
import MynahTestSupport
import Testing

@testable import Mynah

/// An app with two managers whose state is kept, on a radio that takes its time.
@Suite(.timeLimit(.minutes(1))) struct RepublishTests {
    private final class TwoManagers: AppDelegate {
        func app(_ app: App, didFinishLaunching options: LaunchOptions) {
            app.assumeIsolated { app in
                for identifier in ["a", "b"] {
                    _ = try? app.makePeripheralManager(restoreIdentifier: identifier)
                }
            }
        }

        func app(_ app: App, didChange change: AppChange) {}
    }

    private func start(
        _ radio: FakeRadio, _ directory: StateDirectory, before: () async throws -> Void = {}
    ) async throws -> (Phone, App) {
        let phone = Phone(
            radio: radio, identity: DeviceIdentity(name: "iPhone"), stateDirectory: directory)
        let app = await phone.makeApp(
            AppDescription(name: "two", restoreIdentifiers: ["a", "b"]), delegate: TwoManagers(),
            clock: ManualClock())
        try await phone.start()
        try await before()
        await app.enterForeground()
        return (phone, app)
    }

    @Test func `what is kept of two managers is published once each`() async throws {
        let temporary = try TemporaryDirectory()
        var (phone, app) = try await start(FakeRadio(), try StateDirectory(path: temporary.path))
        for (manager, uuid) in zip(await app.managers, ["180F", "180D"] as [BluetoothUUID]) {
            try await manager.add(
                ServiceDefinition(
                    uuid: uuid, characteristics: [.init(uuid: "2A19", properties: .read, value: [1])]))
        }
        await phone.stop()
        let radio = FakeRadio()
        (phone, app) = try await start(radio, try StateDirectory(path: temporary.path)) {
            await radio.holdPublishing()
        }
        // Each manager that comes back has everything published that is kept, and so has the first one the second's.
        try await until { await radio.heldCount >= 2 }
        await radio.release()
        let managers = await app.managers
        try await until { await radio.published.count >= 2 }
        await app.republish()
        #expect(
            await radio.published.flatMap(\.services).map(\.uuid.description).sorted() == ["180D", "180F"])
        for manager in managers { await manager.removeAllServices() }
        #expect(await radio.published.isEmpty)
        await phone.stop()
    }

    @Test func `what is on its way when its app is relaunched goes to the app's new manager`() async throws {
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
                try await code.manager?.add(ServiceDefinition(uuid: "180F", characteristics: [level]))
                await phone.stop()
                continue
            }
            await radio.holdPublishing()
            let starting = Task { try await phone.start() }
            try await until { await radio.heldCount == 1 }
            await app.terminate()
            await app.enterForeground()
            await radio.release()
            _ = try await starting.value
            try await until { await radio.published.count == 1 }
            let key = try #require(await radio.published.first).services[0].characteristics[0].key
            let request = ReadRequest(central: Peer.ID(1), attribute: key)
            #expect(await radio.request(.read(request)) == .success([7]))
            // It is its own to withdraw.
            await code.manager?.removeAllServices()
            #expect(await radio.published.isEmpty)
            await phone.stop()
        }
    }
}
