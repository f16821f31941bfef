import MynahCore
import MynahHCI
import MynahHost
import MynahSupport

/// Our central, which looks at a device of another stack and says what it sees.
struct Phone {
    private let radio: HostRadio
    private let target: DeviceAddress
    private let ears = Ears()

    init(_ transport: any HCITransport, _ target: DeviceAddress) {
        radio = HostRadio(transport: transport)
        self.target = target
    }

    func run() async throws {
        try await radio.start(DeviceIdentity(name: "Mynah phone"), central: ears)
        try await radio.scan(ScanOptions())
        await ears.wait { $0.heard.contains(target) }
        await radio.stopScan()
        Helper.say("found")
        let peer = try await radio.connect(target, timeout: .seconds(20))
        Helper.say("mtu", "\(try await radio.exchangeMTU(with: peer.id))")
        let services = try await radio.discoverServices(nil, of: peer.id)
        Helper.say("services", services.map { "\($0.uuid)" }.joined(separator: ","))
        guard let service = services.first(where: { $0.uuid == Attributes.uuid(1) }) else { return }
        let found = try await radio.discoverCharacteristics(in: service, of: peer.id)
        Helper.say("characteristics", "\(found.count)")
        func handle(_ number: UInt8) -> AttributeHandle {
            found.first { $0.uuid == Attributes.uuid(number) }?.handle ?? 0
        }
        Helper.say("value", Hex.encode(try await radio.read(handle(2), of: peer.id)))
        Helper.say("long", Hex.encode(try await radio.read(handle(3), of: peer.id)))
        try await radio.write([9, 8, 7], to: handle(2), of: peer.id)
        Helper.say("value", Hex.encode(try await radio.read(handle(2), of: peer.id)))
        _ = try await radio.writeWithoutResponse([4, 2], to: handle(6), of: peer.id)
        Helper.say("command", Hex.encode(try await radio.read(handle(6), of: peer.id)))
        do {
            _ = try await radio.read(handle(5), of: peer.id)
        } catch {
            Helper.say("locked", "refused")
        }
        if let ticks = found.first(where: { $0.uuid == Attributes.uuid(4) }) {
            let descriptors = try await radio.discoverDescriptors(of: ticks, of: peer.id)
            if let configuration = descriptors.first(where: { $0.uuid == GATT.clientConfiguration }) {
                for (bits, delivery) in [(1, Delivery.notification), (2, .indication)] as [(UInt8, Delivery)]
                {
                    try await radio.write([bits, 0], to: configuration.handle, of: peer.id)
                    Helper.say("subscribed", delivery.rawValue)
                    await ears.wait { $0.values.contains { $0.1 == delivery } }
                    let values = ears.state.withLock { $0.values.filter { $0.1 == delivery }.map(\.0) }
                    Helper.say(delivery.rawValue, Hex.encode(values[0]))
                }
            }
        }
        let channel = try await radio.openL2CAPChannel(0x80, with: peer.id)
        for length in [1, 500, 2048] {
            try await channel.send((0..<length).map { UInt8($0 & 0xFF) })
            var back: [UInt8] = []
            while back.count < length, let piece = await channel.receive() { back += piece }
            Helper.say("echo", "\(back == (0..<length).map { UInt8($0 & 0xFF) })")
        }
        await channel.close()
        try await radio.pair(peer.id)
        Helper.say("locked", Hex.encode(try await radio.read(handle(5), of: peer.id)))
        await radio.disconnect(peer.id)
        await ears.wait { $0.ended == 1 }
        let again = try await radio.connect(target, timeout: .seconds(20))
        try await radio.pair(again.id)
        Helper.say("again", Hex.encode(try await radio.read(handle(5), of: again.id)))
        await radio.stop()
        Helper.say("done")
    }
}

/// The phone's events.
final class Ears: CentralSink {
    struct State {
        var heard: Set<DeviceAddress> = []
        var values: [([UInt8], Delivery)] = []
        var ended = 0
        var waiter: (@Sendable (State) -> Bool, CheckedContinuation<Void, Never>)?
    }
    let state = Lock(State())

    func handle(_ event: CentralEvent) -> RadioAnswer {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            switch event {
            case .heard(let report): state.heard.insert(report.address)
            case .notified(_, _, let value, let delivery): state.values.append((value, delivery))
            case .disconnected: state.ended += 1
            default: break
            }
            guard let (condition, continuation) = state.waiter, condition(state) else { return nil }
            state.waiter = nil
            return continuation
        }
        waiter?.resume()
        return .none
    }

    func wait(_ condition: @escaping @Sendable (State) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if condition(state) { return true }
                state.waiter = (condition, continuation)
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}
