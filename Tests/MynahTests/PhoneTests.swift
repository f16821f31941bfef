import Mynah
import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

/// Keeps what it hears, and answers requests with what it was given.
final class RecordingSink: PeripheralSink, PhoneSink {
    struct State {
        var events: [PeripheralEvent] = []
        var phoneEvents: [PhoneEvent] = []
    }
    let state = Lock(State())
    let answer: RadioAnswer

    init(answer: RadioAnswer = .none) { self.answer = answer }

    func handle(_ event: PeripheralEvent) -> RadioAnswer {
        state.withLock { $0.events.append(event) }
        return event.wantsResponse ? answer : .none
    }

    func handle(_ event: PhoneEvent) -> RadioAnswer {
        state.withLock { $0.phoneEvents.append(event) }
        return .none
    }

    var events: [PeripheralEvent] { state.withLock { $0.events } }
    var phoneEvents: [PhoneEvent] { state.withLock { $0.phoneEvents } }
    /// The requests that were refused, in words.
    var refusals: [String] {
        phoneEvents.compactMap { event in
            guard case .refused(let request, let central) = event else { return nil }
            return
                """
                \(request.access) of \(central.id.rawValue) with \(Hex.encode([request.error.code])) \
                because \(request.reason)
                """
        }
    }
    /// The values of static reads that the phone reported.
    var answered: [[UInt8]] {
        phoneEvents.compactMap { if case .answeredRead(_, _, let value) = $0 { value } else { nil } }
    }
    /// Whether advertising was on, each time that this was reported.
    var advertised: [Bool] {
        phoneEvents.compactMap { if case .advertisingChanged(let report) = $0 { report.isOn } else { nil } }
    }
}

@Suite(.timeLimit(.minutes(15))) struct PhoneTests {
    let radio = FakeRadio()
    let peer = Peer(id: .init(7), address: DeviceAddress("AA:BB:CC:DD:EE:FF", kind: .random), name: "phone")
    let level = CharacteristicDefinition(uuid: "2A19", properties: [.read, .notify])
    let rate = CharacteristicDefinition(uuid: "2A37", properties: [.notify, .write])

    @Test func `a phone that is stopped while its radio starts does not run, and can be started again`()
        async throws
    {
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "test"))
        await radio.holdStarting()
        let start = Task { try await phone.start() }
        try await until("the radio starts") { await radio.heldCount == 1 }
        await #expect(throws: RadioError.self) { try await phone.start() }

        await phone.stop()
        await radio.release()

        let error = await #expect(throws: RadioError.self) { try await start.value }
        #expect(error?.code == .invalidState)
        #expect(await !radio.isRunning)
        #expect(await phone.capabilities == nil)
        #expect(await phone.radioState == .unknown)
        try await phone.start()
        #expect(await radio.isRunning)
        #expect(await phone.capabilities != nil)
        await phone.stop()
    }

    @Test func `a read reaches the manager that owns the attribute, and no other`() async throws {
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "test"))
        try await phone.start()
        let first = RecordingSink(answer: .answer(.success([1])))
        let second = RecordingSink(answer: .answer(.success([2])))
        let managers = [
            await phone.makePeripheralManager(sink: first), await phone.makePeripheralManager(sink: second),
        ]
        try await managers[0].add(ServiceDefinition(uuid: "180F", characteristics: [level]))
        try await managers[1].add(ServiceDefinition(uuid: "180D", characteristics: [rate]))

        let outcome = try await radio.request(.read(ReadRequest(central: peer.id, attribute: level.key)))

        #expect(outcome == .success([1]))
        withExtendedLifetime(managers) {}
        #expect(first.events.filter(\.wantsResponse).count == 1)
        #expect(second.events.filter(\.wantsResponse).isEmpty)
    }

    @Test func `a read of an attribute that nobody owns gets an error, not silence`() async throws {
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "test"))
        try await phone.start()
        let outcome = try await radio.request(.read(ReadRequest(central: peer.id, attribute: AttributeKey())))
        #expect(outcome == .failure(.unlikelyError))
    }

    @Test func `a write that spans two managers is refused whole`() async throws {
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "test"))
        try await phone.start()
        let sink = RecordingSink(answer: .answer(.success([])))
        let managers = [
            await phone.makePeripheralManager(sink: sink), await phone.makePeripheralManager(sink: sink),
        ]
        try await managers[0].add(ServiceDefinition(uuid: "180F", characteristics: [level]))
        try await managers[1].add(ServiceDefinition(uuid: "180D", characteristics: [rate]))
        let parts = [level.key, rate.key].map { WriteRequest.Part(attribute: $0, value: [1]) }
        let outcome = try await radio.request(
            .write(WriteRequest(central: peer.id, parts: parts, wantsResponse: true)))
        #expect(outcome == .failure(.unlikelyError))
        withExtendedLifetime(managers) {}
        #expect(sink.events.filter(\.wantsResponse).isEmpty)
    }

    @Test func `a refused registration leaves nothing owned`() async throws {
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "test"))
        try await phone.start()
        let manager = await phone.makePeripheralManager(sink: RecordingSink(answer: .answer(.success([1]))))
        await radio.fail(.publish, RadioError(.servicesRefused, "no"))
        await #expect(throws: RadioError(.servicesRefused, "no")) {
            try await manager.add(ServiceDefinition(uuid: "180F", characteristics: [level]))
        }
        let outcome = try await radio.request(.read(ReadRequest(central: peer.id, attribute: level.key)))
        #expect(outcome == .failure(.unlikelyError))
        #expect(await manager.services.isEmpty)
    }

    @Test func `the MTU of a link stays with its central until it leaves`() async throws {
        let sink = RecordingSink()
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "test"), sink: sink)
        try await phone.start()
        await radio.simulate(.connected(peer))
        await radio.simulate(.mtuChanged(peer.id, 185))
        await radio.simulate(.peerChanged(Peer(id: peer.id, name: "renamed", isPaired: true)))
        let central = try #require(await phone.connectedCentrals.first)
        #expect(central.maximumUpdateValueLength == 182)
        #expect(central.name == "renamed")
        await radio.simulate(.disconnected(peer.id))
        #expect(await phone.connectedCentrals.isEmpty)
        guard case .disconnected(let gone)? = sink.phoneEvents.last else {
            Issue.record("the last event is no disconnection")
            return
        }
        #expect(gone.mtu == 185)
    }

    @Test func `a radio that the check refuses is stopped before the error comes`() async throws {
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "test"))
        let refusal = RadioError(.unsupported, "not this one")
        await #expect(throws: refusal) {
            try await phone.start { _ throws(RadioError) in throw refusal }
        }
        #expect(await !radio.isRunning)
        #expect(await phone.capabilities == nil)
        #expect(await phone.radioState == .unknown)
        try await phone.start()
        #expect(await radio.isRunning)
        #expect(await phone.radioState == .poweredOn)
    }

    @Test func `a second manager cannot advertise beside the first`() async throws {
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "test"))
        try await phone.start()
        var advertisement = Advertisement()
        advertisement.localName = "one"
        let first = await phone.makePeripheralManager()
        let second = await phone.makePeripheralManager()
        try await first.startAdvertising(advertisement)
        await #expect(throws: RadioError.self) { try await second.startAdvertising(advertisement) }
        await first.stopAdvertising()
        try await second.startAdvertising(advertisement)
        #expect(await second.isAdvertising)
        #expect(await !first.isAdvertising)
    }
}
