// A heart-rate monitor on the virtual radio. It ends when the central that used it has disconnected.
//
// In a second terminal: `swift run Subscriber`, `swift run MainActorApp`, or `mynah connect Example`.
import Mynah
import MynahHost

let rate = CharacteristicDefinition(uuid: "2A37", properties: [.notify])
let location = CharacteristicDefinition(uuid: "2A38", properties: [.read], value: [1])
let controlPoint = CharacteristicDefinition(uuid: "2A39", properties: [.write])
let heartRate = ServiceDefinition(uuid: "180D", characteristics: [rate, location, controlPoint])
let events = try await PeripheralManager.serve([heartRate], as: "Example HRM", on: .virtual())
print("advertising")

/// Sends a subscriber a heart rate every 200 ms: flags, then beats per minute (Heart Rate Service 1.0).
func sendRates(by manager: PeripheralManager) async throws {
    for beats: UInt8 in 60...180 {
        repeat {
            try await Task.sleep(for: .milliseconds(200))
        } while await !manager.hasSubscribers(of: rate.key)
        // `false` means that the subscriber has no room: the next value is sent in its place.
        _ = try await manager.updateValue([0, beats], for: rate.key)
    }
}

// The sending ends at 180 beats per minute, and is cancelled when the program ends.
async let sending: Void = sendRates(by: events.manager)
loop: for await event in events {
    switch event.event {
    case .connected: print("connected")
    case .subscribed: print("subscribed")
    case .write(let request, _):
        print("written:", request.parts[0].value)
        event.accept()
    case .disconnected:
        print("disconnected")
        break loop
    default: break
    }
}
