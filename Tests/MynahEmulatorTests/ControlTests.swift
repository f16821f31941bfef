import Mynah
import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

/// A test's requests to an accessory on a radio without air.
@Suite(.timeLimit(.minutes(15))) struct ControlTests {
    static let profile = """
        mynah: 1
        name: Test
        device: {name: Test}
        security: {io: keyboardOnly}
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
          - uuid: 180F
            characteristics:
              - {uuid: 2A19, properties: [read, indicate], value: {hex: 64}}
        """

    let radio: FakeRadio
    let clock = ManualClock()
    let log = EventLog()
    let peer = Peer(id: .init(7), address: DeviceAddress("AA:BB:CC:DD:EE:FF", kind: .random))
    let other = Peer(id: .init(9), address: DeviceAddress("AA:BB:CC:DD:EE:99", kind: .random))
    let emulator: Emulator

    init() throws {
        var capabilities = RadioCapabilities(name: "fake")
        capabilities.address = DeviceAddress("D5:88:1A:B0:E5:92", kind: .random)
        radio = FakeRadio(capabilities: capabilities)
        let log = log
        let device = EmulatedDevice(try ProfileLoader.load(text: Self.profile, file: "test.yaml"), seed: 1)
        emulator = Emulator(
            [device], on: radio, clock: clock, wallTime: { WallTime(microseconds: 0) },
            observer: { log.append($0) })
    }

    func name(_ text: String) throws -> AttributeName { try AttributeName(parsing: text) }

    func key(_ uuid: BluetoothUUID) async throws -> AttributeKey {
        let all = await radio.published.flatMap(\.services).flatMap(\.characteristics)
        return try #require(all.first { $0.uuid == uuid }).key
    }

    func read(_ uuid: BluetoothUUID) async throws -> PendingReply.Outcome? {
        try await radio.request(.read(ReadRequest(central: peer.id, attribute: try await key(uuid))))
    }

    func write(_ value: [UInt8], to uuid: BluetoothUUID) async throws -> PendingReply.Outcome? {
        let part = WriteRequest.Part(attribute: try await key(uuid), value: value)
        return try await radio.request(
            .write(WriteRequest(central: peer.id, parts: [part], wantsResponse: true)))
    }

    /// The reason why a call is refused.
    func refusal(_ body: () async throws(ControlRefusal) -> Void) async -> ControlRefusal? {
        do throws(ControlRefusal) {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    // MARK: Snapshot

    @Test func `a snapshot has everything that is known of the device`() async throws {
        try await emulator.start()
        await radio.simulate(.connected(peer))
        await radio.simulate(.mtuChanged(peer.id, 185))
        await radio.simulate(.subscribed(try await key("2A19"), peer.id, .indication))
        await radio.bond(peer)
        let snapshot = try #require(await emulator.snapshot(of: "Test"))
        let measurement = try #require(snapshot.attributes.first?.value)
        let (value, rate) = (Hex.encode(measurement), try #require(measurement.last))
        #expect(
            snapshot.json.text == """
                {"device":"Test","radio":"fake","address":"D5:88:1A:B0:E5:92","state":"poweredOn","app":null,\
                "advertising":{"on":true,"data":"02010603030D18050954657374","scanResponse":"",\
                "intervalMilliseconds":null,"connectable":true,"address":"D5:88:1A:B0:E5:92","omitted":[],\
                "structures":{"data":[\
                {"type":1,"name":"Flags","data":"06","text":"general discoverable, no BR/EDR"},\
                {"type":3,"name":"16-bit service UUIDs","data":"0D18","text":"Heart Rate"},\
                {"type":9,"name":"Complete Local Name","data":"54657374","text":"Test"}],\
                "scanResponse":[]}},\
                "centrals":[{"central":"AA:BB:CC:DD:EE:FF","mtu":185,"encrypted":true,"bonded":true,\
                "subscriptions":["180F/2A19"]}],"variables":{},"faults":[],"scenarios":[],\
                "attributes":[\
                {"path":"180D/2A37","properties":["read","notify"],"value":"\(value)",\
                "fields":{"heartRate":\(rate)}},\
                {"path":"180D/2A38","properties":["read"],"value":"01","fields":{"location":1}},\
                {"path":"180D/2A39","properties":["read","write","writableAuxiliaries"],"value":"00",\
                "fields":{"command":0}},\
                {"path":"180D/2A39/2901","properties":["read","write"],"value":"5265736574"},\
                {"path":"180F/2A19","properties":["read","indicate"],"value":"64","fields":{"level":100}}]}
                """)
        #expect(await emulator.snapshot(of: "nobody") == nil)
        await emulator.stop()
    }

    @Test func `a value that the radio does not report is not in the snapshot`() async throws {
        var capabilities = RadioCapabilities(name: "fake")
        capabilities.subscriptions.namesSubscribers = false
        let radio = FakeRadio(capabilities: capabilities)
        let device = EmulatedDevice(try ProfileLoader.load(text: Self.profile, file: "test.yaml"), seed: 1)
        let emulator = Emulator([device], on: radio, clock: clock)
        try await emulator.start()
        await radio.simulate(.connected(Peer(id: .init(3))))
        let snapshot = try #require(await emulator.snapshot(of: "Test"))
        #expect(snapshot.address == nil)
        #expect(snapshot.centrals.map(\.name) == ["central-3"])
        #expect(snapshot.centrals.first?.mtu == nil && snapshot.centrals.first?.subscriptions == nil)
        #expect(!snapshot.json.text.contains("\"mtu\"") && !snapshot.json.text.contains("subscriptions"))
        await emulator.stop()
    }

    // MARK: Values

    @Test func `a value that is set is read, and replaces a generator`() async throws {
        try await emulator.start()
        let result = try await emulator.setValue(.bytes([0, 99]), of: try name("2A37"), in: "Test")
        #expect(result.json.text == #"{"value":"0063","fields":{"heartRate":99},"sent":0}"#)
        #expect(try await read("2A37") == .success([0, 99]))
        #expect(try await emulator.value(of: try name("heart-rate-measurement"), in: "Test") == [0, 99])
        let rate = try await key("2A37")
        await radio.simulate(.subscribed(rate, peer.id, .notification))
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        try await until("a tick sends the value") { await radio.sent.map(\.value) == [[0, 99]] }
        await emulator.stop()
    }

    @Test func `a static value is given to the radio, and a descriptor is set too`() async throws {
        try await emulator.start()
        _ = try await emulator.setValue(.bytes([2]), of: try name("180D/2A38"), in: "Test")
        #expect(await radio.values[try key("2A38")] == [2])
        _ = try await emulator.setValue(.bytes([0x41]), of: try name("2A39/2901"), in: "Test")
        #expect(try await emulator.value(of: try name("2901"), in: "Test") == [0x41])
        await emulator.stop()
    }

    @Test func `a value that does not fit, or an attribute that is not there, is refused`() async throws {
        try await emulator.start()
        let control = try name("2A39")
        #expect(
            await refusal { () async throws(ControlRefusal) in
                _ = try await emulator.setValue(.bytes([1, 2, 3]), of: control, in: "Test")
            } == .invalid("the value has 3 bytes and 180D/2A39 takes 2 at most"))
        #expect(
            await refusal { () async throws(ControlRefusal) in
                _ = try await emulator.setValue(.bytes([1]), of: control, in: "Test", notify: true)
            } == .invalid("180D/2A39 neither notifies nor indicates"))
        #expect(try await read("2A39") == .success([0]))
        let unknown = try name("2A00")
        #expect(
            await refusal { () async throws(ControlRefusal) in
                _ = try await emulator.value(of: unknown, in: "Test")
            } == .notFound("the device has no 2A00"))
        #expect(
            await refusal { () async throws(ControlRefusal) in
                _ = try await emulator.value(of: unknown, in: "Best")
            } == .notFound(#"there is no device "Best"; the devices are "Test""#))
        await emulator.stop()
        #expect(
            await refusal { () async throws(ControlRefusal) in
                _ = try await emulator.value(of: control, in: "Test")
            } == .conflict("the run of Test is not under way"))
    }

    @Test func `subscribers are sent a value that is set with notify, or one of them alone`() async throws {
        try await emulator.start()
        let level = try await key("2A19")
        let name = try name("2A19")
        #expect(try await emulator.setValue(.bytes([1]), of: name, in: "Test", notify: true).sent == 0)
        for peer in [peer, other] {
            await radio.simulate(.connected(peer))
            await radio.simulate(.subscribed(level, peer.id, .indication))
        }
        #expect(try await emulator.setValue(.bytes([2]), of: name, in: "Test", notify: true).sent == 2)
        #expect(
            try await emulator.setValue(
                .bytes([3]), of: name, in: "Test", notify: true, to: "aa:bb:cc:dd:ee:99"
            ).sent
                == 1)
        let sent = await radio.sent
        #expect(sent.map(\.value) == [[2], [3]])
        #expect(sent.map(\.centrals) == [nil, [other.id]])
        #expect(log.values(of: .notified) == ["02", "03"])
        #expect(log.all.last?.string("central") == "AA:BB:CC:DD:EE:99")
        #expect(
            await refusal { () async throws(ControlRefusal) in
                _ = try await emulator.setValue(.bytes([4]), of: name, in: "Test", notify: true, to: "11:22")
            }
                == .notFound(
                    "11:22 is not connected; connected are AA:BB:CC:DD:EE:FF, AA:BB:CC:DD:EE:99"))
        await radio.simulate(.unsubscribed(level, peer.id))
        #expect(
            await refusal { () async throws(ControlRefusal) in
                _ = try await emulator.setValue(
                    .bytes([4]), of: name, in: "Test", notify: true, to: "AA:BB:CC:DD:EE:FF")
            } == .conflict("AA:BB:CC:DD:EE:FF is not subscribed to 180F/2A19"))
        #expect(try await emulator.value(of: name, in: "Test") == [3])
        await emulator.stop()
    }

    @Test func `a value waits for room on a link, and one that no link carries is not set`() async throws {
        try await emulator.start()
        let level = try await key("2A19")
        let name = try name("2A19")
        await radio.simulate(.connected(peer))
        await radio.simulate(.subscribed(level, peer.id, .indication))
        await radio.setRoom(0)
        async let result = emulator.setValue(.bytes([5]), of: name, in: "Test", notify: true)
        try await clock.waitForSleepers(1)
        await radio.setRoom(nil)
        await radio.simulate(.readyToSend)
        #expect(try await result.sent == 1)
        #expect(log.values(of: .notified) == ["05"])
        await radio.fail(.send, RadioError(.valueTooLong, "too long"))
        #expect(
            await refusal { () async throws(ControlRefusal) in
                _ = try await emulator.setValue(.bytes([6]), of: name, in: "Test", notify: true)
            } == .invalid("too long"))
        #expect(try await emulator.value(of: name, in: "Test") == [5])
        await emulator.stop()
    }

    @Test func `a value that no link carries does not replace a newer one`() async throws {
        let text = Self.profile.replacing("properties: [read, indicate]", with: "properties: [write, notify]")
        let device = EmulatedDevice(try ProfileLoader.load(text: text, file: "test.yaml"), seed: 1)
        let emulator = Emulator([device], on: radio, clock: clock)
        try await emulator.start()
        let name = try name("2A19")
        await radio.simulate(.connected(peer))
        await radio.simulate(.subscribed(try await key("2A19"), peer.id, .notification))
        await radio.setRoom(0)
        async let refused = refusal { () async throws(ControlRefusal) in
            _ = try await emulator.setValue(.bytes([5]), of: name, in: "Test", notify: true)
        }
        try await clock.waitForSleepers(1)
        #expect(try await write([9], to: "2A19") == .success([]))
        await radio.fail(.send, RadioError(.valueTooLong, "too long"))
        await radio.simulate(.readyToSend)
        #expect(await refused == .invalid("too long"))
        #expect(try await emulator.value(of: name, in: "Test") == [9])
        await emulator.stop()
    }

    @Test func `a link that never takes a value does not hold up a test for ever`() async throws {
        try await emulator.start()
        let name = try name("2A19")
        await radio.simulate(.subscribed(try await key("2A19"), peer.id, .indication))
        await radio.setRoom(0)
        async let refused = refusal { () async throws(ControlRefusal) in
            _ = try await emulator.setValue(.bytes([5]), of: name, in: "Test", notify: true)
        }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(10))
        #expect(await refused == .conflict("a subscribed central takes no more values"))
        await emulator.stop()
    }

    // MARK: Links and bonds

    @Test func `a link ends when a test ends it, and an unknown central is named`() async throws {
        try await emulator.start()
        #expect(
            await refusal { () async throws(ControlRefusal) in
                try await emulator.disconnect(central: "AA:BB:CC:DD:EE:FF", from: "Test")
            } == .notFound("AA:BB:CC:DD:EE:FF is not connected; no central is"))
        for peer in [peer, other] { await radio.simulate(.connected(peer)) }
        try await emulator.disconnect(central: "AA:BB:CC:DD:EE:99", reason: 0x15, from: "Test")
        #expect(log.all.last?.name == .centralDisconnected)
        #expect(log.all.last?.string("central") == "AA:BB:CC:DD:EE:99")
        #expect(await radio.reasons == [0x15])
        let refused = await refusal { () async throws(ControlRefusal) in
            try await emulator.disconnect(reason: 0x3E, from: "Test")
        }
        guard case .invalid(let message)? = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(message.contains("0x13"))
        // It returns when the link has ended.
        await radio.holdLinks()
        async let end: Void = emulator.disconnect(from: "Test")
        try await clock.waitForSleepers(1)
        await radio.simulate(.disconnected(peer.id))
        try await end
        #expect(await emulator.snapshot(of: "Test")?.centrals == [])
        await emulator.stop()
    }

    @Test func `a link that does not end is waited for only as long as it can last`() async throws {
        try await emulator.start()
        await radio.simulate(.connected(peer))
        await radio.holdLinks()
        async let refused = refusal { () async throws(ControlRefusal) in
            try await emulator.disconnect(from: "Test")
        }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(40))
        #expect(await refused == .conflict("a link did not end within 40.0 seconds"))
        async let stopped = refusal { () async throws(ControlRefusal) in
            try await emulator.disconnect(from: "Test")
        }
        try await clock.waitForSleepers(1)
        await emulator.stop()
        // Its links end with the run.
        #expect(await stopped == nil)
    }

    @Test func `a bond is deleted with its link, of a central that is there or not`() async throws {
        try await emulator.start()
        for peer in [peer, other] {
            await radio.simulate(.connected(peer))
            await radio.bond(peer)
        }
        await radio.simulate(.disconnected(other.id))
        #expect(
            await refusal { () async throws(ControlRefusal) in
                try await emulator.forget(central: "11:22", in: "Test")
            }
                == .notFound(
                    """
                    11:22 is neither connected nor bonded; known are AA:BB:CC:DD:EE:99, AA:BB:CC:DD:EE:FF
                    """))
        try await emulator.forget(central: "AA:BB:CC:DD:EE:99", in: "Test")
        #expect(await radio.bondedAddresses.map(\.description) == ["AA:BB:CC:DD:EE:FF"])
        #expect(await emulator.snapshot(of: "Test")?.centrals.count == 1)
        try await emulator.forget(in: "Test")
        #expect(await radio.bondedAddresses == [])
        #expect(await emulator.snapshot(of: "Test")?.centrals == [])
        await radio.fail(.forgetBond, RadioError(.unsupported, "no"))
        await radio.simulate(.connected(peer))
        #expect(
            await refusal { () async throws(ControlRefusal) in
                try await emulator.forget(central: "AA:BB:CC:DD:EE:FF", in: "Test")
            } == .conflict("no"))
        await emulator.stop()
    }

    // MARK: Advertising and pairing

    @Test func `advertising changes, stops and starts`() async throws {
        try await emulator.start()
        let report = try await emulator.advertise(
            AdvertisingChange(localName: "Other", serviceUUIDs: ["180F"]), for: "Test")
        #expect(report.isOn)
        #expect(await radio.advertisement?.localName == "Other")
        #expect(await radio.advertisement?.serviceUUIDs == ["180F"])
        #expect(try await !emulator.advertise(AdvertisingChange(isOn: false), for: "Test").isOn)
        #expect(await radio.advertisement == nil)
        _ = try await emulator.advertise(AdvertisingChange(isOn: true, localName: ""), for: "Test")
        #expect(await radio.advertisement?.localName == nil)
        #expect(await radio.advertisement?.serviceUUIDs == ["180F"])
        // An advertisement that does not fit changes nothing.
        let refused = await refusal { () async throws(ControlRefusal) in
            _ = try await emulator.advertise(
                AdvertisingChange(serviceUUIDs: Array(repeating: "180F", count: 40)), for: "Test")
        }
        guard case .invalid? = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(await radio.advertisement?.serviceUUIDs == ["180F"])
        #expect(
            log.names.filter { $0.rawValue.hasPrefix("advertising") }.prefix(4) == [
                .advertisingStarted, .advertisingChanged, .advertisingStopped, .advertisingStarted,
            ])
        await emulator.stop()
    }

    @Test func `a passkey is typed for the central that is asked`() async throws {
        try await emulator.start()
        let central = "AA:BB:CC:DD:EE:FF"
        #expect(
            await refusal { () async throws(ControlRefusal) in
                try await emulator.enter(passkey: 123_456, for: central, in: "Test")
            } == .conflict("no pairing asks for a passkey"))
        await radio.simulate(.connected(peer))
        async let answer = radio.pair(peer.id, .enter)
        try await until("the number is asked for") { emulator.asksForPasskey }
        #expect(
            await refusal { () async throws(ControlRefusal) in
                try await emulator.enter(passkey: 1_000_000, for: central, in: "Test")
            } == .invalid("a passkey has six digits at most"))
        #expect(
            await refusal { () async throws(ControlRefusal) in
                try await emulator.enter(passkey: 1, for: "11:22", in: "Test")
            } == .conflict("the pairing that asks for a passkey is with \(central), not with 11:22"))
        try await emulator.enter(passkey: 123_456, for: central, in: "Test")
        #expect(try await answer == .passkey(123_456))
        await emulator.stop()
    }

    // MARK: Reset

    @Test func `a reset brings back everything, and the device is on the air then`() async throws {
        try await emulator.start()
        let first = try await read("2A37")
        await radio.simulate(.connected(peer))
        await radio.bond(peer)
        let rate = try await key("2A37")
        await radio.simulate(.subscribed(rate, peer.id, .notification))
        for _ in 0..<3 {
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(1))
            try await clock.waitForSleepers(1)
        }
        #expect(try await write([7], to: "2A39") == .success([]))
        _ = try await emulator.setValue(.bytes([0, 1]), of: try name("2A37"), in: "Test")
        _ = try await emulator.setValue(.bytes([2]), of: try name("2A38"), in: "Test")
        _ = try await emulator.advertise(AdvertisingChange(localName: "Other"), for: "Test")
        let before = log.names.count
        try await emulator.reset()
        #expect(try await read("2A37") == first)
        #expect(try await read("2A39") == .success([0]))
        #expect(await radio.values[try key("2A38")] == [1])
        #expect(await radio.advertisement?.localName == "Test")
        #expect(await radio.bondedAddresses == [])
        #expect(await emulator.snapshot(of: "Test")?.centrals == [])
        #expect(
            log.names.dropFirst(before).filter { $0 != .read } == [
                .advertisingStopped, .centralDisconnected, .advertisingStarted,
            ])
        // Ticks are counted from the reset on.
        let sent = await radio.sent.map(\.value)
        await radio.simulate(.subscribed(rate, peer.id, .notification))
        for _ in 0..<3 {
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(1))
            try await clock.waitForSleepers(1)
        }
        #expect(await radio.sent.map(\.value) == sent + sent)
        await emulator.stop()
    }

    @Test func `a reset of values leaves the link and what is advertised`() async throws {
        try await emulator.start()
        await radio.simulate(.connected(peer))
        let rate = try await key("2A37")
        await radio.simulate(.subscribed(rate, peer.id, .notification))
        try await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(1500))
        try await until("the first tick is sent") { await radio.sent.count == 1 }
        _ = try await emulator.setValue(.bytes([2]), of: try name("2A38"), in: "Test")
        let before = log.names
        try await emulator.reset(.values, of: "Test")
        #expect(log.names == before)
        #expect(await radio.values[try key("2A38")] == [1])
        // The next tick is due a second after the reset, and is the first again.
        try await clock.waitForSleepers(1)
        #expect(clock.pauses == [.seconds(1)])
        clock.advance(by: .seconds(1))
        try await until("the tick after the reset is sent") { await radio.sent.count == 2 }
        let sent = await radio.sent.map(\.value)
        #expect(sent[0] == sent[1])
        await emulator.stop()
    }

    @Test func `a reset does nothing to a device that does not play yet`() async throws {
        await radio.holdStarting()
        async let start: Void = emulator.start()
        try await until("the radio starts") { await radio.heldCount == 1 }
        try await emulator.reset()
        await radio.release()
        try await start
        #expect(await radio.advertisement?.localName == "Test")
        await emulator.stop()
        try await emulator.reset()
    }

    @Test func `a device that is removed while it starts is not on the air`() async throws {
        await radio.holdStarting()
        let start = Task { try await emulator.start() }
        try await until("the radio starts") { await radio.heldCount == 1 }
        await emulator.removeLast("Test")
        await radio.release()
        await #expect(throws: RadioError.self) { try await start.value }
        #expect(await !radio.isRunning)
        #expect(await radio.published.isEmpty)
    }

    @Test func `a reset that is refused changes nothing`() async throws {
        try await emulator.start()
        _ = try await emulator.setValue(.bytes([7]), of: try name("2A39"), in: "Test")
        await radio.simulate(.stateChanged(.resetting))
        #expect(
            await refusal { () async throws(ControlRefusal) in try await emulator.reset() }
                == .conflict("Bluetooth is resetting"))
        #expect(try await emulator.value(of: try name("2A39"), in: "Test") == [7])
        try await emulator.reset(.values)
        #expect(try await emulator.value(of: try name("2A39"), in: "Test") == [0])
        await radio.simulate(.stateChanged(.poweredOn))
        await radio.simulate(.connected(peer))
        await radio.holdLinks()
        async let one = refusal { () async throws(ControlRefusal) in
            try await emulator.reset(.connections)
        }
        async let two = refusal { () async throws(ControlRefusal) in try await emulator.reset() }
        try await clock.waitForSleepers(1)
        await radio.simulate(.disconnected(peer.id))
        #expect(await one == nil)
        #expect(await two == nil)
        #expect(await radio.advertisement != nil)
        await emulator.stop()
    }
}
