// A central that finds a heart-rate monitor, subscribes to its measurements, prints three and disconnects.
//
// In another terminal: `swift run HeartRateMonitor`, or `mynah run profiles/heart-rate.yaml --radio virtual`.
import Mynah
import MynahCore
import MynahHCI
import MynahHost

let controller = try SharedAir().transport(cipher: ControllerConfiguration.aes)
let manager = CentralManager(radio: HostRadio(transport: controller))
let events = await manager.events()
try await manager.start()
try await manager.scanForPeripherals(withServices: ["180D"])
print("scanning")

var (isFound, rates) = (false, 0)
loop: for await event in events {
    switch event {
    case .discovered(let discovery):
        // A report from before the scan stopped may still come.
        guard !isFound else { continue }
        isFound = true
        print("discovered \(discovery.advertisement.localName ?? "a device without a name")")
        await manager.stopScan()
        let peripheral = discovery.peripheral
        try await manager.connect(peripheral, timeout: .seconds(10))
        guard let service = try await peripheral.discoverServices(["180D"]).first else { continue }
        for found in try await peripheral.discoverCharacteristics(["2A37", "2A38", "2A39"], for: service) {
            switch found.uuid {
            case "2A37": try await peripheral.setNotifyValue(true, for: found)
            case "2A38": print("body sensor location:", try await peripheral.readValue(for: found))
            default: try await peripheral.writeValue([1], for: found, type: .withResponse)
            }
        }
    case .valueUpdated(let update):
        rates += 1
        // Flags, then beats per minute. The device sends until the connection ends.
        if rates <= 3 { print("\(update.value[1]) beats per minute") }
        if rates == 3 { await manager.cancelPeripheralConnection(update.peripheral) }
    case .disconnected:
        print("disconnected")
        break loop
    default:
        break
    }
}
await manager.stop()
