import MynahCore
import MynahFaults
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// Faults as a central meets them on our own host: the PDUs, the errors, the reasons and the silence.
@Suite(.timeLimit(.minutes(15))) struct FaultsOnHostTests {
    /// A host on a scripted controller, with a layer of faults around it, and a central that is connected.
    struct Rig {
        let host: HostRig
        let layer: FaultyRadio
        let applied = Lock<[String]>([])
        var sink: HostSink { host.sink }
        var clock: ManualClock { host.clock }

        init(_ faults: [Fault], connects: Bool = true) async throws {
            host = try await HostRig(starts: false)
            let applied = applied
            layer = FaultyRadio(
                host.radio, faults: faults, seed: 1, clock: host.clock,
                owner: .init(applied: { firing in applied.withLock { $0.append(firing.fault) } }))
            _ = try await layer.start(DeviceIdentity(name: "Mynah"), sink: host.sink)
            let published = try await layer.publish([
                ServiceDefinition(
                    uuid: "180D", characteristics: [host.rate, host.control, host.fixed])
            ])
            #expect(published.handles[host.rate.key] == 18)
            if connects { host.controller.connect() }
        }

        /// The host's answer to a PDU of the central.
        func answer(to hex: String) async throws -> String {
            try await host.exchange(hex).joined(separator: " ")
        }

        /// Checks that the host has not answered what was sent before.
        ///
        /// The host answers in order, so a notification that is sent now would come after an answer.
        func expectSilence(after count: Int) async throws {
            _ = try await layer.send([0x77], of: host.rate.key, as: .asSubscribed, to: nil)
            try await host.controller.wait("the host has sent a value") { $0.sent().count > count }
            #expect(host.controller.state.withLock { Array($0.sent().dropFirst(count)) } == ["4:1B120077"])
        }

        var sentCount: Int { host.controller.state.withLock { $0.sent().count } }

        /// Moves the time on by a delay of a fault, after somebody waits for it.
        func pass(_ time: Duration) async throws {
            try await until("a fault waits for \(time)") { clock.pauses.contains(time) }
            clock.advance(by: time)
        }
    }

    private static func fault(
        _ operation: FaultTrigger.Operation, _ selection: FaultSelection = FaultSelection(),
        delay: Duration = .zero, _ effect: FaultEffect? = nil, isOff: Bool = false
    ) -> Fault {
        Fault(
            name: "f", trigger: .on(operation), selection: selection, delay: delay, effect: effect,
            isOff: isOff)
    }

    private static func fault(
        _ operation: FaultTrigger.Operation, _ effect: FaultEffect, isOff: Bool = false
    ) -> Fault {
        fault(operation, FaultSelection(), effect, isOff: isOff)
    }

    private static let error = ATTError(code: 0x81)

    @Test(arguments: [
        (FaultTrigger.Operation.read, FaultEffect.error(error), "0A 1200", "4:010A120081", "4:0B63"),
        (.read, .error(error), "0A 1700", "4:010A170081", "4:0B01"),
        (.read, .corrupt(.init(xor: [0xFF], at: 0)), "0A 1700", "4:0BFE", "4:0B01"),
        (.read, .value([0xAA, 0xBB]), "0A 1200", "4:0BAABB", "4:0B63"),
        (.read, .truncate(0), "0A 1200", "4:0B", "4:0B63"),
        (.write, .error(error), "12 1500 01", "4:0112150081", "4:13"),
        (.write, .drop, "12 1500 01", "4:13", "4:13"),
        (.subscribe, .error(.cccdImproperlyConfigured), "12 1300 0100", "4:01121300FD", "4:13"),
        (.subscribe, .refuseSubscription, "12 1300 0100", "4:0112130003", "4:13"),
        (.mtu, .mtu(40), "02 F700", "4:032800", "4:030502"),
        (.mtu, .error(.requestNotSupported), "02 F700", "4:0102000006", "4:030502"),
        (.discover, .error(error), "10 1000 FFFF 0028", "4:0110100081", "4:1106100017000D18"),
        (.discover, .error(error), "08 1000 1200 0328", "4:0108100081", "4:0907110012 1200372A"),
        (.discover, .error(error), "04 1300 1300", "4:0104130081", "4:0501 13000229"),
    ])
    func `a fault changes the answer once, and then it is as usual`(
        operation: FaultTrigger.Operation, effect: FaultEffect, request: String, faulty: String,
        usual: String
    ) async throws {
        let rig = try await Rig([Self.fault(operation, .init(nth: .range(1...1)), effect)])
        #expect(try await rig.answer(to: request) == faulty)
        #expect(rig.applied.withLock { $0 } == ["f"])
        let again = try await rig.answer(to: request)
        let expected = usual.filter { $0 != " " }
        // The properties of a declaration are not what is tested here.
        if request.hasPrefix("08") {
            #expect(again.hasPrefix("4:09071100"))
        } else {
            #expect(again == expected)
        }
        await rig.layer.stop()
    }

    @Test func `a fault answers before the protection of a link does`() async throws {
        let rig = try await Rig([
            Self.fault(.read, .init(nth: .range(1...1)), .error(Self.error)),
            Fault(
                name: "g", trigger: .on(.write), selection: .init(nth: .range(1...1)),
                effect: .error(Self.error)),
        ])
        let closed = CharacteristicDefinition(
            uuid: "2A39", properties: [.read, .write],
            permissions: AttributePermissions(read: .encrypted, write: .encrypted))
        let handles = try await rig.layer.publish([
            ServiceDefinition(uuid: "180A", characteristics: [closed])
        ]).handles
        #expect(handles[closed.key] == 26)
        #expect(try await rig.answer(to: "0A 1A00") == "4:010A1A0081")
        #expect(try await rig.answer(to: "12 1A00 01") == "4:01121A0081")
        #expect(rig.applied.withLock { $0 } == ["f", "g"])
        // Insufficient Authentication or Insufficient Encryption.
        #expect(["4:010A1A0005", "4:010A1A000F"].contains(try await rig.answer(to: "0A 1A00")))
        #expect(["4:01121A0005", "4:01121A000F"].contains(try await rig.answer(to: "12 1A00 01")))
        await rig.layer.stop()
    }

    @Test func `a fault on a value counts no request that the link's protection denies`() async throws {
        let rig = try await Rig([
            Self.fault(.read, .init(times: 1), .truncate(0)),
            Fault(name: "g", trigger: .on(.write), selection: .init(times: 1), effect: .drop),
        ])
        let closed = CharacteristicDefinition(
            uuid: "2A39", properties: [.read, .write],
            permissions: AttributePermissions(read: .encrypted, write: .encrypted))
        _ = try await rig.layer.publish([ServiceDefinition(uuid: "180A", characteristics: [closed])])
        #expect(["4:010A1A0005", "4:010A1A000F"].contains(try await rig.answer(to: "0A 1A00")))
        #expect(["4:01121A0005", "4:01121A000F"].contains(try await rig.answer(to: "12 1A00 01")))
        #expect(rig.applied.withLock { $0 } == [])
        #expect(try await rig.answer(to: "0A 1700") == "4:0B")
        #expect(rig.applied.withLock { $0 } == ["f"])
        await rig.layer.stop()
    }

    @Test func `a subscription by prepared writes is refused as any other`() async throws {
        let rig = try await Rig([Self.fault(.subscribe, .init(nth: .range(1...1)), .refuseSubscription)])
        #expect(try await rig.answer(to: "16 1300 0000 0100") == "4:17130000000100")
        #expect(try await rig.answer(to: "18 01") == "4:0118130003")
        #expect(rig.applied.withLock { $0 } == ["f"])
        // The queue is empty.
        #expect(try await rig.answer(to: "18 01") == "4:19")
        #expect(!rig.sink.words.contains { $0.hasPrefix("subscribed") })
        #expect(try await rig.answer(to: "16 1300 0000 0100") == "4:17130000000100")
        #expect(try await rig.answer(to: "18 01") == "4:19")
        #expect(rig.sink.words.contains { $0.hasPrefix("subscribed") })
        await rig.layer.stop()
    }

    @Test func `a write that is lost is answered and does not reach the device`() async throws {
        let rig = try await Rig([Self.fault(.write, .init(times: 1), .drop)])
        #expect(try await rig.answer(to: "12 1500 01") == "4:13")
        #expect(try await rig.answer(to: "12 1500 02") == "4:13")
        #expect(rig.sink.words.filter { $0.hasPrefix("write") } == ["write 02 true"])
        await rig.layer.stop()
    }

    @Test func `a value that the host answers by itself is answered again by it when the fault is off`()
        async throws
    {
        let rig = try await Rig([Self.fault(.read, .value([9]))])
        #expect(try await rig.answer(to: "0A 1700") == "4:0B09")
        #expect(try await rig.layer.turn("f", isOn: false) == true)
        #expect(try await rig.answer(to: "0A 1700") == "4:0B01")
        #expect(rig.sink.words.suffix(2) == ["answered 01", "answered 01"])
        #expect(rig.applied.withLock { $0 } == ["f"])
        await rig.layer.stop()
    }

    @Test(arguments: [
        (FaultTrigger.Operation.read, "0A 1200"), (.read, "0A 1700"), (.write, "12 1500 01"),
        (.subscribe, "12 1300 0200"), (.discover, "10 0100 FFFF 0028"), (.mtu, "02 F700"),
    ])
    func `a request without an answer blocks the bearer until the link ends, and values go on`(
        operation: FaultTrigger.Operation, request: String
    ) async throws {
        let rig = try await Rig([Self.fault(operation, .noAnswer, isOff: true)])
        #expect(try await rig.answer(to: "12 1300 0100") == "4:13")
        #expect(try await rig.layer.turn("f", isOn: true) == true)
        let count = rig.sentCount
        rig.host.controller.receive(try #require(Hex.decode(request)))
        rig.host.controller.receive(try #require(Hex.decode("0A 0300")))
        try await until("the fault has applied") { rig.applied.withLock { !$0.isEmpty } }
        try await rig.expectSilence(after: count)
        #expect(rig.applied.withLock { $0 } == ["f"])
        // The next link is as usual.
        rig.host.controller.disconnect()
        try await rig.host.wait(for: "disconnected")
        #expect(try await rig.layer.turn("f", isOn: false) == true)
        rig.host.controller.connect(0x40)
        #expect(try await rig.answer(to: "02 F700") == "4:030502")
        await rig.layer.stop()
    }

    @Test(arguments: [
        (FaultTrigger.Operation.read, "0A 1200", "4:0B63"), (.read, "0A 1700", "4:0B01"),
        (.write, "12 1500 01", "4:13"), (.subscribe, "12 1300 0100", "4:13"),
        (.mtu, "02 F700", "4:030502"), (.discover, "10 1000 FFFF 0028", "4:1106100017000D18"),
    ])
    func `an answer comes after the delay of a fault, and not before`(
        operation: FaultTrigger.Operation, request: String, usual: String
    ) async throws {
        let rig = try await Rig([Self.fault(operation, delay: .seconds(29))])
        let before = rig.sentCount
        rig.host.controller.receive(try #require(Hex.decode(request)))
        try await until("the fault waits") { rig.clock.pauses.contains(.seconds(29)) }
        #expect(rig.sentCount == before)
        rig.clock.advance(by: .seconds(29))
        try await rig.host.controller.wait("the host has answered") { $0.sent().count > before }
        #expect(rig.host.controller.state.withLock { $0.sent().last } == usual)
        await rig.layer.stop()
    }

    @Test(arguments: [0x05, 0x13, 0x14, 0x15, 0x1A, 0x29, 0x3B] as [UInt8])
    func `a link ends on the third write with the reason of the fault`(reason: UInt8) async throws {
        let rig = try await Rig([
            Self.fault(.write, .init(nth: .range(3...3)), .disconnect(reason: reason))
        ])
        for _ in 1...2 { #expect(try await rig.answer(to: "12 1500 01") == "4:13") }
        let before = rig.sentCount
        rig.host.controller.receive(try #require(Hex.decode("12 1500 01")))
        try await rig.host.wait(for: "disconnected")
        #expect(
            rig.host.controller.state.withLock { $0.parameters(of: .disconnect) } == [[0x40, 0x00, reason]])
        #expect(rig.sentCount == before)
        #expect(rig.sink.words.count { $0.hasPrefix("write") } == 2)
        await rig.layer.stop()
    }

    @Test func `values are dropped, repeated and reordered on the air`() async throws {
        let rows: [(FaultSelection, FaultEffect, [String])] = [
            (.init(nth: .every(2)), .drop, ["4:1B120001", "4:1B120003"]),
            (
                .init(nth: .range(2...2)), .duplicate,
                ["4:1B120001", "4:1B120002", "4:1B120002", "4:1B120003"]
            ),
            (.init(nth: .range(1...1)), .reorder, ["4:1B120002", "4:1B120001", "4:1B120003"]),
            (
                .init(nth: .range(2...2)), .corrupt(.init(xor: [0xFF], at: 0)),
                ["4:1B120001", "4:1B1200FD", "4:1B120003"]
            ),
        ]
        for (selection, effect, expected) in rows {
            let rig = try await Rig([Self.fault(.notify, selection, effect)])
            #expect(try await rig.answer(to: "12 1300 0100") == "4:13")
            for value: UInt8 in 1...3 {
                _ = try await rig.layer.send([value], of: rig.host.rate.key, as: .asSubscribed, to: nil)
            }
            try await rig.host.controller.wait("the values are sent") {
                $0.sent().count > expected.count
            }
            #expect(rig.host.controller.state.withLock { Array($0.sent().dropFirst()) } == expected)
            await rig.layer.stop()
        }
    }

    @Test func `a device that vanishes leaves its links without a word, and advertises again`() async throws {
        let rig = try await Rig([Self.fault(.write, .vanish(for: .seconds(10)))], connects: false)
        let before = rig.sink.words.count
        _ = try await rig.layer.advertise(Advertisement(localName: "Mynah"))
        #expect(rig.host.controller.state.withLock { $0.isAdvertising })
        rig.host.controller.connect()
        rig.host.controller.state.withLock { $0.commands = [] }
        rig.host.controller.receive(try #require(Hex.decode("12 1500 01")))
        try await rig.host.wait(for: "disconnected")
        try await rig.host.controller.wait("the controller is reset") {
            $0.commands.last?.opcode == .reset
        }
        #expect(rig.host.controller.state.withLock { $0.parameters(of: .disconnect) } == [])
        rig.host.controller.state.withLock { $0.isAdvertising = false }
        try await rig.pass(.seconds(10))
        try await until("it advertises again") { rig.host.controller.state.withLock { $0.isAdvertising } }
        #expect(!rig.sink.words.dropFirst(before).contains { $0.hasPrefix("state") })
        rig.host.controller.connect()
        #expect(try await rig.answer(to: "0A 1200") == "4:0B63")
        await rig.layer.stop()
    }

    @Test func `Bluetooth that is turned off while the device is gone is off when it is back`() async throws {
        let rig = try await Rig([Self.fault(.write, .vanish(for: nil))])
        rig.host.controller.receive(try #require(Hex.decode("12 1500 01")))
        try await rig.host.wait(for: "disconnected")
        await rig.layer.settle()
        let before = rig.sink.words.count
        try await rig.layer.setPower(false)
        #expect(rig.sink.words.dropFirst(before) == ["state poweredOff"])
        #expect(try await rig.layer.turn("f", isOn: false) == true)
        await rig.layer.settle()
        #expect(rig.sink.words.dropFirst(before) == ["state poweredOff"])
        try await rig.layer.setPower(true)
        #expect(rig.sink.words.dropFirst(before) == ["state poweredOff", "state poweredOn"])
        rig.host.controller.connect()
        #expect(try await rig.answer(to: "0A 1200") == "4:0B63")
        await rig.layer.stop()
    }

    @Test func `a device that refuses connections sends advertising PDUs that are not connectable`()
        async throws
    {
        let rig = try await Rig([Self.fault(.connect, .refuseConnection, isOff: true)], connects: false)
        _ = try await rig.layer.advertise(Advertisement(localName: "Mynah"))
        #expect(try await rig.layer.turn("f", isOn: true) == true)
        func kinds() -> [UInt8] {
            rig.host.controller.state.withLock { $0.parameters(of: .leSetAdvertisingParameters) }
                .compactMap { $0.count > 4 ? $0[4] : nil }
        }
        // ADV_IND, then ADV_SCAN_IND or ADV_NONCONN_IND (Core Specification, Vol 4, Part E, 7.8.5).
        try await until("the advertising type has changed") { kinds().last.map { $0 != 0 } ?? false }
        #expect(kinds().first == 0)
        #expect(try await rig.layer.turn("f", isOn: false) == true)
        try await until("it is connectable again") { kinds().last == 0 }
        await rig.layer.stop()
    }

    @Test func `a characteristic that is gone is not found, and Service Changed says so`() async throws {
        let host = try await Rig([])
        let fault = Fault(
            name: "gone", trigger: .on(.write),
            effect: .changeServices(removing: host.host.rate.key))
        try await host.layer.add(fault)
        // The central subscribes to Service Changed.
        #expect(try await host.answer(to: "12 0900 0200") == "4:13")
        let before = host.sentCount
        host.host.controller.receive(try #require(Hex.decode("12 1500 01")))
        try await host.host.controller.wait("Service Changed is indicated") {
            $0.sent().dropFirst(before).contains { $0.hasPrefix("4:1D0800") }
        }
        host.host.controller.receive([0x1E])
        host.host.controller.receive(try #require(Hex.decode("0A 1200")))
        // Another Service Changed may come between: the services were withdrawn and published anew.
        try await host.host.controller.wait("the characteristic is not found") {
            $0.sent().dropFirst(before).contains { $0.hasPrefix("4:010A1200") }
        }
        await host.layer.stop()
    }

    // MARK: Lost bonds

    @Test(arguments: FaultEffect.LostBond.allCases)
    func `a lost bond is met at the next encryption, and a new pairing is accepted`(
        way: FaultEffect.LostBond
    ) async throws {
        let fault = Fault(name: "wiped", trigger: .on(.connect), effect: .loseBond(way), isOff: true)
        let rig = try await SecureRig(faults: [fault])
        let layer = try #require(rig.layer)
        let first = try await rig.connect()
        try await rig.phone.pair(first)
        try await rig.deviceSink.wait(for: "paired")
        try await rig.disconnect(first)
        #expect(await rig.device.bonds.bonds.count == 1)
        #expect(try await layer.turn("wiped", isOn: true) == true)

        let second = try await rig.connect()
        try await rig.deviceSink.wait(for: "connected", times: 2)
        #expect(await rig.device.bonds.bonds.isEmpty)
        let error = await #expect(throws: RadioError.self) { try await rig.phone.pair(second) }
        switch way {
        case .reject:
            // PIN or Key Missing.
            #expect(error?.message == "\(rig.address) no longer has the bond")
            try await rig.disconnect(second)
        case .disconnect: try await rig.phoneSink.wait(for: "reason 05")
        }
        try await rig.deviceSink.wait(for: "disconnected", times: 2)

        #expect(try await layer.turn("wiped", isOn: false) == true)
        await rig.phone.forgetBond(with: rig.address)
        let third = try await rig.connect()
        try await rig.phone.pair(third)
        #expect(try await rig.refusal(of: rig.encrypted, third) == nil)
        try await rig.disconnect(third)
        // The new bond is good.
        let fourth = try await rig.connect()
        try await rig.phone.pair(fourth)
        #expect(try await rig.refusal(of: rig.encrypted, fourth) == nil)
        await rig.stop()
    }

    @Test func `a bond that is lost while the central is connected ends its subscriptions`() async throws {
        let fault = Fault(name: "wiped", trigger: .on(.write), effect: .loseBond(.reject))
        let rig = try await SecureRig(faults: [fault])
        let peer = try await rig.connect()
        try await rig.phone.pair(peer)
        let rate = try await rig.handle(of: rig.rate)
        try await rig.phone.write([1, 0], to: rate + 1, of: peer)
        try await rig.deviceSink.wait(for: "subscribed notification")
        try await rig.phone.write([1], to: rig.handle(of: rig.encrypted), of: peer)
        try await rig.deviceSink.wait(for: "unsubscribed")
        #expect(await rig.device.bonds.bonds.isEmpty)
        await rig.stop()
    }
}
