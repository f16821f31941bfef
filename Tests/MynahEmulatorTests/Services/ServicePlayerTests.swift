import Mynah
import MynahCore
import MynahLifecycle
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahEmulator

/// Services that behave, on a radio without air.
@Suite(.timeLimit(.minutes(15))) struct ServicePlayerTests {
    static let meter = """
        mynah: 1
        name: Meter
        services:
          - use: glucose
            records: 5
            omit: [glucose-measurement-context]
        """

    let radio: FakeRadio
    let clock = ManualClock()
    let log = EventLog()
    let peer = Peer(id: .init(7), address: DeviceAddress("AA:BB:CC:DD:EE:FF", kind: .random))
    let other = Peer(id: .init(9), address: DeviceAddress("AA:BB:CC:DD:EE:99", kind: .random))

    init() {
        var capabilities = RadioCapabilities(name: "fake")
        capabilities.subscriptions.sendsToOneCentral = true
        radio = FakeRadio(capabilities: capabilities)
    }

    func start(_ text: String = meter, isControlled: Bool = false) async throws -> Emulator {
        let log = log
        var device = EmulatedDevice(try ProfileLoader.load(text: text, file: "test.yaml"), seed: 1)
        if isControlled { device.requestNumbers = RequestNumbers() }
        let emulator = Emulator(
            [device], on: radio, clock: clock, wallTime: { WallTime(microseconds: 0) },
            observer: { log.append($0) })
        try await emulator.start()
        await radio.simulate(.connected(peer))
        await radio.simulate(.connected(other))
        return emulator
    }

    func key(_ uuid: BluetoothUUID) async throws -> AttributeKey {
        let all = await radio.published.flatMap(\.services).flatMap(\.characteristics)
        return try #require(all.first { $0.uuid == uuid }).key
    }

    func subscribe(_ uuids: BluetoothUUID..., by central: Peer? = nil) async throws {
        for uuid in uuids {
            await radio.simulate(.subscribed(try await key(uuid), (central ?? peer).id, nil))
        }
    }

    func write(
        _ value: [UInt8], to uuid: BluetoothUUID = "2A52", by central: Peer? = nil, wantsResponse: Bool = true
    ) async throws -> PendingReply.Outcome? {
        let part = WriteRequest.Part(attribute: try await key(uuid), value: value)
        let request = WriteRequest(
            central: (central ?? peer).id, parts: [part], wantsResponse: wantsResponse)
        return try await radio.request(.write(request))
    }

    func read(_ uuid: BluetoothUUID) async throws -> PendingReply.Outcome? {
        try await radio.request(
            .read(ReadRequest(central: peer.id, attribute: try await key(uuid), offset: 0)))
    }

    /// Returns the values sent for a characteristic, once there are at least `count`.
    @discardableResult
    func sent(_ count: Int, of uuid: BluetoothUUID) async throws -> [[UInt8]] {
        let key = try await key(uuid)
        try await until("\(count) values of \(uuid) are sent") {
            await radio.sent.count { $0.attribute == key } >= count
        }
        return await radio.sent.filter { $0.attribute == key }.map(\.value)
    }

    /// Sends the next record when its time has come.
    func nextRecord() async throws {
        try await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(100))
    }

    @Test func `a report sends a record each tick, and its response in the end`() async throws {
        let emulator = try await start()
        try await subscribe("2A18", "2A52")
        #expect(try await write([1, 1]) == .success([]))
        for count in 1...5 {
            try await sent(count, of: "2A18")
            if count < 5 { try await nextRecord() }
        }
        #expect(try await sent(1, of: "2A52") == [[6, 0, 1, 1]])
        let records = try await sent(5, of: "2A18")
        // Flags: an offset, a concentration in mol/L, a context.
        // Then the sequence numbers, and 2026-01-01 08:00:00.
        #expect(records.map { $0[0] } == [0x17, 0x17, 0x17, 0x17, 0x17])
        #expect(records.map { $0[1] } == [1, 2, 3, 4, 5])
        #expect(records.allSatisfy { Array($0[3..<10]) == [0xEA, 0x07, 1, 1, 8, 0, 0] })
        // The write is answered before anything is sent, and all goes to its central.
        #expect(log.names.firstIndex(of: .write)! < log.names.firstIndex(of: .notified)!)
        #expect(await radio.sent.allSatisfy { $0.centrals == [peer.id] })
        await emulator.stop()
    }

    @Test func `a writer that is not subscribed gets 0x81, and another one's reports go on`() async throws {
        let emulator = try await start()
        try await subscribe("2A18", "2A52")
        #expect(try await write([1, 1]) == .success([]))
        try await sent(1, of: "2A18")
        #expect(try await write([1, 1], by: other) == .failure(ATTError(code: 0x81)))
        #expect(try await write([1, 1]) == .failure(ATTError(code: 0x80)))
        try await nextRecord()
        try await sent(2, of: "2A18")
        #expect(try await write([3, 0]) == .success([]))
        #expect(try await sent(1, of: "2A52") == [[6, 0, 3, 1]])
        await emulator.stop()
    }

    @Test func `a link without room holds back its records and its responses`() async throws {
        let emulator = try await start()
        try await subscribe("2A18", "2A52")
        try await subscribe("2A52", by: other)
        await radio.setFull(true, peer.id)
        #expect(try await write([4, 1]) == .success([]))
        // The response before this one waits.
        try await until("the response waits") {
            try await write([4, 1]) == .failure(ATTError(code: 0x80))
        }
        #expect(try await write([4, 1], by: other) == .success([]))
        #expect(try await sent(1, of: "2A52") == [[5, 0, 5, 0]])
        await radio.setFull(false, peer.id)
        await radio.simulate(.readyToSend)
        #expect(try await sent(2, of: "2A52") == [[5, 0, 5, 0], [5, 0, 5, 0]])
        await radio.setFull(true, peer.id)
        #expect(try await write([1, 1]) == .success([]))
        // Another central's report goes on.
        try await subscribe("2A18", by: other)
        #expect(try await write([1, 1], by: other) == .success([]))
        for count in 1...5 {
            try await sent(count, of: "2A18")
            if count < 5 { try await nextRecord() }
        }
        let records = try await key("2A18")
        #expect(
            await radio.sent.filter { $0.attribute == records }.allSatisfy { $0.centrals == [other.id] })
        await radio.setFull(false, peer.id)
        await radio.simulate(.readyToSend)
        try await until("the record is sent") {
            await radio.sent.contains { $0.attribute == records && $0.centrals == [peer.id] }
        }
        await emulator.stop()
    }

    @Test func `a disconnection ends a report, and the next one begins anew`() async throws {
        let emulator = try await start()
        try await subscribe("2A18", "2A52")
        #expect(try await write([1, 1]) == .success([]))
        try await sent(1, of: "2A18")
        await radio.simulate(.disconnected(peer.id))
        await radio.simulate(.connected(peer))
        try await subscribe("2A18", "2A52")
        #expect(try await write([1, 6]) == .success([]))
        #expect(try await sent(1, of: "2A52") == [[6, 0, 1, 1]])
        #expect(try await sent(2, of: "2A18").map { $0[1] } == [1, 5])
        await emulator.stop()
    }

    @Test func `a reset brings back deleted records`() async throws {
        let emulator = try await start()
        try await subscribe("2A18", "2A52")
        #expect(try await write([2, 1]) == .success([]))
        try await sent(1, of: "2A52")
        #expect(try await write([4, 1]) == .success([]))
        try await sent(2, of: "2A52")
        try await emulator.reset(.values)
        #expect(try await write([4, 1]) == .success([]))
        #expect(try await sent(3, of: "2A52") == [[6, 0, 2, 1], [5, 0, 0, 0], [5, 0, 5, 0]])
        await emulator.stop()
    }

    @Test func `an app that does not run sends no records, and goes on when it does`() async throws {
        let app = "app: {backgroundModes: [bluetooth-peripheral]}\n"
        let emulator = try await start(Self.meter.replacing("services:", with: app + "services:"))
        try await subscribe("2A18", "2A52")
        #expect(try await write([1, 1]) == .success([]))
        try await sent(1, of: "2A18")
        await emulator.carryOut(.suspend)
        try await until("the app is suspended") { log.names.contains(.appSuspended) }
        clock.advance(by: .seconds(60))
        #expect(try await sent(1, of: "2A18").count == 1)
        await emulator.carryOut(.enterForeground)
        try await sent(2, of: "2A18")
        await emulator.stop()
    }

    @Test func `a throttled app sends no records`() async throws {
        let app = "app: {backgroundModes: [bluetooth-peripheral], taskTime: 15 s}\n"
        let emulator = try await start(
            Self.meter.replacing("services:", with: app + "services:")
                .replacing("records: 5", with: "records: 500"))
        try await subscribe("2A18", "2A52")
        await emulator.carryOut(.suspend)
        try await until("the app is suspended") { log.names.contains(.appSuspended) }
        #expect(try await write([1, 1]) == .success([]))
        try await sent(1, of: "2A18")
        clock.advance(by: .seconds(10))
        try await until("the app is throttled") { log.names.contains(.appThrottled) }
        let count = await radio.sent.count
        for _ in 1...9 {
            clock.advance(by: .seconds(1))
            _ = try await read("2A52")
        }
        clock.advance(by: .seconds(1))
        try await until("the app has ended") { log.names.contains(.appTerminated) }
        // One may have been due together with the throttling.
        #expect(await radio.sent.count <= count + 1)
        await emulator.stop()
    }

    @Test func `a profile's own error answers in place of the behavior`() async throws {
        let emulator = try await start(
            """
            mynah: 1
            name: Strap
            services:
              - use: heart-rate
                characteristics: [{uuid: 2A39, errors: {write: 0x8F}}]
            """)
        #expect(try await write([1], to: "2A39") == .failure(ATTError(code: 0x8F)))
        await emulator.stop()
    }

    @Test func `the energy of a strap starts again at 0`() async throws {
        let emulator = try await start("mynah: 1\nname: Strap\nservices: [{use: heart-rate}]\n")
        clock.advance(by: .seconds(300))
        guard case .success(let before)? = try await read("2A37") else { return #expect(Bool(false)) }
        #expect(Array(before[2...]) == [0x2C, 0x01])
        #expect(try await write([2], to: "2A39") == .failure(ATTError(code: 0x80)))
        #expect(try await write([1], to: "2A39") == .success([]))
        guard case .success(let after)? = try await read("2A37") else { return #expect(Bool(false)) }
        #expect(Array(after[2...]) == [0, 0])
        try await emulator.reset(.values)
        #expect(try await write([1], to: "2A39") == .success([]))
        await emulator.stop()
    }

    @Test func `a behavior answers a write that a test has accepted`() async throws {
        let emulator = try await start(
            """
            mynah: 1
            name: Sensor
            services:
              - use: cycling-speed-and-cadence
                characteristics: [{uuid: 2A55, ask: [write]}]
            """, isControlled: true)
        try await subscribe("2A55")
        let task = Task { try await write([3, 4], to: "2A55") }
        try await until("it is asked") { log.names.contains(.requestAsked) }
        #expect(try await emulator.answer(1, .accept))
        #expect(try await task.value == .success([]))
        #expect(try await sent(1, of: "2A55") == [[0x10, 3, 1]])
        // The radio does not answer by itself for a value that a behavior changes.
        #expect(try await read("2A5D") == .success([4]))
        await emulator.stop()
    }

    @Test func `a clock that is set is notified to every subscriber`() async throws {
        let emulator = try await start("mynah: 1\nname: Clock\nservices: [{use: current-time}]\n")
        try await subscribe("2A2B")
        try await subscribe("2A2B", by: other)
        #expect(try await write([0xEC, 7, 2, 29, 12, 0, 0, 0, 0, 0], to: "2A2B") == .success([]))
        let changed: [UInt8] = [0xEC, 7, 2, 29, 12, 0, 0, 2, 0, 1]
        #expect(try await sent(2, of: "2A2B") == [changed, changed])
        clock.advance(by: .seconds(61))
        #expect(try await read("2A2B") == .success([0xEC, 7, 2, 29, 12, 1, 1, 2, 0, 1]))
        await emulator.stop()
    }

    @Test func `a UART echoes commands to their writer, when it has room`() async throws {
        let emulator = try await start("mynah: 1\nname: UART\nservices: [{use: nordic-uart}]\n")
        let (receive, transmit) = (SerialEcho.receive, SerialEcho.transmit)
        try await subscribe(transmit)
        _ = try await write([1, 2], to: receive, wantsResponse: false)
        #expect(try await sent(1, of: transmit) == [[1, 2]])
        await radio.setFull(true, peer.id)
        for number in 0..<200 { _ = try await write([UInt8(number)], to: receive, wantsResponse: false) }
        await radio.setFull(false, peer.id)
        await radio.simulate(.readyToSend)
        #expect(try await sent(201, of: transmit).count == 201)
        #expect(log.names.count { $0 == .warning } == 0)
        await emulator.stop()
    }

    @Test func `a device that MCUmgr resets answers, and then ends its links`() async throws {
        let emulator = try await start("mynah: 1\nname: Updated\nservices: [{use: mcumgr}]\n")
        let point = MCUManager.characteristic
        try await subscribe(point)
        // The request in two pieces, and its response.
        _ = try await write([0x02, 0, 0, 1, 0], to: point, wantsResponse: false)
        _ = try await write([0, 7, 5, 0xA0], to: point, wantsResponse: false)
        #expect(try await sent(1, of: point) == [[0x03, 0, 0, 1, 0, 0, 7, 5, 0xA0]])
        #expect(!log.names.contains(.centralDisconnected))
        try await clock.waitForSleepers(1)
        clock.advance(by: MCUManager.resetDelay)
        try await until("both links have ended") { log.names.count { $0 == .centralDisconnected } == 2 }
        #expect(log.names.count { $0 == .warning } == 0)
        await emulator.stop()
    }

    @Test func `a device without behaviors has no player for them`() async throws {
        let emulator = try await start("mynah: 1\nname: Battery\nservices: [{use: battery}]\n")
        #expect(await !emulator.behaves)
        await emulator.stop()
    }

    @Test func `a radio that does not name subscribers sends to all of them`() async throws {
        let emulator = try await start("mynah: 1\nname: Bike\nservices: [{use: fitness-machine}]\n")
        await radio.simulate(.subscribed(try await key("2AD9"), nil, nil))
        #expect(try await write([0], to: "2AD9") == .success([]))
        #expect(try await sent(1, of: "2AD9") == [[0x80, 0, 1]])
        #expect(await radio.sent.last?.centrals == nil)
        await emulator.stop()
    }
}

extension Emulator {
    fileprivate var behaves: Bool { devices.players.contains { $0.sender.behaviors != nil } }
}
