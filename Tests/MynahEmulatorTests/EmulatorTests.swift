import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

/// Keeps the events of a device.
final class EventLog: Sendable {
    private let events = Lock<[DeviceEvent]>([])
    func append(_ event: DeviceEvent) { events.withLock { $0.append(event) } }
    var all: [DeviceEvent] { events.withLock { $0 } }
    var names: [DeviceEvent.Name] { all.map(\.name) }
    func values(of name: DeviceEvent.Name) -> [String] {
        all.filter { $0.name == name }.compactMap { $0.string("value") }
    }
}

@Suite(.timeLimit(.minutes(15))) struct EmulatorTests {
    static let profile = """
        mynah: 1
        name: Test
        device: {name: Test}
        advertising: {serviceUUIDs: [180D]}
        services:
          - uuid: 180D
            characteristics:
              - {uuid: 2A37, properties: [read, notify], value: {generate: heart-rate}, every: 1 s}
              - {uuid: 2A38, properties: [read], value: {hex: 01}}
              - uuid: 2A39
                properties: [read, write]
                value: {hex: "00"}
                maxLength: 2
                descriptors: [{uuid: 2901, properties: [read, write], value: {text: Reset}}]
        """

    let radio = FakeRadio()
    let clock = ManualClock()
    let log = EventLog()
    let peer = Peer(id: .init(7), address: DeviceAddress("AA:BB:CC:DD:EE:FF", kind: .random))

    func emulator(_ text: String = profile, seed: UInt64 = 1) throws -> Emulator {
        let log = log
        let device = EmulatedDevice(try ProfileLoader.load(text: text, file: "test.yaml"), seed: seed)
        return Emulator(
            [device], on: radio, clock: clock, wallTime: { WallTime(microseconds: 0) },
            observer: { log.append($0) })
    }

    func key(_ uuid: BluetoothUUID) async throws -> AttributeKey {
        let all = await radio.published.flatMap(\.services).flatMap(\.characteristics)
        return try #require(all.first { $0.uuid == uuid }).key
    }

    /// Moves the time by one tick and returns when it has been dealt with.
    func tick(_ duration: Duration = .seconds(1)) async throws {
        try await clock.waitForSleepers(1)
        clock.advance(by: duration)
        try await clock.waitForSleepers(1)
    }

    @Test func `ready comes once, after everything is registered and on the air`() async throws {
        let emulator = try emulator()
        try await emulator.start()
        #expect(log.names == [.stateChanged, .advertisingStarted, .ready])
        #expect(await radio.advertisement?.localName == "Test")
        await emulator.stop()
        #expect(log.names.last == .advertisingStopped)
        #expect(await !radio.isRunning)
    }

    @Test func `the address on the air is told when it starts and when it changes`() async throws {
        let first = try #require(DeviceAddress("D5:88:1A:B0:E5:92", kind: .random))
        var capabilities = RadioCapabilities(name: "fake")
        capabilities.address = first
        let radio = FakeRadio(capabilities: capabilities)
        let log = log
        let device = EmulatedDevice(try ProfileLoader.load(text: Self.profile, file: "test.yaml"), seed: 1)
        let emulator = Emulator([device], on: radio, clock: clock, observer: { log.append($0) })
        try await emulator.start()
        for name in [DeviceEvent.Name.advertisingStarted, .ready] {
            #expect(log.all.first { $0.name == name }?.string("address") == "D5:88:1A:B0:E5:92")
        }
        var report = AdvertisingReport(isOn: true, data: [2, 1, 6], address: first)
        report.address = DeviceAddress("4A:00:00:00:00:01", kind: .random)
        await radio.simulate(.advertisingChanged(report))
        #expect(log.names.last == .advertisingChanged)
        #expect(log.all.last?.string("address") == "4A:00:00:00:00:01")
        await emulator.stop()
    }

    @Test func `only a static value is the radio's to answer`() async throws {
        try await emulator().start()
        #expect(await radio.values == [try key("2A38"): [1]])
    }

    @Test func `a value with every goes out at each tick while somebody is subscribed`() async throws {
        let emulator = try emulator()
        try await emulator.start()
        let rate = try await key("2A37")
        await radio.simulate(.subscribed(rate, nil, nil))
        try await tick()
        try await tick()
        #expect(await radio.sent.count == 2)
        await radio.simulate(.unsubscribed(rate, nil))
        clock.advance(by: .seconds(10))
        await radio.simulate(.subscribed(rate, nil, nil))
        try await tick()
        #expect(await radio.sent.count == 3)
        #expect(log.values(of: .notified).count == 3)
    }

    @Test func `ticks that were due while the queue was full are caught up in order`() async throws {
        let emulator = try emulator()
        try await emulator.start()
        let rate = try await key("2A37")
        await radio.setRoom(1)
        await radio.simulate(.subscribed(rate, nil, nil))
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(4))
        // The wake runs on the radio's executor; the phone's own call comes after it.
        try await until("the queue of the radio is full") { await radio.room == 0 }
        await radio.setRoom(nil)
        await radio.simulate(.readyToSend)
        let sent = await radio.sent.map(\.value)
        #expect(sent.count == 4)
        #expect(log.values(of: .notified) == sent.map { Hex.encode($0) })
    }

    /// Lets two centrals subscribe, of which the second has no room.
    private func subscribeTwo(_ rate: AttributeKey) async throws -> (fast: Peer.ID, slow: Peer.ID) {
        let slow = Peer(id: .init(9), address: DeviceAddress("AA:BB:CC:DD:EE:99", kind: .random))
        for peer in [peer, slow] {
            await radio.simulate(.connected(peer))
            await radio.simulate(.subscribed(rate, peer.id, .notification))
        }
        await radio.setFull(true, slow.id)
        return (peer.id, slow.id)
    }

    private func sent(to central: Peer.ID) async -> [[UInt8]] {
        await radio.sent.filter { $0.centrals == [central] }.map(\.value)
    }

    private var warnings: [DeviceEvent] { log.all.filter { $0.name == .warning } }

    @Test func `a central without room holds back nobody else, and gets the newest value when it has room`()
        async throws
    {
        try await emulator().start()
        let rate = try await key("2A37")
        let (fast, slow) = try await subscribeTwo(rate)
        for _ in 0..<5 { try await tick() }
        let values = await sent(to: fast)
        #expect(values.count == 5)
        #expect(await sent(to: slow) == [])
        #expect(log.values(of: .notified) == values.map { Hex.encode($0) })
        #expect(warnings.map { $0.string("code") } == ["subscriberBehind"])
        #expect(warnings.first?.string("central") == "AA:BB:CC:DD:EE:99")
        await radio.setFull(false, slow)
        await radio.simulate(.readyToSend)
        #expect(await sent(to: slow) == values.suffix(1))
        let late = try #require(log.all.last)
        #expect(late.name == .notified)
        #expect(late.string("central") == "AA:BB:CC:DD:EE:99")
        // From now on it gets each value, and once it has kept up it may be warned of again.
        for _ in 0..<2 { try await tick() }
        #expect(await sent(to: slow).count == 3)
        await radio.setFull(true, slow)
        try await tick()
        #expect(warnings.count == 2)
    }

    @Test func `ticks that were due are caught up on a link that has room, and skipped on one that has none`()
        async throws
    {
        try await emulator().start()
        let rate = try await key("2A37")
        let (fast, slow) = try await subscribeTwo(rate)
        try await tick(.seconds(4))
        #expect(await sent(to: fast).count == 4)
        await radio.setFull(false, slow)
        await radio.simulate(.readyToSend)
        #expect(await sent(to: slow) == sent(to: fast).suffix(1))
    }

    @Test func `a central whose link drains between ticks gets the next value, not an older one`()
        async throws
    {
        try await emulator().start()
        let rate = try await key("2A37")
        let (fast, slow) = try await subscribeTwo(rate)
        for _ in 0..<2 { try await tick() }
        await radio.setFull(false, slow)
        try await tick()
        #expect(await sent(to: slow) == sent(to: fast).suffix(1))
        await radio.simulate(.readyToSend)
        #expect(await sent(to: slow).count == 1)
    }

    @Test func `a slow central that leaves or unsubscribes gets nothing later`() async throws {
        try await emulator().start()
        let rate = try await key("2A37")
        let (fast, slow) = try await subscribeTwo(rate)
        try await tick()
        await radio.simulate(.unsubscribed(rate, slow))
        await radio.setFull(false, slow)
        await radio.simulate(.readyToSend)
        #expect(await sent(to: slow) == [])
        await radio.setFull(true, fast)
        try await tick()
        await radio.simulate(.disconnected(fast))
        await radio.setFull(false, fast)
        await radio.simulate(.readyToSend)
        #expect(await sent(to: fast).count == 1)
    }

    @Test func `a radio that cannot address one central is given each value once, for all`() async throws {
        var capabilities = RadioCapabilities(name: "fake")
        capabilities.subscriptions.sendsToOneCentral = false
        let radio = FakeRadio(capabilities: capabilities)
        let device = EmulatedDevice(try ProfileLoader.load(text: Self.profile, file: "test.yaml"), seed: 1)
        let emulator = Emulator([device], on: radio, clock: clock)
        try await emulator.start()
        let published = await radio.published.flatMap(\.services).flatMap(\.characteristics)
        let rate = try #require(published.first { $0.uuid == "2A37" }).key
        for number: UInt32 in [1, 2] {
            await radio.simulate(.subscribed(rate, .init(number), .notification))
        }
        try await tick()
        #expect(await radio.sent.map(\.centrals) == [nil])
        await emulator.stop()
    }

    @Test func `events of attributes that share their UUIDs have a path that tells them apart`() async throws
    {
        let emulator = try emulator(
            """
            mynah: 1
            name: Twins
            services:
              - uuid: 180F
                characteristics:
                  - {uuid: 2A19, properties: [read, write]}
                  - {uuid: 2A38, properties: [read, write]}
              - uuid: 180F
                characteristics:
                  - {uuid: 2A19, properties: [read, write]}
                  - {uuid: 2A19, properties: [read, write]}
              - uuid: 180D
                characteristics: [{uuid: 2A39, properties: [read, write]}]
            """)
        try await emulator.start()
        let all = await radio.published.flatMap(\.services).flatMap(\.characteristics)
        for characteristic in all {
            _ = try await radio.request(
                .read(ReadRequest(central: peer.id, attribute: characteristic.key, offset: 0)))
        }
        #expect(
            log.all.filter { $0.name == .read }.map { $0.string("path") } == [
                "180F~1/2A19", "180F~1/2A38", "180F~2/2A19~1", "180F~2/2A19~2", nil,
            ])
    }

    @Test func `two runs of one seed send the same values, another seed others`() async throws {
        var runs: [[[UInt8]]] = []
        for seed: UInt64 in [5, 5, 6] {
            let radio = FakeRadio()
            let clock = ManualClock()
            let device = EmulatedDevice(
                try ProfileLoader.load(text: Self.profile, file: "test.yaml"), seed: seed)
            let emulator = Emulator([device], on: radio, clock: clock)
            try await emulator.start()
            let rate = try #require(await radio.published.first?.services.first?.characteristics.first?.key)
            await radio.simulate(.subscribed(rate, nil, nil))
            for _ in 0..<30 {
                try await clock.waitForSleepers(1)
                clock.advance(by: .seconds(1))
                try await clock.waitForSleepers(1)
            }
            runs.append(await radio.sent.map(\.value))
        }
        #expect(runs[0].count == 30)
        #expect(runs[0] == runs[1])
        #expect(runs[0] != runs[2])
    }

    @Test func `a read and a write are answered and told with who did it`() async throws {
        try await emulator().start()
        let point = try await key("2A39")
        await radio.simulate(.connected(peer))
        let write = try await radio.request(
            .write(
                WriteRequest(
                    central: peer.id, parts: [.init(attribute: point, value: [1, 2])], wantsResponse: true)))
        #expect(write == .success([]))
        let read = try await radio.request(.read(ReadRequest(central: peer.id, attribute: point, offset: 1)))
        #expect(read == .success([2]))
        let event = try #require(log.all.last)
        #expect(event.name == .read)
        #expect(event.string("central") == "AA:BB:CC:DD:EE:FF")
        #expect(event.string("service") == "180D")
        #expect(event.string("characteristic") == "2A39")
        #expect(event["offset"] == .integer(1))
        #expect(event.string("value") == "02")
    }

    @Test func `a write that is too long is refused and told with its error`() async throws {
        try await emulator().start()
        let point = try await key("2A39")
        let outcome = try await radio.request(
            .write(
                WriteRequest(
                    central: peer.id, parts: [.init(attribute: point, value: [1, 2, 3])], wantsResponse: true)
            ))
        #expect(outcome == .failure(.invalidAttributeValueLength))
        #expect(log.all.last?.string("error") == "0x0D")
    }

    @Test func `a start that fails withdraws everything and says why`() async throws {
        let emulator = try emulator()
        await radio.fail(.start, RadioError(.noAdapter, "none"))
        await #expect(throws: RadioError(.noAdapter, "none")) { try await emulator.start() }
        #expect(await !radio.isRunning)
        #expect(!log.names.contains(.ready))
    }

    @Test func `a check that refuses stops before anything is registered`() async throws {
        let emulator = try emulator()
        await #expect(throws: RadioError.self) {
            try await emulator.start { _ throws(RadioError) in throw RadioError(.unsupported, "no") }
        }
        #expect(await radio.published.isEmpty)
        #expect(await radio.advertisement == nil)
    }

    @Test func `when the radio is lost ticks stop, and values go on where time has taken them`() async throws
    {
        try await emulator().start()
        let rate = try await key("2A37")
        await radio.simulate(.subscribed(rate, nil, nil))
        try await tick()
        await radio.simulate(.lost(RadioError(.lost, "gone")))
        await radio.simulate(.stateChanged(.resetting))
        clock.advance(by: .seconds(5))
        #expect(await radio.sent.count == 1)
        await radio.simulate(.stateChanged(.poweredOn))
        await radio.simulate(.recovered)
        await radio.simulate(.subscribed(rate, nil, nil))
        try await tick()
        #expect(await radio.sent.count == 2)
        #expect(
            log.names.filter { $0 == .radioLost || $0 == .radioRecovered } == [.radioLost, .radioRecovered])
    }

    @Test func `a passkey that is asked for is given when it is typed`() async throws {
        let emulator = try emulator(
            Self.profile.replacing("device: {name: Test}", with: "security: {io: keyboardOnly}"))
        try await emulator.start()
        #expect(await !emulator.enter(passkey: 1))
        async let answer = radio.pair(peer.id, .enter)
        try await until("the emulator takes the passkey") { await emulator.enter(passkey: 123_456) }
        #expect(try await answer == .passkey(123_456))
        #expect(log.all.last?.string("step") == "enter")
    }

    @Test func `an event is one JSON object with its time and name first`() {
        let event = DeviceEvent(
            time: WallTime(microseconds: 1_795_241_700_123_456), .centralConnected,
            .central(.init(.number(2), name: "AA\"B")), of: "Lock")
        #expect(
            event.json.text
                == #"{"time":"2026-11-21T06:15:00.123456Z","event":"central.connected","device":"Lock","#
                + #""central":"central-2","name":"AA\"B"}"#)
    }
}

extension String {
    /// The text with one passage replaced, without Foundation.
    fileprivate func replacing(_ passage: String, with other: String) -> String {
        split(separator: passage, omittingEmptySubsequences: false).joined(separator: other)
    }
}
