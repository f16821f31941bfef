// A central that finds a heart-rate monitor, subscribes to its measurements, prints three and disconnects.
//
// In another terminal: `swift run HeartRateMonitor`, or `mynah run profiles/heart-rate.yaml --radio virtual`.
import Mynah
import MynahHost

let manager = CentralManager(radio: try HostRadio.virtual())
try await manager.start()
print("scanning")
for await discovery in try await manager.discoveries(of: ["180D"]).prefix(1) {
    print("discovered \(discovery.advertisement.localName ?? "a device without a name")")
    let strap = discovery.peripheral
    try await manager.connect(strap, timeout: .seconds(10))
    try await strap.discoverAll(["180D"])
    if let location = await strap.characteristic("2A38") {
        print("body sensor location:", try await strap.readValue(for: location))
    }
    if let controlPoint = await strap.characteristic("2A39") {
        try await strap.writeValue([1], for: controlPoint, type: .withResponse)
    }
    guard let rate = await strap.characteristic("2A37") else { break }
    // Flags, then beats per minute. The device sends until the connection ends.
    for await value in try await strap.values(of: rate).prefix(3) { print("\(value[1]) beats per minute") }
}
// The connections end with the manager.
await manager.stop()
