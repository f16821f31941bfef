import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// Keeps what the radio tells in words, and answers as a test says.
final class HostSink: RadioSink {
    struct State {
        var words: [String] = []
        var answer: RadioAnswer = .answer(.success([0x63]))
        var channels: [any L2CAPChannel] = []
    }
    let state = Lock(State())

    func handle(_ event: RadioEvent) -> RadioAnswer {
        state.withLock { state in
            switch event {
            case .stateChanged(let new): state.words.append("state \(new)")
            case .lost(let error): state.words.append("lost: \(error.message)")
            case .recovered: state.words.append("recovered")
            case .connected(let peer): state.words.append("connected \(peer.address?.description ?? "")")
            case .linkLost: state.words.append("link lost")
            case .disconnected: state.words.append("disconnected")
            case .mtuChanged(_, let mtu): state.words.append("mtu \(mtu)")
            case .read(let request):
                state.words.append("read \(request.offset)")
                return state.answer
            case .answeredRead(_, let value): state.words.append("answered \(Hex.encode(value))")
            case .refused(let request):
                state.words.append("refused \(request.access) with \(Hex.encode([request.error.code]))")
            case .write(let request):
                state.words.append("write \(Hex.encode(request.parts[0].value)) \(request.wantsResponse)")
                return request.wantsResponse ? state.answer : .none
            case .subscribed(_, _, let delivery): state.words.append("subscribed \(delivery?.rawValue ?? "")")
            case .unsubscribed: state.words.append("unsubscribed")
            case .confirmed: state.words.append("confirmed")
            case .readyToSend: state.words.append("ready")
            case .channelOpened(let channel): state.channels.append(channel)
            case .advertisingChanged(let report):
                state.words.append("advertising as \(report.address?.description ?? "nobody")")
            case .warning(let warning): state.words.append("warning \(warning.code)")
            default: break
            }
            return .none
        }
    }

    var words: [String] { state.withLock { $0.words } }
    func answer(_ answer: RadioAnswer) { state.withLock { $0.answer = answer } }
}

/// A radio on a scripted controller, with one service.
struct HostRig {
    let controller = ScriptedController()
    let sink = HostSink()
    let clock = ManualClock()
    let radio: HostRadio
    let rate = CharacteristicDefinition(uuid: "2A37", properties: [.read, .notify, .indicate])
    let control = CharacteristicDefinition(uuid: "2A39", properties: [.read, .write, .writeWithoutResponse])
    let fixed = CharacteristicDefinition(uuid: "2A38", properties: .read, value: [1])

    // 1…5 GAP, 6…15 GATT (8 Service Changed, 9 its CCCD, 11 client features, 13 hash), 16 service, 18 rate,
    // 19 its CCCD, 21 control, 23 fixed
    init(options: HostRadio.Options = HostRadio.Options(), starts: Bool = true) async throws {
        let clock = clock
        radio = HostRadio(
            transport: controller, options: options,
            clock: clock)
        guard starts else { return }
        _ = try await radio.start(DeviceIdentity(name: "Mynah"), sink: sink)
        let published = try await radio.publish([
            ServiceDefinition(uuid: "180D", characteristics: [rate, control, fixed])
        ])
        #expect(published.handles[rate.key] == 18)
    }

    /// The host's answers to a PDU of the central.
    func exchange(_ hex: String, count: Int = 1) async throws -> [String] {
        let before = controller.state.withLock { $0.sent().count }
        controller.receive(try #require(Hex.decode(hex)))
        try await controller.wait("the host has sent \(count) PDUs") { $0.sent().count >= before + count }
        return Array(controller.state.withLock { $0.sent() }.dropFirst(before))
    }

    func wait(for word: String) async throws {
        try await until("\"\(word)\" is reported") { sink.words.contains(word) }
    }

    /// Waits until a radio sleeps until a deadline, so that the time may move.
    static func wait(for deadline: HostDeadline, of radio: HostRadio, _ clock: ManualClock) async throws {
        try await until("the radio sleeps until its deadline: \(deadline)") {
            guard let due = await radio.due(deadline) else { return false }
            return clock.pauses.contains { clock.now.offset + $0 <= due }
        }
    }

    func wait(for deadline: HostDeadline) async throws {
        try await Self.wait(for: deadline, of: radio, clock)
    }

    func subscribe(_ bits: String = "0100") async throws {
        controller.connect()
        #expect(try await exchange("12 1300 \(bits)") == ["4:13"])
    }
}
