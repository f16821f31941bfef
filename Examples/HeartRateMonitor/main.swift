// A heart-rate monitor on the virtual radio. It ends when the central that used it has disconnected.
//
// In a second terminal: `swift run Subscriber`, or `mynah connect Example`.
import Mynah
import MynahCore
import MynahHCI
import MynahHost

let rate = CharacteristicDefinition(uuid: "2A37", properties: [.notify])
let location = CharacteristicDefinition(uuid: "2A38", properties: [.read], value: [1])
let controlPoint = CharacteristicDefinition(uuid: "2A39", properties: [.write])

let controller = try SharedAir().transport(cipher: ControllerConfiguration.aes)
let phone = Phone(radio: HostRadio(transport: controller), identity: DeviceIdentity(name: "Example HRM"))
try await phone.start()
let manager = await phone.makePeripheralManager()
let events = await manager.events()
try await manager.add(ServiceDefinition(uuid: "180D", characteristics: [rate, location, controlPoint]))
try await manager.startAdvertising(Advertisement(localName: "Example HRM", serviceUUIDs: ["180D"]))
print("advertising")

/// Sends a heart rate every 200 ms: flags, then beats per minute (Heart Rate Service 1.0, 3.1.1).
func sendRates() async throws {
    for beat in 0... {
        let beats = UInt8(60 + beat % 120)
        // `false` means that the subscriber has no room: the next value is sent in its place.
        _ = try await manager.updateValue([0, beats], for: rate.key)
        try await Task.sleep(for: .milliseconds(200))
    }
}

var sending: Task<Void, any Error>?
loop: for await event in events {
    switch event.event {
    case .connected:
        print("connected")
    case .subscribed:
        print("subscribed")
        sending = Task { try await sendRates() }
    case .unsubscribed:
        print("unsubscribed")
        sending?.cancel()
    case .write(let request, _):
        print("written:", request.parts[0].value)
        event.respond(.success([]))
    case .disconnected:
        print("disconnected")
        break loop
    default:
        break
    }
}
sending?.cancel()
await phone.stop()
