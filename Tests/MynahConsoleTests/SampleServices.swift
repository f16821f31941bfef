import MynahCore

@testable import Mynah

/// The services of a device, as they were discovered.
enum SampleServices {
    static func all() throws -> [DiscoveredService] {
        var rate = DiscoveredService(RemoteService(uuid: "180D", handles: 16...23))
        var measurement = characteristic("2A37", 18, [.read, .notify], of: "180D")
        measurement.descriptors = [RemoteDescriptor(uuid: "2902", handle: 19)]
        rate.characteristics = [measurement, characteristic("2A39", 23, .write, of: "180D")]
        var batteries: [DiscoveredService] = []
        for start: AttributeHandle in [24, 40] {
            var battery = DiscoveredService(RemoteService(uuid: "180F", handles: start...(start + 3)))
            battery.characteristics = [characteristic("2A19", start + 2, .read, of: "180F")]
            batteries.append(battery)
        }
        batteries[0].includedServices = [RemoteService(uuid: "180A", isPrimary: false, handles: 50...51)]
        return [rate] + batteries
    }

    private static func characteristic(
        _ uuid: BluetoothUUID, _ handle: AttributeHandle, _ properties: CharacteristicProperties,
        of service: BluetoothUUID
    ) -> DiscoveredCharacteristic {
        DiscoveredCharacteristic(
            RemoteCharacteristic(
                uuid: uuid, properties: properties,
                declaration: AttributeHandle(rawValue: handle.rawValue - 1),
                handle: handle, end: handle + 1), of: service)
    }
}
