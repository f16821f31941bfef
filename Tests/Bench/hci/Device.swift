import MynahCore
import MynahHCI
import MynahHost
import MynahSupport

/// A device with a value that is read, written and notified, advertised every 20 ms.
struct Device {
    static let address = DeviceAddress(value: 0xC000_0000_0001, kind: .public)

    let radio: HostRadio
    let sink: DeviceSink
    /// Of the value.
    let handle: AttributeHandle
    private let key: AttributeKey

    init(on transport: any HCITransport, interval: Duration = .milliseconds(20)) async throws {
        // A definition of its own, because each has a key.
        let value = CharacteristicDefinition(
            uuid: "2A37", properties: [.read, .write, .writeWithoutResponse, .notify])
        sink = DeviceSink()
        radio = HostRadio(transport: transport)
        _ = try await radio.start(DeviceIdentity(name: "Bench"), sink: sink)
        let published = try await radio.publish([ServiceDefinition(uuid: "180D", characteristics: [value])])
        handle = published.handles[value.key] ?? 0
        key = value.key
        var advertisement = Advertisement()
        advertisement.localName = "Bench"
        advertisement.serviceUUIDs = ["180D"]
        advertisement.interval = interval
        _ = try await radio.advertise(advertisement)
    }

    /// Sends so many numbers as fast as there is room.
    func flood(_ count: Int) async throws {
        var next: UInt32 = 0
        while next < count {
            next = try await radio.fill(key, from: next, to: UInt32(count))
            if next < count { await sink.wait() }
        }
    }

    /// Lasts until its process is ended, and the radio with it.
    func play() async {
        // Nothing is left to do here: the radio plays by itself.
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
        await radio.stop()
    }
}

extension HostRadio {
    /// Sends numbers until there is no room, and returns the next one.
    fileprivate func fill(_ key: AttributeKey, from first: UInt32, to end: UInt32) throws -> UInt32 {
        for number in first..<end {
            let value = (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
            guard case .sent = try send(value, of: key, as: .notification, to: nil) else { return number }
        }
        return end
    }
}

/// Answers each read with the same bytes, as an application would.
final class DeviceSink: RadioSink {
    private struct State {
        var isReady = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Lock(State())

    /// Until there is room again.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                defer { state.isReady = false }
                if !state.isReady { state.waiting = continuation }
                return state.isReady
            }
            if isReady { continuation.resume() }
        }
    }

    func handle(_ event: RadioEvent) -> RadioAnswer {
        switch event {
        case .read: return .answer(.success([1, 2, 3, 4]))
        case .write: return .answer(.success([]))
        case .readyToSend:
            let waiting = state.withLock { state in
                defer { state.waiting = nil }
                state.isReady = state.waiting == nil
                return state.waiting
            }
            waiting?.resume()
        default: break
        }
        return .none
    }
}
