import Mynah
import MynahCore
import MynahLifecycle
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahEmulator

/// Scenarios of an accessory and of apps, on a radio without air and with a clock that tests move.
@Suite(.timeLimit(.minutes(15))) struct ScenarioPlayerTests {
    static func accessory(_ scenarios: String) -> String {
        """
        mynah: 1
        name: Test
        advertising: {serviceUUIDs: [180D]}
        variables: {rate: 72}
        faults:
          - {name: refused, on: read, of: 2A37, error: 0x80, off: true}
        scenarios: [\(scenarios)]
        services:
          - uuid: 180D
            characteristics:
              - {uuid: 2A37, properties: [read, notify], value: {fields: {heartRate: {from: rate}}}}
              - {uuid: 2A38, properties: [notify], value: {hex: 02}}
              - {uuid: 2A39, properties: [write]}
        """
    }

    static func app(_ name: String, _ scenarios: String, _ services: String = battery) -> String {
        """
        mynah: 1
        name: \(name)
        app: {backgroundModes: [bluetooth-peripheral]}
        variables: {level: 80}
        scenarios: [\(scenarios)]
        \(services)
        """
    }

    static let battery = """
        services: [{uuid: 1810, characteristics: [{uuid: 2A19, properties: [read], \
        value: {fields: {level: {from: level}}}}]}]
        """

    private let rig = DeviceRig()
    private var radio: FakeRadio { rig.radio }
    private var clock: ManualClock { rig.clock }
    private var log: EventLog { rig.log }
    private var peer: Peer { rig.peer }

    /// Plays a scenario from `ready` on, with a central connected.
    func start(_ texts: [String], _ name: String, of label: String = "Test") async throws
        -> Emulator
    {
        let emulator = try rig.emulator(texts)
        await emulator.playWhenReady(name, of: label)
        try await emulator.start()
        await radio.simulate(.connected(peer))
        return emulator
    }

    func key(_ uuid: BluetoothUUID) async throws -> AttributeKey {
        let all = await radio.published.flatMap(\.services).flatMap(\.characteristics)
        return try #require(all.first { $0.uuid == uuid }).key
    }

    func read(_ uuid: BluetoothUUID) async throws -> PendingReply.Outcome? {
        try await radio.request(.read(ReadRequest(central: peer.id, attribute: try await key(uuid))))
    }

    func write(_ value: [UInt8]) async throws {
        let part = WriteRequest.Part(attribute: try await key("2A39"), value: value)
        _ = try await radio.request(
            .write(WriteRequest(central: peer.id, parts: [part], wantsResponse: true)))
    }

    /// The ends of scenarios, as they were reported.
    var ends: [String] {
        log.all.filter { $0.name == .scenarioEnded }.map { JSON.object($0.fields).text }
    }

    func end() async throws -> String {
        try await until("the scenario has ended") { !ends.isEmpty }
        return ends[0]
    }

    static let dropOut = """
        {name: refused reads, steps: [{await: read, of: 2A37}, {after: 5 s}, {fault: refused},
        {set: {rate: 60}}, {expect: fault.applied, fault: refused}, {fault: refused, off: true},
        {expect: write, value: 01, within: 2 s}]}
        """

    @Test func `an accessory's scenario passes`() async throws {
        let emulator = try await start([Self.accessory(Self.dropOut)], "refused reads")
        #expect(try await read("2A37") == .success([0x00, 72]))
        try await until("it waits") { clock.pauses.contains(.seconds(5)) }
        #expect(
            await emulator.snapshot(of: "Test")?.scenarios == [.init(name: "refused reads", isPlaying: true)])
        clock.advance(by: .seconds(5))
        try await until("the fault is on") { try await emulator.faults(of: "Test").first?.isOff == false }
        #expect(try await read("2A37") == .failure(ATTError(code: 0x80)))
        try await until("the fault is off") { try await emulator.faults(of: "Test").first?.isOff == true }
        #expect(try await read("2A37") == .success([0x00, 60]))
        try await write([1])
        let expected = """
            {"scenario":"refused reads","result":"pass","step":7,"message":"every step was played"}
            """
        #expect(try await end() == expected)
        #expect(await emulator.snapshot(of: "Test")?.scenarios.map(\.isPlaying) == [false])
        await emulator.stop()
        #expect(ends.count == 1)
    }

    @Test func `an accessory's scenario fails when the time for an event is over`() async throws {
        let scenario = "{name: a, steps: [{await: read}, {expect: write, value: 01, within: 2 s}]}"
        let emulator = try await start([Self.accessory(scenario)], "a")
        _ = try await read("2A37")
        try await until("it waits") { clock.pauses.contains(.seconds(2)) }
        try await write([2])
        clock.advance(by: .seconds(2))
        // It comes at the end of the time, which is too late.
        try await write([1])
        #expect(try await end().contains(#""result":"fail","step":2,"message":"no such write within 2 s; "#))
        await emulator.stop()
    }

    @Test func `a step changes what the device advertises, and switches it off and on`() async throws {
        let scenario = """
            {name: a, steps: [{advertise: {localName: Found, flags: none}}, {after: 1 s}, {advertise: off},
            {after: 1 s}, {advertise: on}]}
            """
        let emulator = try await start([Self.accessory(scenario)], "a")
        try await until("it waits") { clock.pauses.contains(.seconds(1)) }
        let changed = try #require(await radio.advertisement)
        #expect(changed.localName == "Found" && changed.flags == nil && changed.serviceUUIDs == ["180D"])
        clock.advance(by: .seconds(1))
        try await until("it is silent") { await radio.advertisement == nil }
        try await until("it waits again") { clock.pauses.contains(.seconds(1)) }
        clock.advance(by: .seconds(1))
        #expect(try await end().contains(#""result":"pass""#))
        #expect(await radio.advertisement == changed)
        await emulator.stop()
    }

    @Test func `an effect that fails ends the scenario`() async throws {
        let scenario = "{name: a, steps: [{app: quit}, {await: app.quit}, {set: {level: 1}}]}"
        let emulator = try await start([Self.app("App", scenario)], "a", of: "App")
        let expected = """
            {"scenario":"a","result":"fail","step":3,"message":"the app App is not running, it is quit: its \
            variables exist only while it runs (set: {level: 1})"}
            """
        #expect(try await end() == expected)
        await emulator.stop()
    }

    @Test func `an app's scenario changes its state, and meets the events of its own app and its phone`()
        async throws
    {
        let scenario = """
            {name: a, steps: [{app: background}, {expect: app.background}, {set: {level: 7}},
            {app: foreground}, {await: read, of: 2A19, value: 07}, {await: central.disconnected}]}
            """
        let others = "{name: a, steps: [{await: app.quit}]}"
        let emulator = try await start(
            [Self.app("One", scenario), Self.app("Two", others, "services: []")], "a", of: "One")
        try await until("the variable is set, and the app is back") {
            let one = await emulator.snapshot(of: "One")
            return one?.variables["level"] == .number(7) && one?.app == .foreground
        }
        try await emulator.play("a", of: "Two")
        #expect(try await read("2A19") == .success([7]))
        await radio.simulate(.disconnected(peer.id))
        #expect(try await end().hasPrefix(#"{"device":"One","scenario":"a","result":"pass","step":6"#))
        #expect(ends.count == 1)
        await emulator.carryOut(.quit, on: .named("Two"))
        try await until("the other has ended") { ends.count == 2 }
        #expect(ends[1].hasPrefix(#"{"device":"Two","scenario":"a","result":"pass""#))
        await emulator.stop()
    }

    static let waiting = "{name: long, steps: [{await: write}]}"
    static func failed(_ reason: String) -> String {
        #"{"scenario":"long","result":"fail","step":1,"message":"\#(reason) (await: write)"}"#
    }

    @Test func `the end of the run ends a scenario, and so does a reset`() async throws {
        let emulator = try await start([Self.accessory(Self.waiting)], "long")
        try await emulator.reset([])
        #expect(ends == [])
        try await emulator.reset(.values)
        #expect(ends == [Self.failed("the device was reset")])
        try await emulator.play("long", of: "Test")
        await emulator.stop()
        #expect(ends == [Self.failed("the device was reset"), Self.failed("the run ended first")])
    }

    @Test func `an app that is removed ends its scenario`() async throws {
        let waiting = "{name: long, steps: [{await: app.launched}]}"
        let emulator = try await start(
            [Self.app("One", waiting), Self.app("Two", waiting, "services: []")], "long", of: "Two")
        try await emulator.remove("Two")
        #expect(ends.count == 1)
        #expect(ends[0].contains("the device was removed"))
        await emulator.stop()
        #expect(ends.count == 1)
    }

    @Test func `a device plays one scenario at a time, and only one of its own`() async throws {
        func refusal(_ name: String, _ label: String = "Test") async -> ControlRefusal? {
            do throws(ControlRefusal) {
                try await emulator.play(name, of: label)
                return nil
            } catch {
                return error
            }
        }
        let emulator = try rig.emulator([Self.accessory(Self.waiting + ", {name: b, steps: [{end: pass}]}")])
        #expect(await refusal("long") == .conflict("the run of Test is not under way"))
        try await emulator.start()
        #expect(await refusal("lung") == .notFound("Test has no scenario \"lung\"; did you mean \"long\"?"))
        #expect(
            await refusal("x") == .notFound("Test has no scenario \"x\"; its scenarios are \"long\", \"b\""))
        #expect(await refusal("long") == nil)
        #expect(await refusal("b") == .conflict("Test plays the scenario \"long\"; wait for its end"))
        try await emulator.reset(.values)
        #expect(await refusal("b") == nil)
        #expect(ends.count == 2)
        await emulator.stop()
    }

    @Test func `an event has no fields but those of the catalog`() async throws {
        let emulator = try await start([Self.accessory(Self.dropOut)], "refused reads")
        _ = try await read("2A37")
        try await write([1])
        await radio.simulate(.disconnected(peer.id))
        await emulator.stop()
        #expect(log.all.count > 5)
        for event in log.all {
            let unknown = Set(event.fields.map(\.key)).subtracting(
                EventCatalog.fields(of: event.name.rawValue))
            #expect(unknown == [], "\(event.name.rawValue)")
        }
    }
}
