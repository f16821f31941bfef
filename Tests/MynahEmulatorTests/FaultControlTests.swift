import Mynah
import MynahCore
import MynahEmulator
import MynahLifecycle
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

/// The faults of a profile, and those that a test adds, on a radio without air.
@Suite(.timeLimit(.minutes(15))) struct FaultControlTests {
    static let profile = """
        mynah: 1
        name: Test
        advertising: {serviceUUIDs: [180D]}
        services:
          - uuid: 180D
            characteristics:
              - {uuid: 2A37, properties: [read, notify], value: {hex: 01}}
              - {uuid: 2A38, properties: [read], value: {hex: 02}}
        faults:
          - {name: wrong, on: read, of: 2A37, times: 2, value: {hex: FF}}
          - {name: refused, on: read, of: 2A38, error: 0x80, off: true}
        """

    private let rig = DeviceRig()
    private var radio: FakeRadio { rig.radio }
    private var clock: ManualClock { rig.clock }
    private var log: EventLog { rig.log }
    private var peer: Peer { rig.peer }

    func start(
        _ texts: [String] = [profile], isControlled: Bool = true
    ) async throws -> Emulator {
        let emulator = try rig.emulator(texts, isControlled: isControlled)
        try await emulator.start()
        await radio.simulate(.connected(peer))
        return emulator
    }

    func read(_ uuid: BluetoothUUID) async throws -> PendingReply.Outcome? {
        let all = await radio.published.flatMap(\.services).flatMap(\.characteristics)
        let key = try #require(all.first { $0.uuid == uuid }).key
        return try await radio.request(.read(ReadRequest(central: peer.id, attribute: key)))
    }

    func refusal(_ body: () async throws(ControlRefusal) -> Void) async -> ControlRefusal? {
        do throws(ControlRefusal) {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    private static func lines(_ faults: [DeviceFault]) -> [String] {
        faults.map { "\($0.name) \($0.isOff ? "off" : "on") \($0.applied)" }
    }

    private func add(_ fault: String, to emulator: Emulator) async throws -> ControlRefusal? {
        let json = try JSON(parsing: Array(fault.utf8))
        return await refusal { () async throws(ControlRefusal) in
            _ = try await emulator.addFault(json, to: "Test")
        }
    }

    @Test func `a fault of one value changes no report of a later one, also if one to nobody came between`()
        async throws
    {
        let emulator = try await start([
            """
            mynah: 1
            name: Test
            services:
              - uuid: 180D
                characteristics:
                  - {uuid: 2A37, properties: [read, notify], value: {hex: 01}}
                  - {uuid: 2A38, properties: [read, notify], value: {hex: 02}}
            faults: [{name: dropped, on: notify, of: 2A37, nth: 1, do: drop}]
            """
        ])
        let all = await radio.published.flatMap(\.services).flatMap(\.characteristics)
        let key = try #require(all.first { $0.uuid == "2A37" }).key
        await radio.simulate(.subscribed(key, peer.id, .notification))
        func send(_ byte: UInt8, _ name: String) async throws -> Int? {
            try await emulator.setValue(
                .bytes([byte]), of: try AttributeName(parsing: name), in: "Test", notify: true
            ).sent
        }
        #expect(try await send(1, "2A37") == 1)
        #expect(log.values(of: .notified) == [])
        for byte: UInt8 in 2...3 { #expect(try await send(byte, "2A38") == 0) }
        for byte: UInt8 in 4...5 { #expect(try await send(byte, "2A37") == 1) }
        #expect(log.values(of: .notified) == ["04", "05"])
        #expect(await radio.sent.map(\.value) == [[4], [5]])
        await emulator.stop()
    }

    @Test func `a profile's fault is applied, reported and counted`() async throws {
        let emulator = try await start(isControlled: false)
        #expect(try await read("2A37") == .success([0xFF]))
        #expect(try await read("2A38") == .success([0x02]))
        #expect(Self.lines(try await emulator.faults(of: "Test")) == ["wrong on 1", "refused off 0"])
        let event = try #require(log.all.first { $0.name == .faultApplied })
        let expected = #"{"fault":"wrong","on":"read","central":"AA:BB:CC:DD:EE:FF"}"#
        #expect(JSON.object(event.fields).text == expected)
        #expect(await emulator.snapshot(of: "Test")?.faults.map(\.applied) == [1, 0])
        #expect(try await read("2A37") == .success([0xFF]))
        // It applies twice.
        #expect(try await read("2A37") == .success([0x01]))
        await emulator.stop()
    }

    @Test func `a fault is turned on and off, and counts from zero when it is turned on`() async throws {
        let emulator = try await start()
        #expect(try await emulator.turnFault("refused", isOn: true, of: "Test").isOff == false)
        #expect(try await read("2A38") == .failure(ATTError(code: 0x80)))
        #expect(try await read("2A38") == .failure(ATTError(code: 0x80)))
        #expect(try await emulator.turnFault("refused", isOn: false, of: "Test").applied == 2)
        #expect(try await read("2A38") == .success([0x02]))
        #expect(try await emulator.turnFault("refused", isOn: true, of: "Test").applied == 0)
        await emulator.stop()
    }

    @Test func `faults are added and removed, and a reset brings back those of the profile`() async throws {
        let emulator = try await start()
        #expect(
            try await add(#"{"name": "late", "on": "read", "of": "2A38", "truncate": 0}"#, to: emulator)
                == nil)
        #expect(try await read("2A38") == .success([]))
        #expect(try await read("2A37") == .success([0xFF]))
        try await emulator.removeFault("wrong", of: "Test")
        #expect(try await read("2A37") == .success([0x01]))
        #expect(Self.lines(try await emulator.faults(of: "Test")) == ["refused off 0", "late on 1"])
        try await emulator.reset(.faults)
        #expect(Self.lines(try await emulator.faults(of: "Test")) == ["wrong on 0", "refused off 0"])
        #expect(try await read("2A38") == .success([0x02]))
        #expect(try await read("2A37") == .success([0xFF]))
        try await emulator.reset([.values, .connections])
        #expect(try await emulator.faults(of: "Test").first?.applied == 1)
        try await emulator.reset()
        #expect(try await emulator.faults(of: "Test").first?.applied == 0)
        await emulator.stop()
    }

    @Test func `a device has as many faults as a profile can have, those that a test adds included`()
        async throws
    {
        let emulator = try await start()
        let limit = ProfileLimit.faults.count
        // The profile has two.
        for number in 2..<limit {
            #expect(
                try await add(#"{"name": "f\#(number)", "on": "read", "delay": "1 ms"}"#, to: emulator) == nil
            )
        }
        let full = ControlRefusal.conflict(
            "Test has \(limit) faults, the most that a device can have; remove one first")
        let more = #"{"name": "more", "after": "1 s", "do": "disconnect"}"#
        #expect(try await add(more, to: emulator) == full)
        try await emulator.removeFault("f7", of: "Test")
        #expect(try await add(more, to: emulator) == nil)
        #expect(try await add(#"{"name": "f7", "on": "read", "delay": "1 ms"}"#, to: emulator) == full)
        #expect(try await emulator.faults(of: "Test").map(\.name).last == "more")
        try await emulator.reset(.faults)
        #expect(try await emulator.faults(of: "Test").count == 2)
        #expect(try await add(more, to: emulator) == nil)
        await emulator.stop()
    }

    private static let connecting = """
        mynah: 1
        name: Test
        advertising: {serviceUUIDs: [180D]}
        services:
          - uuid: 180D
            characteristics: [{uuid: 2A37, properties: [read, notify], value: {hex: 01}}]
        faults:
          - {name: first, on: read, central: 1, value: {hex: FF}}
          - {name: gone, on: connect, nth: 2, do: vanish, off: true}
          - {name: away, on: advertise, nth: 2, do: vanish}
        """

    @Test func `the profile's faults begin when a reset has ended the links`() async throws {
        let emulator = try await start([Self.connecting])
        // The second connection is not the first one before a reset, and is the first one after it.
        await radio.simulate(.disconnected(peer.id))
        await radio.simulate(.connected(peer))
        #expect(try await read("2A37") == .success([0x01]))
        try await emulator.reset()
        #expect(await radio.advertisement != nil)
        #expect(
            Self.lines(try await emulator.faults(of: "Test")) == ["first on 0", "gone off 0", "away on 0"])
        await radio.simulate(.connected(peer))
        #expect(try await read("2A37") == .success([0xFF]))
        await emulator.stop()
    }

    @Test func `a reset waits until a device that was gone is back`() async throws {
        let emulator = try await start([Self.connecting])
        await radio.simulate(.disconnected(peer.id))
        _ = try await emulator.turnFault("gone", isOn: true, of: "Test")
        await radio.simulate(.connected(peer))
        await radio.simulate(.disconnected(peer.id))
        await radio.simulate(.connected(peer))
        try await until("the device is gone") { await radio.isGone }
        await radio.holdReappearing()
        let reset = Task { () async -> ControlRefusal? in
            await refusal { () async throws(ControlRefusal) in try await emulator.reset() }
        }
        try await until("the device is coming back") { await radio.heldCount == 1 }
        await radio.release()
        #expect(await reset.value == nil)
        #expect(await !radio.isGone)
        #expect(await radio.advertisement != nil)
        #expect(!log.all.contains { $0.name == .warning })
        await emulator.stop()
    }

    @Test func `a fault that is wrong, taken or impossible is refused, and nothing changes`() async throws {
        let emulator = try await start()
        let rows: [(fault: String, refusal: ControlRefusal)] = [
            (
                #"{"name": "a", "on": "raed", "truncate": 1}"#,
                .invalid(#"unknown trigger "raed"; did you mean "read"?"#)
            ),
            (
                #"{"name": "a", "on": "read", "of": "2A39", "truncate": 1}"#,
                .invalid(#"the device has no 2A39; did you mean "2A37"?"#)
            ),
            (
                #"{"name": "a", "on": "raed", "when": "powr > 1", "value": {"hex": "0"}}"#,
                .invalid(
                    """
                    unknown trigger "raed"; did you mean "read"?
                    there is no variable "powr"; the profile has no variables
                    hex must be pairs of hexadecimal digits, as in 01 FF, not "0"
                    """)
            ),
            (
                #"{"name": "wrong", "on": "read", "truncate": 1}"#,
                .conflict(#"there is a fault "wrong" already; remove it first"#)
            ),
            (
                #"{"name": "a", "on": "read", "error": "0x05"}"#,
                .conflict(
                    """
                    the fault "a": fake cannot answer a read with 0x05 (insufficient authentication); it can \
                    send 0x0E and 0x80
                    """)
            ),
        ]
        for (fault, expected) in rows { #expect(try await add(fault, to: emulator) == expected) }
        #expect(try await emulator.faults(of: "Test").map(\.name) == ["wrong", "refused"])
        let unknown = await refusal { () async throws(ControlRefusal) in
            _ = try await emulator.turnFault("wrogn", isOn: false, of: "Test")
        }
        #expect(unknown == .notFound(#"Test has no fault "wrogn"; did you mean "wrong"?"#))
        let other = await refusal { () async throws(ControlRefusal) in
            try await emulator.removeFault("gone", of: "Test")
        }
        #expect(other == .notFound(#"Test has no fault "gone"; its faults are "wrong", "refused""#))
        await emulator.stop()
    }

    @Test func `without faults and without a test the radio has no layer`() async throws {
        let lines = Self.profile.split(separator: "\n").prefix { $0 != "faults:" }
        let text = lines.joined(separator: "\n")
        let emulator = try await start([text], isControlled: false)
        #expect(try await emulator.faults(of: "Test") == [])
        #expect(
            try await add(#"{"name": "a", "on": "read", "truncate": 1}"#, to: emulator)
                == .conflict("this radio does not support faults"))
        await emulator.stop()
    }

    @Test func `a fault's condition follows a variable of its device`() async throws {
        let text = """
            mynah: 1
            name: Test
            variables: {power: 150, mode: run}
            services:
              - uuid: 180D
                characteristics:
                  - {uuid: 2A37, properties: [read], value: {hex: 01}}
            faults:
              - {name: exact, on: read, when: power > 9007199254740992, value: {hex: DD}}
              - {name: strong, on: read, when: power > 200, value: {hex: FF}}
              - {name: booting, on: read, when: mode == "boot", value: {hex: EE}}
            """
        let emulator = try await start([text])
        #expect(try await read("2A37") == .success([0x01]))
        try await emulator.setVariable("mode", to: .text("boot"), in: "Test")
        #expect(try await read("2A37") == .success([0xEE]))
        try await emulator.setVariable("power", to: .number(201), in: "Test")
        #expect(try await read("2A37") == .success([0xFF]))
        // A Double has not all digits of this one.
        try await emulator.setVariable("power", to: .whole(9_007_199_254_740_993), in: "Test")
        #expect(try await read("2A37") == .success([0xDD]))
        try await emulator.setVariable("power", to: .number(1), in: "Test")
        try await emulator.setVariable("mode", to: .text("run"), in: "Test")
        let fields =
            #"{"name": "typed", "on": "read", "of": "2A37", "value": {"fields": {"heartRate": 300}}}"#
        #expect(try await add(fields, to: emulator) == nil)
        #expect(try await read("2A37") == .success([0x01, 0x2C, 0x01]))
        await emulator.stop()
    }

    // MARK: Apps

    private static func app(_ name: String, _ service: String) -> String {
        """
        mynah: 1
        name: \(name)
        app: {backgroundModes: [bluetooth-peripheral]}
        advertising: {serviceUUIDs: [\(service)]}
        services:
          - uuid: \(service)
            characteristics:
              - {uuid: 2A\(service.suffix(2)), properties: [read], value: {hex: 01}}
        faults:
          - {name: away, on: read, of: 2A\(service.suffix(2)), when: background, value: {hex: FF}}
        """
    }

    @Test func `apps of one phone have faults of one name, each with its own state`() async throws {
        let emulator = try await start([Self.app("One", "1821"), Self.app("Two", "1822")])
        // The first is in front, and the second has left the screen.
        #expect(try await read("2A21") == .success([0x01]))
        #expect(try await read("2A22") == .success([0xFF]))
        #expect(Self.lines(try await emulator.faults(of: "One")) == ["away on 0"])
        #expect(Self.lines(try await emulator.faults(of: "Two")) == ["away on 1"])
        let event = try #require(log.all.last { $0.name == .faultApplied })
        #expect(event.string("device") == "Two" && event.string("fault") == "away")
        #expect(try await emulator.turnFault("away", isOn: false, of: "Two").isOff)
        #expect(try await emulator.faults(of: "One").map(\.isOff) == [false])
        #expect(try await read("2A22") == .success([0x01]))
        try await emulator.reset(.faults, of: "Two")
        #expect(try await read("2A22") == .success([0xFF]))
        await emulator.stop()
    }

    @Test func `an app's faults repeat themselves by its own seed, whichever apps are beside it`()
        async throws
    {
        func pattern(_ apps: [String]) async throws -> [PendingReply.Outcome?] {
            let texts = apps.map {
                Self.app($0, $0 == "One" ? "1821" : "1822").replacing(
                    "when: background", with: "chance: 50 %")
            }
            let emulator = try await start(texts)
            var answers: [PendingReply.Outcome?] = []
            for _ in 1...32 { answers.append(try await read("2A22")) }
            await emulator.stop()
            return answers
        }
        let alone = try await pattern(["Two"])
        #expect(Set(alone).count == 2)
        #expect(try await pattern(["One", "Two"]) == alone)
    }

    @Test func `the names of an app's states in a profile are those of events`() {
        #expect(Set(FaultScope.appStates) == Set(AppState.allCases.map(\.rawValue)))
    }
}
