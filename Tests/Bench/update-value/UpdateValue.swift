import Mynah
import MynahBlueZ
import MynahCore
import MynahSupport

/// A device made with the library that sends a counter as fast as `updateValue` takes it; the bench looks for
/// gaps.
@main struct UpdateValue {
    static func main() async throws {
        var options = BlueZRadio.Options()
        options.notificationRate = nil
        let phone = Phone(radio: BlueZRadio(options: options), identity: DeviceIdentity(name: "Bench"))
        _ = try await phone.start()
        let measurement = CharacteristicDefinition(
            uuid: BluetoothUUID(0x2A37 as UInt16), properties: [.read, .notify])
        let pump = Pump(measurement.key)
        let manager = await phone.makePeripheralManager(sink: pump)
        pump.manager.withLock { $0 = manager }
        _ = try await manager.add(
            ServiceDefinition(uuid: BluetoothUUID(0x180D as UInt16), characteristics: [measurement]))
        var advertisement = Advertisement()
        advertisement.serviceUUIDs = [BluetoothUUID(0x180D as UInt16)]
        _ = try await manager.startAdvertising(advertisement)
        // Until it is ended by a signal.
        while true { try await Task.sleep(for: .seconds(3600)) }
    }
}

/// Sends the next number whenever there is room.
final class Pump: PeripheralSink {
    let manager = Lock<PeripheralManager?>(nil)
    private let attribute: AttributeKey
    private let counter = Lock<UInt32>(0)

    init(_ attribute: AttributeKey) {
        self.attribute = attribute
    }

    func handle(_ event: PeripheralEvent) -> RadioAnswer {
        switch event {
        case .subscribed, .readyToUpdateSubscribers:
            if let manager = manager.withLock({ $0 }) { fill(manager) }
            return .none
        case .read:
            return .answer(.success([0, 0, 0, 0]))
        default:
            return .none
        }
    }

    private func fill(_ manager: PeripheralManager) {
        manager.assumeIsolated { manager in
            while manager.hasSubscribers(of: attribute) {
                let next = counter.withLock { $0 } &+ 1
                let value = (0..<4).map { UInt8(truncatingIfNeeded: next >> ($0 * 8)) }
                guard (try? manager.updateValue(value, for: attribute)) == true else { return }
                counter.withLock { $0 = next }
            }
        }
    }
}
