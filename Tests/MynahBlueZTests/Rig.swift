import MynahBlueZ
import MynahBlueZStandIn
import MynahCore
import MynahDBus
import MynahSupport
import MynahTestSupport

/// A stand-in bluetoothd on a bus of its own, and a radio that plays through it.
struct Rig {
    let bus: PrivateBus
    let standIn: BlueZStandIn
    let radio: BlueZRadio
    let sink = TestSink()

    init(
        _ configuration: StandInConfiguration = StandInConfiguration(),
        identity: DeviceIdentity? = DeviceIdentity(name: "Mynah"),
        options: (inout BlueZRadio.Options) -> Void = { _ in }
    ) async throws {
        bus = try PrivateBus()
        standIn = try await BlueZStandIn.start(on: bus.address, configuration)
        var chosen = BlueZRadio.Options()
        chosen.bus = .address(bus.address)
        options(&chosen)
        radio = BlueZRadio(options: chosen)
        if let identity { _ = try await radio.start(identity, sink: sink) }
    }

    /// Ends the radio, and says what it did against the contract.
    func violations() async -> [String] {
        await radio.stop()
        return await standIn.violations
    }
}

/// Keeps what the radio tells, and answers as a test says.
final class TestSink: RadioSink {
    private struct State {
        var words: [String] = []
        var events: [RadioEvent] = []
        var answer: @Sendable (RadioEvent) -> RadioAnswer = { _ in .none }
        var waiters: [(word: String, count: Int, waiter: Waiter<Void>)] = []
    }

    private let state = Lock<State>(State())

    func handle(_ event: RadioEvent) -> RadioAnswer {
        let (answer, ready) = state.withLock { state in
            state.words.append(event.word)
            state.events.append(event)
            let words = state.words
            let isReady = { (waiter: (word: String, count: Int, waiter: Waiter<Void>)) in
                words.filter { $0.hasPrefix(waiter.word) }.count >= waiter.count
            }
            let ready = state.waiters.filter(isReady).map(\.waiter)
            state.waiters.removeAll(where: isReady)
            return (state.answer, ready)
        }
        for waiter in ready { waiter.resume() }
        return answer(event)
    }

    /// Sets the handler of requests.
    func answer(_ handler: @escaping @Sendable (RadioEvent) -> RadioAnswer) {
        state.withLock { $0.answer = handler }
    }

    /// Waits until so many events whose word starts like this have come since the beginning.
    func wait(for word: String, count: Int = 1) async throws {
        try await waiting(for: "\(count) events \"\(word)\"") { waiter in
            let isReady = state.withLock { state in
                if state.words.filter({ $0.hasPrefix(word) }).count >= count { return true }
                state.waiters.append((word, count, waiter))
                return false
            }
            if isReady { waiter.resume() }
        }
    }

    /// The words of what has come, in order.
    var words: [String] { state.withLock { $0.words } }
    /// Those that start like this.
    func words(_ start: String) -> [String] { words.filter { $0.hasPrefix(start) } }
    /// The events so far, in order.
    var events: [RadioEvent] { state.withLock { $0.events } }
}

extension RadioEvent {
    /// A short name with what matters in a test.
    var word: String {
        switch self {
        case .stateChanged(let state): "state \(state)"
        case .capabilitiesChanged(let capabilities): "capabilities \(capabilities.name)"
        case .lost(let error): "lost \(error.message)"
        case .recovered: "recovered"
        case .connected(let peer): "connected \(peer.address.map { "\($0)" } ?? "?")"
        case .peerChanged: "peerChanged"
        case .linkLost: "linkLost"
        case .disconnected: "disconnected"
        case .mtuChanged(_, let mtu): "mtu \(mtu)"
        case .paired: "paired"
        case .parameters: "parameters"
        case .pairing(_, let step): "pairing \(step)"
        case .read(let request): "read \(request.offset)"
        case .answeredRead(let request, let value): "answered \(request.offset) \(Hex.encode(value))"
        case .refused(let request): "refused \(request.access) \(request.reason)"
        case .write(let request):
            "write \(request.parts.map { "\($0.offset):\(Hex.encode($0.value))" }.joined(separator: " "))"
                + (request.wantsResponse ? "" : " silently")
        case .subscribed(_, let peer, let delivery):
            "subscribed \(peer == nil ? "?" : "named") \(delivery.map(\.rawValue) ?? "?")"
        case .unsubscribed(_, let peer): "unsubscribed \(peer == nil ? "?" : "named")"
        case .confirmed(_, let peer): "confirmed \(peer == nil ? "?" : "named")"
        case .readyToSend: "readyToSend"
        case .channelOpened(let channel): "channel \(channel.psm)"
        case .advertisingChanged(let report): "advertising \(report.isOn ? "on" : "off")"
        case .warning(let warning): "warning \(warning.code)"
        }
    }
}

/// A heart-rate service with one characteristic for each way of use.
struct Definitions {
    let rate: CharacteristicDefinition
    let location: CharacteristicDefinition
    let control: CharacteristicDefinition
    let service: ServiceDefinition

    /// `change` changes the characteristic that sends.
    init(_ change: (inout CharacteristicDefinition) -> Void = { _ in }) {
        var rate = CharacteristicDefinition(uuid: "2A37", properties: [.read, .notify, .indicate])
        change(&rate)
        self.rate = rate
        location = CharacteristicDefinition(
            uuid: "2A38", properties: .read, value: Array(0..<40),
            descriptors: [DescriptorDefinition(uuid: "2901", value: [0x61])])
        control = CharacteristicDefinition(uuid: "2A39", properties: [.write], maximumLength: 100)
        service = ServiceDefinition(uuid: "180D", characteristics: [rate, location, control])
    }
}

/// Takes the radio's error out of what must throw one.
func radioError(_ body: () async throws(RadioError) -> Void) async -> RadioError? {
    do throws(RadioError) {
        try await body()
        return nil
    } catch {
        return error
    }
}

/// Takes the ATT error out of what must throw one.
func attError(_ body: () async throws(ATTFailure) -> Void) async -> UInt8? {
    do throws(ATTFailure) {
        try await body()
        return nil
    } catch {
        return error.code
    }
}

extension Advertisement {
    /// A connectable one with a name and these UUIDs.
    static func named(_ name: String, _ uuids: [BluetoothUUID] = ["180D"]) -> Advertisement {
        var advertisement = Advertisement()
        advertisement.localName = name
        advertisement.serviceUUIDs = uuids
        return advertisement
    }
}
