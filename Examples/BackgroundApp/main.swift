// An iOS app that advertises, is suspended, terminated by the system, and relaunched and restored when a
// central reads its value. The phone and the central are in one process, on the virtual radio.
import Mynah
import MynahHost
import Synchronization

final class Code: AppDelegate, PeripheralSink {
    let level = CharacteristicDefinition(uuid: "2A19", properties: [.read])
    /// Services and advertising end with their manager, so the app keeps it.
    let manager = Mutex<PeripheralManager?>(nil)

    func app(_ app: App, didFinishLaunching options: LaunchOptions) {
        print("app: launched for \(options.restoreIdentifiers)")
        let made = app.assumeIsolated { try? $0.makePeripheralManager(restoreIdentifier: "main", sink: self) }
        manager.withLock { $0 = made }
    }
    func app(_ app: App, didChange change: AppChange) {
        if case .woken(let event, _, _) = change { print("app: woken by a \(event.rawValue)") }
    }
    func handle(_ event: PeripheralEvent) -> RadioAnswer {
        switch event {
        case .willRestoreState(let state): print("app: restored with", state.services.map(\.uuid))
        case .stateChanged(.poweredOn): Task { try await publish() }
        case .read: return .answer(.success([99]))
        default: break
        }
        return .none
    }
    private func publish() async throws {
        // Restored services are published already.
        guard let manager = manager.withLock({ $0 }), await manager.services.isEmpty else { return }
        try await manager.add(ServiceDefinition(uuid: "FFF0", characteristics: [level]))
        try await manager.startAdvertising(Advertisement(localName: "Fred", serviceUUIDs: ["FFF0"]))
    }
}

let air = try SharedAir()
let phone = Phone(radio: try HostRadio.virtual(on: air), identity: DeviceIdentity(name: "iPhone"))
var rules = AppRules()
rules.backgroundModes = [.bluetoothPeripheral]
let battery = AppDescription(name: "Battery", rules: rules, restoreIdentifiers: ["main"])
let app = await phone.makeApp(battery, delegate: Code(), clock: ContinuousClock())
await app.enterForeground()
guard let address = try await phone.start().address else { fatalError("this radio has an address") }

let central = CentralManager(radio: try HostRadio.virtual(on: air))
try await central.start()
let peripheral = await central.peripheral(at: address)
try await central.connect(peripheral, timeout: .seconds(10))
let level = try await peripheral.discoverAll(["FFF0"])[0].characteristics[0]
for step in [{ await app.enterBackground() }, { await app.suspend() }, { await app.terminate() }] {
    await step()
    print("app: \(await app.state.rawValue); central: reads \(try await peripheral.readValue(for: level))")
}
await central.stop()
await phone.stop()
