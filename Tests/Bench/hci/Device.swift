import MynahCore
import MynahHCI
import MynahHost
import MynahSupport

/// A device with a value that is read and notified, advertised every 20 ms.
struct Device {
    static let address = DeviceAddress(value: 0xC000_0000_0001, kind: .public)
    static let value = CharacteristicDefinition(uuid: "2A37", properties: [.read, .notify])

    let radio: HostRadio
    let sink: DeviceSink

    init(on transport: any HCITransport) async throws {
        sink = DeviceSink()
        radio = HostRadio(transport: transport)
        _ = try await radio.start(DeviceIdentity(name: "Bench"), sink: sink)
        _ = try await radio.publish([ServiceDefinition(uuid: "180D", characteristics: [Self.value])])
        var advertisement = Advertisement()
        advertisement.localName = "Bench"
        advertisement.interval = .milliseconds(20)
        _ = try await radio.advertise(advertisement)
    }

    /// Lasts until its process is ended, and the radio with it.
    func play() async {
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
        await radio.stop()
    }
}

/// Answers each read with the same bytes, as an application would.
final class DeviceSink: RadioSink {
    let ready = Lock<CheckedContinuation<Void, Never>?>(nil)

    func handle(_ event: RadioEvent) -> RadioAnswer {
        switch event {
        case .read: return .answer(.success([1, 2, 3, 4]))
        case .readyToSend:
            ready.withLock { waiting in
                waiting?.resume()
                waiting = nil
            }
        default: break
        }
        return .none
    }
}
