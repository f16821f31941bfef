import MynahCore
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
        await radio.releasePublishing()
        let managers = await app.managers
        try await until { await radio.published.count >= 2 }
        await app.republish()
        #expect(
            await radio.published.flatMap(\.services).map(\.uuid.description).sorted() == ["180D", "180F"])
        for manager in managers { await manager.removeAllServices() }
        #expect(await radio.published.isEmpty)
        await phone.stop()
    }
}
