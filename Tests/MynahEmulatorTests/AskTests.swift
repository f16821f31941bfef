import Mynah
import MynahCore
import MynahEmulator
import MynahLifecycle
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

/// Requests that a test answers, on a radio without air.
@Suite(.timeLimit(.minutes(15))) struct AskTests {
    static let profile = """
        mynah: 1
        name: Test
        advertising: {serviceUUIDs: [180D]}
        services:
          - uuid: 180D
            characteristics:
              - {uuid: 2A37, properties: [read], value: {hex: 01}, ask: [read]}
              - {uuid: 2A38, properties: [read], value: {hex: 02}}
              - uuid: 2A39
                properties: [read, write, writeWithoutResponse]
                value: {hex: "00"}
                maxLength: 2
                ask: [write]
        """

    let radio: FakeRadio
    let clock = ManualClock()
    let numbers = RequestNumbers()
    let log = EventLog()
    let peer = Peer(id: .init(7), address: DeviceAddress("AA:BB:CC:DD:EE:FF", kind: .random))
    let other = Peer(id: .init(9), address: DeviceAddress("AA:BB:CC:DD:EE:99", kind: .random))

    init() {
        var capabilities = RadioCapabilities(name: "fake")
        capabilities.readErrors = .init([0x0E, 0x80])
        radio = FakeRadio(capabilities: capabilities)
    }

    func start(
        _ text: String = profile, isControlled: Bool = true
    ) async throws -> Emulator {
        let log = log
        var device = EmulatedDevice(try ProfileLoader.load(text: text, file: "test.yaml"), seed: 1)
        if isControlled { device.requestNumbers = numbers }
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

    /// A central reads; the answer comes when the task ends.
    func reads(
        _ uuid: BluetoothUUID, by central: Peer? = nil, offset: Int = 0
    ) async throws -> Task<PendingReply.Outcome?, any Error> {
        let request = ReadRequest(
            central: (central ?? peer).id, attribute: try await key(uuid), offset: offset)
        return Task { try await radio.request(.read(request)) }
    }

    func writes(
        _ value: [UInt8], by central: Peer? = nil, wantsResponse: Bool = true
    ) async throws -> Task<PendingReply.Outcome?, any Error> {
        let part = WriteRequest.Part(attribute: try await key("2A39"), value: value)
        let request = WriteRequest(
            central: (central ?? peer).id, parts: [part], wantsResponse: wantsResponse)
        return Task { try await radio.request(.write(request)) }
    }

    /// Waits for so many events, and returns the last.
    @discardableResult
    func wait(for name: DeviceEvent.Name, count: Int = 1) async throws -> DeviceEvent {
        try await until("\(name) has come") { log.names.count { $0 == name } >= count }
        return try #require(log.all.last { $0.name == name })
    }

    func refusal(_ body: () async throws(ControlRefusal) -> Void) async -> ControlRefusal? {
        do throws(ControlRefusal) {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    func refusal(
        of id: Int, _ answer: RequestAnswer, by emulator: Emulator
    ) async -> ControlRefusal? {
        await refusal { () async throws(ControlRefusal) in
            if try await !emulator.answer(id, answer), let refusal = numbers.refusal(of: id) { throw refusal }
        }
    }

    func fields(_ event: DeviceEvent) -> String {
        JSON.object(event.fields.filter { !["service", "central"].contains($0.key) }).text
    }

    // MARK: Answers

    @Test func `a read waits for its answer, and other requests do not`() async throws {
        let emulator = try await start()
        let asked = try await reads("2A37")
        let event = try await wait(for: .requestAsked)
        #expect(
            JSON.object(event.fields).text == """
                {"central":"AA:BB:CC:DD:EE:FF","service":"180D","characteristic":"2A37","id":1,"by":"read"}
                """)
        // Another central's requests go on meanwhile.
        #expect(try await reads("2A39", by: other).value == .success([0]))
        #expect(await radio.values[try key("2A37")] == nil)
        #expect(await radio.values[try key("2A38")] == [2])
        #expect(try await emulator.answer(1, .value(.bytes([9, 8]))))
        #expect(try await asked.value == .success([9, 8]))
        #expect(
            fields(try await wait(for: .read, count: 2))
                == #"{"characteristic":"2A37","id":1,"value":"0908"}"#)
        // The device's own value is as it was.
        #expect(try await emulator.value(of: try AttributeName(parsing: "2A37"), in: "Test") == [1])
        #expect(
            await refusal(of: 1, .accept, by: emulator) == .conflict("request 1 was answered before"))
        #expect(try await emulator.answer(2, .accept) == false)
        await emulator.stop()
    }

    @Test func `a write is accepted and sets the value, or refused and does not`() async throws {
        let emulator = try await start()
        let first = try await writes([5])
        #expect(
            fields(try await wait(for: .requestAsked))
                == #"{"characteristic":"2A39","id":1,"by":"write","value":"05"}"#)
        #expect(try await reads("2A39", by: other).value == .success([0]))
        #expect(try await emulator.answer(1, .accept))
        #expect(try await first.value == .success([]))
        #expect(
            fields(try await wait(for: .write))
                == #"{"characteristic":"2A39","id":1,"value":"05","withResponse":true}"#)
        #expect(try await reads("2A39").value == .success([5]))
        let second = try await writes([6])
        try await wait(for: .requestAsked, count: 2)
        #expect(try await emulator.answer(2, .error(ATTError(code: 0x80))))
        #expect(try await second.value == .failure(ATTError(code: 0x80)))
        #expect(
            fields(try await wait(for: .write, count: 2))
                == #"{"characteristic":"2A39","id":2,"value":"06","withResponse":true,"error":"0x80"}"#)
        #expect(try await reads("2A39").value == .success([5]))
        await emulator.stop()
    }

    @Test func `a command, and a write that the device refuses by itself, are not asked`() async throws {
        let emulator = try await start()
        _ = try await writes([5], wantsResponse: false).value
        #expect(try await reads("2A39").value == .success([5]))
        #expect(try await writes([1, 2, 3]).value == .failure(.invalidAttributeValueLength))
        #expect(!log.names.contains(.requestAsked))
        await emulator.stop()
    }

    @Test func `an answer that does not fit is refused, and the request goes on waiting`() async throws {
        let emulator = try await start()
        let read = try await reads("2A37")
        try await wait(for: .requestAsked)
        let write = try await writes([5], by: other)
        try await wait(for: .requestAsked, count: 2)
        let long = RequestAnswer.value(.bytes(Array(repeating: 0, count: 513)))
        #expect(
            await refusal(of: 1, long, by: emulator)
                == .invalid("the value has 513 bytes and the characteristic takes 512 at most"))
        #expect(
            await refusal(of: 1, .accept, by: emulator)
                == .invalid("request 1 is a read: answer it with a value or an error"))
        #expect(
            await refusal(of: 2, .value(.bytes([1])), by: emulator)
                == .invalid("request 2 is a write: accept it without a value, or refuse it with an error"))
        #expect(
            await refusal(of: 1, .error(ATTError(code: 0x11)), by: emulator)
                == .conflict(
                    "fake cannot answer a read with 0x11 (insufficient resources); it can send 0x0E and 0x80")
        )
        #expect(try await emulator.answer(1, .error(ATTError(code: 0x80))))
        #expect(try await read.value == .failure(ATTError(code: 0x80)))
        #expect(try await emulator.answer(2, .error(ATTError(code: 0x11))))
        #expect(try await write.value == .failure(ATTError(code: 0x11)))
        await emulator.stop()
    }

    @Test func `a write that does not fit any more gets the device's error, and the answer says so`()
        async throws
    {
        let emulator = try await start()
        let part = WriteRequest.Part(attribute: try await key("2A39"), offset: 1, value: [5])
        let request = WriteRequest(central: peer.id, parts: [part], wantsResponse: true)
        let write = Task { try await radio.request(.write(request)) }
        #expect(
            fields(try await wait(for: .requestAsked))
                == #"{"characteristic":"2A39","id":1,"by":"write","offset":1,"value":"05"}"#)
        _ = try await emulator.setValue(.bytes([]), of: try AttributeName(parsing: "2A39"), in: "Test")
        #expect(
            await refusal(of: 1, .accept, by: emulator)
                == .conflict(
                    """
                    request 1 was accepted, and the device answered it with 0x07 (invalid offset)
                    """))
        #expect(try await write.value == .failure(.invalidOffset))
        await emulator.stop()
    }

    @Test func `a long value is asked once, and its rest is read without a question`() async throws {
        let emulator = try await start()
        let read = try await reads("2A37")
        try await wait(for: .requestAsked)
        let value = (0..<30).map { UInt8($0) }
        #expect(try await emulator.answer(1, .value(.bytes(value))))
        #expect(try await read.value == .success(value))
        #expect(try await reads("2A37", offset: 22).value == .success(Array(value[22...])))
        #expect(try await reads("2A37", offset: 31).value == .failure(.invalidOffset))
        #expect(log.names.count { $0 == .requestAsked } == 1)
        // A central that begins in the middle is asked about, and gets the value from there on.
        let rest = try await reads("2A37", by: other, offset: 2)
        #expect(
            fields(try await wait(for: .requestAsked, count: 2))
                == #"{"characteristic":"2A37","id":2,"by":"read","offset":2}"#)
        #expect(try await emulator.answer(2, .value(.bytes([1, 2, 3]))))
        #expect(try await rest.value == .success([3]))
        await emulator.stop()
    }

    // MARK: No answer

    @Test func `a request that nobody answers gets 0x0E at its time, and a late answer is refused`()
        async throws
    {
        let emulator = try await start()
        let read = try await reads("2A37")
        try await wait(for: .requestAsked)
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(10))
        let write = try await writes([5], by: other)
        try await wait(for: .requestAsked, count: 2)
        clock.advance(by: .seconds(18))
        #expect(!log.names.contains(.requestUnanswered))
        clock.advance(by: .seconds(1))
        #expect(try await read.value == .failure(.unlikelyError))
        #expect(
            fields(try await wait(for: .requestUnanswered)) == """
                {"characteristic":"2A37","id":1,"by":"read","error":"0x0E","because":"timeout"}
                """)
        #expect(
            await refusal(of: 1, .value(.bytes([1])), by: emulator)
                == .conflict("request 1 was not answered in time: its central got 0x0E"))
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(10))
        #expect(try await write.value == .failure(.unlikelyError))
        #expect(log.names.count { $0 == .requestUnanswered } == 2)
        #expect(!log.names.contains(.read) && !log.names.contains(.write))
        await emulator.stop()
    }

    @Test func `the end of a link ends its request alone`() async throws {
        let emulator = try await start()
        let read = try await reads("2A37")
        try await wait(for: .requestAsked)
        let second = try await reads("2A37", by: other)
        try await wait(for: .requestAsked, count: 2)
        await radio.simulate(.disconnected(peer.id))
        #expect(try await read.value == .failure(.unlikelyError))
        #expect(try await wait(for: .requestUnanswered).string("because") == "disconnected")
        #expect(
            await refusal(of: 1, .value(.bytes([1])), by: emulator)
                == .conflict("the central of request 1 has disconnected"))
        #expect(try await emulator.answer(2, .value(.bytes([1]))))
        #expect(try await second.value == .success([1]))
        await emulator.stop()
    }

    @Test func `a reset answers what waits with 0x0E`() async throws {
        let emulator = try await start()
        let read = try await reads("2A37")
        try await wait(for: .requestAsked)
        try await emulator.reset(.values)
        #expect(try await read.value == .failure(.unlikelyError))
        #expect(try await wait(for: .requestUnanswered).string("because") == "reset")
        #expect(
            await refusal(of: 1, .value(.bytes([1])), by: emulator)
                == .conflict("request 1 was answered with 0x0E, because its device was reset"))
        await emulator.stop()
    }

    @Test func `the end of the run answers what waits`() async throws {
        let emulator = try await start()
        let read = try await reads("2A37")
        try await wait(for: .requestAsked)
        await emulator.stop()
        #expect(try await read.value == .failure(.unlikelyError))
        #expect(log.all.last { $0.name == .requestUnanswered }?.string("because") == "ended")
        #expect(try await emulator.answer(1, .value(.bytes([1]))) == false)
    }

    static let ended = ControlRefusal.conflict(
        "request 1 was answered with 0x0E, because its app has ended or its device was removed")

    @Test func `the removal of a device answers what waits, and what comes meanwhile at once`()
        async throws
    {
        let emulator = try await start()
        let read = try await reads("2A37")
        try await wait(for: .requestAsked)
        await radio.holdLinks()
        async let end: Void = emulator.removeLast("Test")
        #expect(try await read.value == .failure(.unlikelyError))
        #expect(try await reads("2A37", by: other).value == .failure(.unlikelyError))
        #expect(log.names.count { $0 == .requestAsked } == 1)
        for peer in [peer, other] { await radio.simulate(.disconnected(peer.id)) }
        await end
        #expect(
            log.all.filter { $0.name == .requestUnanswered }.map { $0.string("because") } == ["ended"])
        #expect(await refusal(of: 1, .value(.bytes([1])), by: emulator) == Self.ended)
    }

    @Test func `without a control API each request gets 0x0E at once, and a warning says so at the start`()
        async throws
    {
        let emulator = try await start(isControlled: false)
        #expect(try await reads("2A37").value == .failure(.unlikelyError))
        #expect(try await writes([5]).value == .failure(.unlikelyError))
        #expect(try await reads("2A39").value == .success([0]))
        let warnings = log.all.filter { $0.name == .warning }
        #expect(warnings.map { $0.string("code") } == ["nobodyAnswers"])
        #expect(try await wait(for: .read).string("error") == nil)
        #expect(log.all.first { $0.name == .read }?.string("error") == "0x0E")
        #expect(!log.names.contains(.requestAsked))
        await emulator.stop()
    }

    // MARK: Apps

    static let app = profile.replacing(
        "name: Test\n",
        with: "name: Test\napp: {backgroundModes: [bluetooth-peripheral], taskTime: 10 ms}\n"
    ).replacing(
        "advertising: {serviceUUIDs: [180D]}", with: "advertising: {localName: Fred}")

    @Test func `a request wakes a suspended app, which works until it is answered`() async throws {
        let emulator = try await start(Self.app)
        await emulator.carryOut(.suspend)
        let read = try await reads("2A37")
        try await wait(for: .requestAsked)
        #expect(try await wait(for: .appWoken).string("by") == "read")
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(1))
        #expect(await emulator.snapshot(of: "Test")?.app == .background)
        #expect(try await emulator.answer(1, .value(.bytes([1]))))
        #expect(try await read.value == .success([1]))
        await emulator.stop()
    }

    @Test func `an app that ends while it is asked answers with 0x0E`() async throws {
        let emulator = try await start(Self.app)
        let read = try await reads("2A37")
        try await wait(for: .requestAsked)
        await emulator.carryOut(.terminate)
        #expect(try await read.value == .failure(.unlikelyError))
        #expect(try await wait(for: .requestUnanswered).string("because") == "ended")
        // It is reported once.
        #expect(!log.names.contains(.requestRefused))
        #expect(await refusal(of: 1, .value(.bytes([1])), by: emulator) == Self.ended)
        await emulator.stop()
    }
}
