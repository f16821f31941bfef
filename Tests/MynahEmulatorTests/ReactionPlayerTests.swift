import Mynah
import MynahCore
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahEmulator

/// Rules of a profile, as a central meets them.
@Suite(.timeLimit(.minutes(15))) struct ReactionPlayerTests {
    private static let profile = """
        mynah: 1
        name: Pump
        advertising: {localName: Pump}
        variables: {power: 150, mode: eco}
        services:
          - uuid: 6E400001-B5A3-F393-E0A9-E50E24DCCA9E
            characteristics:
              - uuid: 2A57
                properties: [read, write, writeWithoutResponse, notify]
                value: {layout: [{opcode: uint8}, {level: uint16, when: opcode == 1}]}
                errors: {write: 0x81}
                on:
                  write:
                    - {match: {opcode: 1, level: {">": 300}}, error: 0x80}
                    - match: {opcode: 1}
                      set: {power: level}
                      answer:
                        - {value: {hex: 80 01 01}}
                        - {to: 2A58, value: {fields: {analog: {from: level}}}, after: 20 ms}
                    - match: {hex: 02 ..}
                      set: {mode: "off"}
                      answer: {hex: FF}
                      advertise: off
                      disconnect: true
                    - {match: {opcode: 3}, notify: 2A58}
              - uuid: 2A58
                properties: [read, notify]
                value: {layout: [{analog: uint16}], fields: {analog: 10}}
              - uuid: 2A63
                properties: [read, notify]
                value: {layout: [{power: uint16}], fields: {power: {from: power}}}
                on: {subscribe: [{notify: now}]}
        """

    private struct Rig {
        let radio = FakeRadio()
        let clock = ManualClock()
        let log = EventLog()
        let peer = Peer(id: Peer.ID(1), address: DeviceAddress("AA:BB:CC:DD:EE:FF", kind: .public))
        let emulator: Emulator
        let keys: [BluetoothUUID: AttributeKey]

        init() async throws {
            let device = EmulatedDevice(
                try ProfileLoader.load(text: profile, file: "pump.yaml"), seed: 1)
            keys = Dictionary(
                uniqueKeysWithValues: device.services[0].characteristics.map { ($0.uuid, $0.key) })
            let log = log
            emulator = Emulator(
                [device], on: radio, clock: clock, wallTime: { WallTime(microseconds: 0) },
                observer: { log.append($0) })
            try await emulator.start()
            await radio.simulate(.connected(peer))
        }

        func key(_ uuid: BluetoothUUID) throws -> AttributeKey { try #require(keys[uuid]) }

        func subscribe(_ uuid: BluetoothUUID) async throws {
            await radio.simulate(.subscribed(try key(uuid), peer.id, .notification))
        }

        func write(_ value: [UInt8], isCommand: Bool = false) async throws -> PendingReply.Outcome? {
            let part = WriteRequest.Part(attribute: try key("2A57"), value: value)
            let request = WriteRequest(central: peer.id, parts: [part], wantsResponse: !isCommand)
            return try await radio.request(.write(request))
        }

        func read(_ uuid: BluetoothUUID) async throws -> [UInt8]? {
            try await radio.request(.read(.init(central: peer.id, attribute: try key(uuid))))?.get()
        }

        func warnings(_ code: String) -> Int {
            log.all.count { $0.name == .warning && $0.string("code") == code }
        }

        func variables() async -> String? { await emulator.snapshot(of: "Pump")?.variables.json.text }
    }

    @Test func `a rule sets variables and answers the writer, and stores nothing`() async throws {
        let rig = try await Rig()
        for uuid in ["2A57", "2A58", "2A63"] as [BluetoothUUID] { try await rig.subscribe(uuid) }
        try await until("the first value") { await rig.radio.sent.count == 1 }
        #expect(await rig.radio.sent.map(\.value) == [[150, 0]])
        #expect(try await rig.write([1, 200, 0]) == .success([]))
        // The value that reads the variable, and the answer, which follow the response.
        try await until("the values that follow") { await rig.radio.sent.count == 3 }
        #expect(Set(await rig.radio.sent.dropFirst().map(\.value)) == [[200, 0], [0x80, 1, 1]])
        rig.clock.advance(by: .milliseconds(19))
        rig.clock.advance(by: .milliseconds(1))
        try await until("the answer") { await rig.radio.sent.count == 4 }
        #expect(await rig.radio.sent.last?.value == [200, 0])
        #expect(try await rig.read("2A57") == [])
        #expect(try await rig.read("2A63") == [200, 0])
        #expect(await rig.variables() == #"{"mode":"eco","power":200}"#)
        await rig.emulator.stop()
    }

    @Test func `an error refuses a request and not a command, and without a rule the profile's error does`()
        async throws
    {
        let rig = try await Rig()
        #expect(try await rig.write([1, 45, 1]) == .failure(ATTError(code: 0x80)))
        #expect(try await rig.write([9]) == .failure(ATTError(code: 0x81)))
        #expect(try await rig.write([3]) == .failure(ATTError(code: 0x81)))
        _ = try await rig.write([1, 45, 1], isCommand: true)
        #expect(try await rig.read("2A57") == [])
        #expect(await rig.variables() == #"{"mode":"eco","power":150}"#)
        await rig.emulator.stop()
    }

    @Test func `a writer that is not subscribed gets no answer, and that is reported once`() async throws {
        let rig = try await Rig()
        for level in [1, 2, 3] as [UInt8] { #expect(try await rig.write([1, level, 0]) == .success([])) }
        for _ in 0..<5 { rig.clock.advance(by: .milliseconds(20)) }
        try await until("the warnings") { rig.warnings("answerNotSubscribed") == 2 }
        #expect(await rig.radio.sent.isEmpty)
        #expect(await rig.variables() == #"{"mode":"eco","power":3}"#)
        await rig.emulator.stop()
    }

    @Test func `a rule stops advertising and ends the link after its answer`() async throws {
        let rig = try await Rig()
        try await rig.subscribe("2A57")
        #expect(try await rig.write([2, 9, 9]) == .success([]))
        try await until("the end of the link") { rig.log.names.contains(.centralDisconnected) }
        #expect(await rig.radio.sent.map(\.value) == [[0xFF]])
        #expect(await rig.emulator.snapshot(of: "Pump")?.advertising.isOn == false)
        #expect(await rig.variables() == #"{"mode":"off","power":150}"#)
        await rig.emulator.stop()
    }

    @Test func `a test sets a variable, and a reset brings it back`() async throws {
        let rig = try await Rig()
        try await rig.subscribe("2A63")
        try await until("the first value") { await rig.radio.sent.count == 1 }
        try await rig.emulator.setVariable("power", to: .number(258), in: "Pump")
        try await until("the new value") { await rig.radio.sent.count == 2 }
        #expect(await rig.radio.sent.last?.value == [2, 1])
        for (name, value) in [
            ("powr", VariableValue.number(1)), ("power", .number(-1)), ("power", .text("x")),
        ] {
            await #expect(throws: ControlRefusal.self) {
                try await rig.emulator.setVariable(name, to: value, in: "Pump")
            }
        }
        #expect(try await rig.read("2A63") == [2, 1])
        // Values and variables are two parts.
        try await rig.emulator.reset(.values)
        #expect(try await rig.read("2A63") == [2, 1])
        try await rig.emulator.reset(.variables)
        #expect(try await rig.read("2A63") == [150, 0])
        await rig.emulator.stop()
    }

    @Test func `a whole number in a variable is not rounded`() async throws {
        let text = """
            mynah: 1
            name: Pump
            variables: {serial: 9007199254740993}
            services:
              - uuid: 180A
                characteristics:
                  - uuid: 2A25
                    properties: [read]
                    value: {layout: [{number: uint64}], fields: {number: {from: serial}}}
            """
        let device = EmulatedDevice(try ProfileLoader.load(text: text, file: "pump.yaml"), seed: 1)
        let key = device.services[0].characteristics[0].key
        #expect(device.table.value(of: key, at: .zero) == [1, 0, 0, 0, 0, 0, 0x20, 0])
        #expect(device.table.variables.json.text == #"{"serial":9007199254740993}"#)
        #expect(VariableValue(.integer(9_007_199_254_740_993))?.json == .integer(9_007_199_254_740_993))
        #expect(VariableValue(.integer(150)) == .number(150))
        #expect(VariableValue(.unsigned(.max))?.json.text == "18446744073709551615")
    }
}
