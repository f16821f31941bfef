import MynahCore
import MynahFaults
import MynahSupport
import MynahTestSupport

/// A radio with faults around a radio without air, and a sink that notes what reaches it.
struct FaultRig {
    /// Notes events and firings in their order, and answers reads and writes.
    final class Sink: RadioSink {
        struct State {
            var value: [UInt8] = [1, 2, 3, 4]
            var later: [PendingReply] = []
            var answersLater = false
        }

        let log = Mailbox<String>("events at the sink")
        let state = Lock(State())

        func handle(_ event: RadioEvent) -> RadioAnswer {
            if let text = Self.text(event) { log.put(text) }
            switch event {
            case .read(let request):
                return answer(.success(Array(state.withLock { $0.value }[request.offset...])))
            case .write: return answer(.success([]))
            default: return .none
            }
        }

        private func answer(_ outcome: PendingReply.Outcome) -> RadioAnswer {
            state.withLock { state in
                guard state.answersLater else { return .answer(outcome) }
                let reply = PendingReply()
                state.later.append(reply)
                return .later(reply.pending)
            }
        }

        private static func text(_ event: RadioEvent) -> String? {
            switch event {
            case .read(let request): "read at \(request.offset)"
            case .answeredRead(let request, let value): "answered \(Hex.encode(value)) at \(request.offset)"
            case .write(let request): "write \(Hex.encode(request.parts.flatMap(\.value)))"
            case .refused(let request): "refused \(request.access) \(Hex.encode([request.error.code]))"
            case .connected(let peer): "connected \(peer.id.rawValue)"
            case .disconnected(let id): "disconnected \(id.rawValue)"
            case .paired(let id): "paired \(id.rawValue)"
            case .subscribed(_, let id, _): "subscribed \(id.map { "\($0.rawValue)" } ?? "unnamed")"
            case .unsubscribed(_, let id): "unsubscribed \(id.map { "\($0.rawValue)" } ?? "unnamed")"
            case .advertisingChanged(let report): "advertising \(Hex.encode(report.data))"
            case .warning(let warning): "warning \(warning.message)"
            case .readyToSend: "readyToSend"
            case .stateChanged(let state) where state != .poweredOn: "state \(state)"
            case .lost(let error): "lost \(error)"
            case .recovered: "recovered"
            default: nil
            }
        }
    }

    let fake: FakeRadio
    let radio: FaultyRadio
    let sink = Sink()
    let clock = ManualClock()
    /// A characteristic that the sink is asked for, and one with a value of its own, in two services.
    let asked = AttributeKey()
    let fixed = AttributeKey()
    let services: [ServiceDefinition]
    let id: PublishedServices.ID

    static let first = Peer(id: Peer.ID(1), address: DeviceAddress(value: 0xA1, kind: .random))
    static let second = Peer(id: Peer.ID(2), address: DeviceAddress(value: 0xA2, kind: .random))

    init(
        capabilities: RadioCapabilities = RadioCapabilities(name: "fake"), holds: Bool = true,
        _ faults: (_ asked: AttributeKey, _ fixed: AttributeKey) -> [Fault]
    ) async throws {
        let log = sink.log
        fake = FakeRadio(capabilities: capabilities)
        radio = FaultyRadio(
            fake, faults: faults(asked, fixed), seed: 1, clock: clock,
            owner: .init(holds: { _, _ in holds }, applied: { log.put("applied \($0.fault)") }))
        services = [
            ServiceDefinition(
                uuid: BluetoothUUID(0x180D as UInt16),
                characteristics: [
                    CharacteristicDefinition(
                        key: asked, uuid: BluetoothUUID(0x2A37 as UInt16),
                        properties: [.read, .write, .notify])
                ]),
            ServiceDefinition(
                uuid: BluetoothUUID(0x180A as UInt16),
                characteristics: [
                    CharacteristicDefinition(
                        key: fixed, uuid: BluetoothUUID(0x2A29 as UInt16), properties: .read,
                        value: [0x41, 0x42, 0x43])
                ]),
        ]
        _ = try await radio.start(DeviceIdentity(name: "d"), sink: sink)
        id = try await radio.publish(services).id
    }

    /// Makes an event happen.
    func happen(_ event: RadioEvent) async { await fake.simulate(event) }

    /// Two centrals connect and subscribe.
    func subscribeBoth() async throws {
        for peer in [Self.first, Self.second] {
            await happen(.connected(peer))
            await happen(.subscribed(asked, peer.id, .notification))
        }
        _ = try await sink.log.take(4)
    }

    func read(_ key: AttributeKey? = nil, at offset: Int = 0, by peer: Peer = first) async throws
        -> PendingReply.Outcome?
    {
        try await fake.request(
            .read(ReadRequest(central: peer.id, attribute: key ?? asked, offset: offset)))
    }

    func write(_ value: [UInt8], by peer: Peer = first) async throws -> PendingReply.Outcome? {
        try await fake.request(
            .write(
                WriteRequest(
                    central: peer.id, parts: [.init(attribute: asked, value: value)], wantsResponse: true)))
    }

    func send(_ value: [UInt8], to centrals: [Peer.ID]? = nil) async throws -> SendResult {
        try await radio.send(value, of: asked, as: .asSubscribed, to: centrals)
    }

    /// The values that left the radio: bytes and receivers.
    var sent: [String] {
        get async {
            await fake.sent.map { value in
                let to = value.centrals.map { $0.map { "\($0.rawValue)" }.joined(separator: ",") } ?? "all"
                return "\(Hex.encode(value.value)) to \(to)"
            }
        }
    }

    /// Moves the time on, after somebody waits for it.
    func pass(_ time: Duration) async throws {
        try await clock.waitForSleepers(1)
        clock.advance(by: time)
    }
}

extension Fault {
    /// A fault with the name `f`.
    static func on(
        _ operation: FaultTrigger.Operation, of key: AttributeKey? = nil,
        _ selection: FaultSelection = FaultSelection(), delay: Duration = .zero, _ effect: FaultEffect? = nil,
        isOff: Bool = false, name: String = "f"
    ) -> Fault {
        Fault(
            name: name, trigger: .on(operation), of: key, selection: selection, delay: delay, effect: effect,
            isOff: isOff)
    }
    /// A fault of every operation.
    static func on(
        _ operation: FaultTrigger.Operation, of key: AttributeKey? = nil, delay: Duration = .zero,
        _ effect: FaultEffect, isOff: Bool = false, name: String = "f"
    ) -> Fault {
        on(operation, of: key, FaultSelection(), delay: delay, effect, isOff: isOff, name: name)
    }
}
