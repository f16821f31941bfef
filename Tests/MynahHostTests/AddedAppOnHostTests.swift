import Mynah
import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

/// Apps that join and leave a phone on our own host, as another phone on the same air sees it.
@Suite(.timeLimit(.minutes(15))) struct AddedAppOnHostTests {
    private func device(_ name: String, _ service: String) throws -> EmulatedDevice {
        let text = AppProfile.text(name, service)
        return EmulatedDevice(try ProfileLoader.load(text: text, file: "test.yaml"), seed: 1)
    }

    /// Keeps the names that the other phone has heard.
    private final class Names: CentralManagerSink {
        private let names = Lock<Set<String>>([])

        func handle(_ event: CentralManagerEvent) -> RadioAnswer {
            if case .discovered(let found) = event, let name = found.advertisement.localName {
                names.withLock { _ = $0.insert(name) }
            }
            return .none
        }

        var all: Set<String> { names.withLock { $0 } }
    }

    @Test func `another phone finds the app that joins, and reads the one that stays`() async throws {
        let rig = try await CentralRig(starts: false)
        let emulator = Emulator([try device("One", "180D")], on: rig.device, clock: ContinuousClock())
        let phone = Phone(radio: rig.phone, identity: DeviceIdentity(name: "iPhone"))
        let names = Names()
        let manager = try await phone.makeCentralManager(sink: names)
        try await emulator.start()
        try await phone.start()
        try await manager.start()
        try await manager.scanForPeripherals(withServices: nil)
        try await until("One is found") { names.all.contains("One") }
        try await emulator.add(try device("Two", "1810"))
        try await until("Two is found") { names.all.contains("Two") }
        await manager.stopScan()
        let peripheral = await manager.peripheral(at: rig.address)
        try await manager.connect(peripheral, timeout: nil)
        func texts() async throws -> [String] {
            var texts: [String] = []
            for service in try await peripheral.discoverAll() {
                for characteristic in service.characteristics where characteristic.uuid == "2A39" {
                    texts.append(
                        String(decoding: try await peripheral.readValue(for: characteristic), as: UTF8.self))
                }
            }
            return texts
        }
        #expect(try await texts() == ["One", "Two"])
        try await emulator.remove("One")
        #expect(try await texts() == ["Two"])
        await emulator.stop()
        await phone.stop()
    }
}
