import Glibc
import Mynah
import MynahBlueZ
import MynahCore
import MynahSupport

/// A device made with the library whose handler takes its time: one value comes after two seconds, another
/// never.
@main struct Slow {
    static func main() async throws {
        let sink = SlowSink()
        let phone = Phone(radio: BlueZRadio(), identity: DeviceIdentity(name: "Slow"))
        try await phone.start()
        let manager = await phone.makePeripheralManager(sink: sink)
        try await manager.add(ServiceDefinition(uuid: "180D", characteristics: [sink.late, sink.never]))
        var advertisement = Advertisement()
        advertisement.serviceUUIDs = ["180D"]
        try await manager.startAdvertising(advertisement)
        print("ready")
        fflush(nil)
        // Until it is ended by a signal.
        while true { try await Task.sleep(for: .seconds(3600)) }
    }
}

/// Keeps each read waiting.
final class SlowSink: PeripheralSink {
    let late = CharacteristicDefinition(uuid: "2A38", properties: .read)
    let never = CharacteristicDefinition(uuid: "2A39", properties: .read)
    private let kept = Lock<[PendingReply]>([])

    func handle(_ event: PeripheralEvent) -> RadioAnswer {
        guard case .read(let request, _) = event else { return .none }
        let reply = PendingReply()
        if request.attribute == late.key {
            Task {
                try? await Task.sleep(for: .seconds(2))
                reply.answer(.success([0x2A]))
            }
        } else {
            kept.withLock { $0.append(reply) }
        }
        return .later(reply.pending)
    }
}
