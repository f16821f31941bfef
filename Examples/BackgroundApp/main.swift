// An iOS app that advertises, is suspended, terminated by the system, and relaunched and restored when a
// central reads its value. The phone and the central are in one process, on the virtual radio.
import Mynah
import MynahHost

final class Code: AppDelegate, PeripheralManagerDelegate {
    let level = CharacteristicDefinition(uuid: "2A19", properties: [.read])
    /// Services and advertising end with their manager, so the app keeps it.
    var manager: PeripheralManager?

    func app(_ app: isolated App, didFinishLaunching options: LaunchOptions) {
        print("app: launched for \(options.restoreIdentifiers)")
        manager = try? app.makePeripheralManager(restoreIdentifier: "main", delegate: self)
    }
    func app(_ app: isolated App, didChange change: AppChange) {
        if case .woken(let event, _, _) = change { print("app: woken by a \(event.rawValue)") }
    }
    func peripheralManager(_ manager: isolated PeripheralManager, didReceive event: PeripheralEvent)
        -> RadioAnswer
    {
        switch event {
        case .willRestoreState(let state): print("app: restored with", state.services.map(\.uuid))
        // Restored services are published already.
        case .stateChanged(.poweredOn) where manager.services.isEmpty:
            manager.add(ServiceDefinition(uuid: "FFF0", characteristics: [level]))
            manager.startAdvertising(Advertisement(localName: "Fred", serviceUUIDs: ["FFF0"]))
        case .read: return .answer(.success([99]))
        default: break
        }
        return .none
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
