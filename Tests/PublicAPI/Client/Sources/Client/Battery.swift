import Mynah
import MynahCore
import MynahLifecycle

/// A battery on any radio, with the product `Mynah` alone.
public func playBattery(on radio: any PeripheralRadio) async throws {
    let level = CharacteristicDefinition(uuid: "2A19", properties: [.read, .notify])
    let phone = Phone(
        radio: radio, identity: DeviceIdentity(name: "My battery"), advertising: PhoneAdvertising())
    try await phone.start()
    let manager = await phone.makePeripheralManager()
    let events = await manager.events()
    _ = try await manager.add(ServiceDefinition(uuid: "180F", characteristics: [level]))
    for await event in events {
        if case .read = event.event { event.respond(.success([99])) }
    }
}
