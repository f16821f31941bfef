import MynahCore
import MynahFaults
import MynahSupport
import MynahTestSupport
import Testing

/// The layer of faults around a radio, from both of its sides.
@Suite(.timeLimit(.minutes(20))) struct FaultyRadioTests {
    private static let error = ATTError(code: 0x81)

    @Test("faults that are off, or of chance 0, change nothing")
    func nothing() async throws {
        let rig = try await FaultRig { asked, fixed in
            [
                .on(.read, .init(chance: 0), .value([9]), name: "never"),
                .on(.read, delay: .seconds(3), isOff: true, name: "slow"),
                .on(.notify, of: asked, .drop, isOff: true, name: "flaky"),
                .on(.write, .error(Self.error), isOff: true, name: "refusing"),
                .on(.connect, .disconnect(reason: 0x13), isOff: true, name: "gone"),
            ]
        }
        #expect(await rig.fake.values == [rig.fixed: [0x41, 0x42, 0x43]])
        try await rig.subscribeBoth()
        #expect(try await rig.read() == .success([1, 2, 3, 4]))
        #expect(try await rig.write([7]) == .success([]))
        #expect(try await rig.send([5]) == .sent(nil))
        #expect(await rig.sent == ["05 to all"])
        #expect(try await rig.sink.log.take(2) == ["read at 0", "write 07"])
        #expect(rig.clock.sleeperCount == 0)
    }

    @Test("a request meets the faults that are on when it comes")
    func turned() async throws {
        let rig = try await FaultRig { _, _ in [.on(.write, .error(Self.error), isOff: true)] }
        #expect(try await rig.write([1]) == .success([]))
        #expect(try await rig.radio.turn("f", isOn: true) == true)
        #expect(try await rig.write([2]) == .failure(Self.error))
        #expect(try await rig.radio.turn("f", isOn: false) == true)
        #expect(try await rig.write([3]) == .success([]))
        #expect(try await rig.sink.log.take(4) == ["write 01", "applied f", "refused write 81", "write 03"])
    }

    @Test("a fault on read changes the answer, and the sink learns what the central gets")
    func reads() async throws {
        let rows: [(FaultEffect, PendingReply.Outcome, [String])] = [
            (.error(Self.error), .failure(Self.error), ["applied f", "refused read 81"]),
            (.truncate(1), .success([1]), ["applied f", "read at 0"]),
            (
                .corrupt(.init(xor: [0xFF, 0x0F], at: 1)), .success([1, 0xFD, 0x0C, 4]),
                ["applied f", "read at 0"]
            ),
            (.value([9]), .success([9]), ["applied f", "read at 0"]),
        ]
        for (effect, expected, events) in rows {
            for isLater in [false, true] {
                let rig = try await FaultRig { asked, _ in [.on(.read, of: asked, effect)] }
                await rig.happen(.connected(FaultRig.first))
                rig.sink.state.withLock { $0.answersLater = isLater }
                async let answer = rig.read()
                #expect(try await rig.sink.log.take(1 + events.count).dropFirst() == events[...])
                for reply in rig.sink.state.withLock({ $0.later }) { reply.answer(.success([1, 2, 3, 4])) }
                #expect(try await answer == expected, "\(effect)")
            }
        }
    }

    @Test("a delay holds an answer back after the sink has given it")
    func delays() async throws {
        let rig = try await FaultRig { asked, _ in
            [.on(.read, of: asked, delay: .seconds(3)), .on(.write, delay: .seconds(2), name: "w")]
        }
        async let value = rig.read()
        #expect(try await rig.sink.log.take(2) == ["applied f", "read at 0"])
        try await rig.clock.waitForSleepers(1)
        #expect(rig.clock.pauses == [.seconds(3)])
        rig.clock.advance(by: .seconds(3))
        #expect(try await value == .success([1, 2, 3, 4]))

        async let response = rig.write([1])
        #expect(try await rig.sink.log.take(2) == ["applied w", "write 01"])
        try await rig.pass(.seconds(2))
        #expect(try await response == .success([]))
        // One that takes longer than the delay is not held back.
        rig.sink.state.withLock { $0.answersLater = true }
        async let slow = rig.read()
        #expect(try await rig.sink.log.take(2) == ["applied f", "read at 0"])
        try await rig.pass(.seconds(3))
        for reply in rig.sink.state.withLock({ $0.later }) { reply.answer(.success([8])) }
        #expect(try await slow == .success([8]))
    }

    @Test("a value that the radio answers by itself is asked for while a fault may change it")
    func fixedValues() async throws {
        let rig = try await FaultRig { _, fixed in [.on(.read, of: fixed, .value([9]), isOff: true)] }
        #expect(await rig.fake.values[rig.fixed] == [0x41, 0x42, 0x43])
        #expect(try await rig.radio.turn("f", isOn: true) == true)
        #expect(await rig.fake.values[rig.fixed] == nil)
        #expect(try await rig.read(rig.fixed) == .success([9]))
        #expect(try await rig.sink.log.take(2) == ["applied f", "answered 414243 at 0"])
        await rig.radio.setValue([0x5A], of: rig.fixed)
        #expect(await rig.fake.values[rig.fixed] == nil)
        #expect(try await rig.radio.turn("f", isOn: false) == true)
        #expect(await rig.fake.values[rig.fixed] == [0x5A])
        #expect(try await rig.radio.turn("f", isOn: false) == false)
        #expect(try await rig.radio.turn("g", isOn: true) == nil)
        // A service that is published while the fault is on is asked for from the start.
        #expect(try await rig.radio.turn("f", isOn: true) == true)
        await rig.radio.withdraw(rig.id)
        _ = try await rig.radio.publish(rig.services)
        #expect(await rig.fake.values[rig.fixed] == nil)
        await rig.radio.remove("f")
        #expect(await rig.fake.values[rig.fixed] == [0x41, 0x42, 0x43])
    }

    @Test("a long read is one read, and its parts are of one value")
    func longReads() async throws {
        let rig = try await FaultRig { asked, _ in
            [.on(.read, of: asked, .init(nth: .range(2...2)), .corrupt(.init(xor: [0xFF], at: 2)))]
        }
        await rig.happen(.connected(FaultRig.first))
        #expect(try await rig.read() == .success([1, 2, 3, 4]))
        #expect(try await rig.read(at: 2) == .success([3, 4]))
        #expect(try await rig.read() == .success([1, 2, 0xFC, 4]))
        rig.sink.state.withLock { $0.value = [9, 9, 9, 9] }
        #expect(try await rig.read(at: 2) == .success([0xFC, 4]))
        #expect(try await rig.read(at: 4) == .success([]))
        #expect(try await rig.read(at: 5) == .failure(.invalidOffset))
        // Another central reads another value, and a read from 0 begins anew.
        #expect(try await rig.read(at: 2, by: FaultRig.second) == .success([9, 9]))
        #expect(try await rig.read() == .success([9, 9, 9, 9]))
        #expect(await rig.radio.faults.map(\.count) == [4])
    }

    @Test("a fault on write refuses it, loses it or leaves it without an answer")
    func writes() async throws {
        let refusing = try await FaultRig { asked, _ in [.on(.write, of: asked, .error(Self.error))] }
        #expect(try await refusing.write([1]) == .failure(Self.error))
        #expect(try await refusing.sink.log.take(2) == ["applied f", "refused write 81"])

        let dropping = try await FaultRig { _, _ in [.on(.write, .init(times: 1), .drop)] }
        #expect(try await dropping.write([1]) == .success([]))
        #expect(try await dropping.write([2]) == .success([]))
        #expect(try await dropping.sink.log.take(2) == ["applied f", "write 02"])

        let silent = try await FaultRig { _, _ in [.on(.write, .noAnswer)] }
        await silent.happen(.connected(FaultRig.first))
        async let answer = silent.write([1])
        #expect(
            try await silent.sink.log.take(3) == ["connected 1", "applied f", "write 01"])
        // The end of the link is the only answer.
        await silent.happen(.disconnected(FaultRig.first.id))
        #expect(try await answer == .failure(.unlikelyError))
    }

    @Test(
        "a link ends on the third write, with the reason of the fault, and the write is not carried out"
    )
    func disconnects() async throws {
        let rig = try await FaultRig { asked, _ in
            [.on(.write, of: asked, .init(nth: .range(3...3)), .disconnect(reason: 0x15))]
        }
        await rig.happen(.connected(FaultRig.first))
        for value: UInt8 in 1...2 { #expect(try await rig.write([value]) == .success([])) }
        async let third = rig.write([3])
        #expect(
            try await rig.sink.log.take(5)
                == ["connected 1", "write 01", "write 02", "applied f", "disconnected 1"])
        #expect(await rig.fake.reasons == [0x15])
        #expect(try await third == .failure(.unlikelyError))
    }

    @Test("a fault on notify drops, repeats and changes values, and reorders them in pairs")
    func notifications() async throws {
        let rows: [(FaultSelection, FaultEffect, [String])] = [
            (.init(nth: .every(2)), .drop, ["01 to 1", "01 to 2", "03 to 1", "03 to 2"]),
            (.init(nth: .range(2...2), central: .order(1)), .drop, ["01 to 1", "02 to 2", "03 to 1"]),
            (
                .init(nth: .range(1...1), central: .order(2)), .duplicate,
                ["01 to 1", "01 to 2", "01 to 2", "02 to 1", "02 to 2"]
            ),
            (
                .init(nth: .range(1...1)), .reorder,
                ["02 to 1", "01 to 1", "02 to 2", "01 to 2", "03 to 1", "03 to 2"]
            ),
            (
                .init(nth: .range(2...2)), .value([0xAA, 0xBB]),
                ["01 to 1", "01 to 2", "AABB to 1", "AABB to 2"]
            ),
            (.init(nth: .range(1...1)), .truncate(0), [" to 1", " to 2", "02 to 1", "02 to 2"]),
            (
                .init(nth: .range(1...1)), .corrupt(.init(xor: [0x10], at: 0)),
                ["11 to 1", "11 to 2", "02 to 1", "02 to 2"]
            ),
        ]
        for (selection, effect, expected) in rows {
            let rig = try await FaultRig { asked, _ in [.on(.notify, of: asked, selection, effect)] }
            try await rig.subscribeBoth()
            for value: UInt8 in 1...3 { #expect(try await rig.send([value]) == .sent(2)) }
            let sent = await rig.sent
            // Some rows look at the first values only.
            if effect == .drop, selection.central != nil {
                #expect(sent.filter { $0 != "01 to 2" && $0 != "03 to 2" } == expected)
            } else {
                #expect(Array(sent.prefix(expected.count)) == expected, "\(effect)")
            }
        }
    }

    @Test("a value that is kept for the next one is sent without it when the time is over")
    func reorderingEnds() async throws {
        let rig = try await FaultRig { asked, _ in [.on(.notify, of: asked, .init(times: 1), .reorder)]
        }
        await rig.happen(.connected(FaultRig.first))
        await rig.happen(.subscribed(rig.asked, FaultRig.first.id, .notification))
        #expect(try await rig.send([1]) == .sent(1))
        #expect(await rig.sent == [])
        try await rig.pass(.milliseconds(1250))
        try await until("the radio has it") { await rig.sent == ["01 to 1"] }
    }

    @Test("a delay of a value holds up its own central, and no other")
    func delayedValues() async throws {
        let rig = try await FaultRig { asked, _ in
            [
                .on(
                    .notify, of: asked, .init(nth: .range(1...1), central: .order(1)), delay: .seconds(2))
            ]
        }
        try await rig.subscribeBoth()
        for value: UInt8 in 1...2 { #expect(try await rig.send([value]) == .sent(2)) }
        #expect(await rig.sent == ["01 to 2", "02 to 2"])
        try await rig.pass(.seconds(2))
        try await until("the radio has it") {
            await rig.sent == ["01 to 2", "02 to 2", "01 to 1", "02 to 1"]
        }
        // Nothing waits any more: the radio is given values as they come.
        #expect(try await rig.radio.turn("f", isOn: false) == true)
        #expect(try await rig.send([3]) == .sent(nil))
    }

    @Test("a value that waited and cannot be sent is no error of the value after it")
    func failedBefore() async throws {
        let rig = try await FaultRig { asked, _ in
            [.on(.notify, of: asked, .init(nth: .range(1...1)), delay: .seconds(2))]
        }
        await rig.happen(.connected(FaultRig.first))
        await rig.happen(.subscribed(rig.asked, FaultRig.first.id, .notification))
        #expect(try await rig.send([1]) == .sent(1))
        await rig.fake.fail(.send, RadioError(.valueTooLong, "not today"))
        try await rig.pass(.seconds(2))
        // It comes before the timer of the first value, or after it.
        _ = try await rig.send([2])
        try await until("the radio has the second value") { await rig.sent == ["02 to 1"] }
        var log: [String] = []
        while log.last?.contains("a value that was held up cannot be sent") != true {
            log += try await rig.sink.log.take()
        }
    }

    @Test("values that find no room wait in the layer, and too many of them are refused")
    func noRoom() async throws {
        let rig = try await FaultRig { asked, _ in [.on(.notify, of: asked, .duplicate)] }
        await rig.happen(.connected(FaultRig.first))
        await rig.happen(.subscribed(rig.asked, FaultRig.first.id, .notification))
        await rig.fake.setRoom(1)
        var taken = 0
        while try await rig.send([1]) != .full {
            taken += 1
            try #require(taken < 1000)
        }
        #expect(taken == 129)
        #expect(await rig.fake.sent.count == 1)
        await rig.fake.setRoom(nil)
        await rig.happen(.readyToSend)
        #expect(await rig.fake.sent.count == 2 * taken)
        var log: [String] = []
        while log.last != "readyToSend" { log += try await rig.sink.log.take() }
    }

    @Test("a subscriber that the radio does not name gets what all get")
    func unnamedSubscribers() async throws {
        let rig = try await FaultRig { asked, _ in
            [.on(.notify, of: asked, .init(nth: .every(2)), .drop)]
        }
        #expect(try await rig.send([1]) == .sent(nil))
        await rig.happen(.subscribed(rig.asked, nil, nil))
        for value: UInt8 in 2...4 { #expect(try await rig.send([value]) == .sent(nil)) }
        #expect(await rig.sent == ["01 to all", "02 to all", "04 to all"])
    }

    @Test("a bond is lost when its central connects")
    func lostBonds() async throws {
        let rig = try await FaultRig { _, _ in
            [.on(.connect, .init(central: .order(2)), .loseBond(.reject))]
        }
        await rig.fake.bond(FaultRig.first)
        await rig.fake.bond(FaultRig.second)
        await rig.happen(.connected(FaultRig.first))
        await rig.happen(.connected(FaultRig.second))
        let first = try #require(FaultRig.first.address)
        try await until("the radio has it") { await rig.fake.bondedAddresses == [first] }
        await #expect(throws: RadioError.self) {
            try await rig.radio.add(.on(.connect, .loseBond(.disconnect), name: "g"))
        }
    }

    @Test("the advertisement changes after a time, for a time")
    func changedAdvertising() async throws {
        let change = AdvertisementChange(localName: "DFU")
        let rig = try await FaultRig { _, _ in
            [
                Fault(
                    name: "f", trigger: .after(.seconds(20)),
                    effect: .advertise(change, for: .seconds(10)))
            ]
        }
        _ = try await rig.radio.advertise(Advertisement(localName: "Meter"))
        try await rig.pass(.seconds(20))
        #expect(try await rig.sink.log.take(2).first == "applied f")
        #expect(await rig.fake.advertisement?.localName == "DFU")
        try await rig.pass(.seconds(10))
        _ = try await rig.sink.log.take()
        #expect(await rig.fake.advertisement?.localName == "Meter")
        // Off while it lasts ends it at once.
        let fault = try #require(await rig.radio.faults.first?.fault)
        try await rig.radio.add(fault)
        try await rig.pass(.seconds(20))
        _ = try await rig.sink.log.take(2)
        #expect(await rig.fake.advertisement?.localName == "DFU")
        #expect(try await rig.radio.turn("f", isOn: false) == true)
        _ = try await rig.sink.log.take()
        #expect(await rig.fake.advertisement?.localName == "Meter")
    }

    @Test("a device that refuses connections advertises that it is not connectable")
    func refusedConnections() async throws {
        let rig = try await FaultRig { _, _ in [.on(.connect, .refuseConnection, isOff: true)] }
        _ = try await rig.radio.advertise(Advertisement(localName: "Meter"))
        #expect(await rig.fake.advertisement?.isConnectable == true)
        #expect(try await rig.radio.turn("f", isOn: true) == true)
        #expect(try await rig.sink.log.take(2).first == "applied f")
        #expect(await rig.fake.advertisement?.isConnectable == false)
        #expect(try await rig.radio.turn("f", isOn: false) == true)
        _ = try await rig.sink.log.take()
        #expect(await rig.fake.advertisement?.isConnectable == true)
    }

    @Test("refused connections are counted, and one that is chosen ends at once")
    func countedRefusals() async throws {
        let rig = try await FaultRig { _, _ in
            [.on(.connect, .init(nth: .range(2...2)), .refuseConnection)]
        }
        _ = try await rig.radio.advertise(Advertisement(localName: "Meter"))
        #expect(await rig.fake.advertisement?.isConnectable == true)
        await rig.happen(.connected(FaultRig.first))
        await rig.happen(.connected(FaultRig.second))
        let log = try await rig.sink.log.take(4)
        #expect(log == ["connected 1", "connected 2", "applied f", "disconnected 2"])
        #expect(await rig.radio.faults.map(\.timesApplied) == [1])
        // One that is for all is an advertisement, which counts too.
        try await rig.radio.add(.on(.connect, .refuseConnection))
        #expect(try await rig.sink.log.take(2).first == "applied f")
        #expect(await rig.fake.advertisement?.isConnectable == false)
        #expect(await rig.radio.faults.map(\.timesApplied) == [1])
    }

    @Test("delays add up to the longest one that the radio can hold up an answer for")
    func longestDelay() async throws {
        var radio = RadioCapabilities(name: "fake")
        radio.answerDeadline = .seconds(5)
        let rig = try await FaultRig(capabilities: radio) { asked, _ in
            [.on(.read, delay: .seconds(3)), .on(.read, of: asked, delay: .seconds(4), name: "g")]
        }
        async let value = rig.read()
        try await rig.clock.waitForSleepers(1)
        #expect(rig.clock.pauses == [.milliseconds(4500)])
        rig.clock.advance(by: .milliseconds(4500))
        #expect(try await value == .success([1, 2, 3, 4]))
    }

    @Test("a service that is gone is withdrawn with its subscriptions, and comes back as it was")
    func changedServices() async throws {
        let rig = try await FaultRig { _, _ in [] }
        try await rig.subscribeBoth()
        let fault = Fault.on(.write, of: rig.asked, .changeServices(removing: rig.services[1].key))
        try await rig.radio.add(fault)
        #expect(try await rig.write([1]) == .success([]))
        #expect(
            try await rig.sink.log.take(4) == [
                "applied f", "write 01", "unsubscribed 1", "unsubscribed 2",
            ])
        try await until("the radio has it") { await rig.fake.published.map(\.services.count) == [1] }
        #expect(await rig.fake.published[0].services[0].key == rig.services[0].key)
        await rig.radio.setValue([0x5A], of: rig.fixed)
        await rig.radio.remove("f")
        try await until("the radio has it") { await rig.fake.published.map(\.services.count) == [2] }
        try await until("the radio has it") { await rig.fake.values[rig.fixed] == [0x5A] }
        // One characteristic of two services.
        try await rig.radio.add(
            .on(.read, of: rig.asked, .changeServices(removing: rig.asked)))
        _ = try await rig.read()
        try await until("the radio has it") {
            await rig.fake.published.map { $0.services.map(\.characteristics.count) } == [[0, 1]]
        }
        await rig.radio.withdraw(rig.id)
        #expect(await rig.fake.published.isEmpty)
    }

    @Test("a radio does not start with a fault that it cannot carry out, and takes none later")
    func unsupported() async throws {
        let bad = Fault.on(.read, .error(ATTError(code: 0)))
        await #expect(throws: RadioError(.unsupported, "fault f: 0x00 is not an error")) {
            _ = try await FaultRig { _, _ in [bad] }
        }
        let rig = try await FaultRig { _, _ in [.on(.mtu, .mtu(40), isOff: true)] }
        await #expect(throws: RadioError(.unsupported, "fault f: fake cannot carry out mtu")) {
            try await rig.radio.turn("f", isOn: true)
        }
        #expect(await rig.radio.faults.map(\.isOn) == [false])
    }

    @Test("a fault whose condition does not hold applies to nothing")
    func conditions() async throws {
        let rig = try await FaultRig(holds: false) { asked, _ in
            [.on(.read, of: asked, .init(when: .appState("foreground")), .value([9]))]
        }
        #expect(try await rig.read() == .success([1, 2, 3, 4]))
        #expect(await rig.radio.faults.map(\.timesApplied) == [0])
    }

    @Test(
        "a subscriber that the radio does not name ends the links, and loses the bonds, that are there")
    func unnamedEffects() async throws {
        let rig = try await FaultRig { asked, _ in [.on(.subscribe, of: asked, .loseBond(.reject))] }
        await rig.fake.bond(FaultRig.first)
        await rig.fake.bond(FaultRig.second)
        await rig.happen(.connected(FaultRig.first))
        await rig.happen(.subscribed(rig.asked, nil, nil))
        let second = try #require(FaultRig.second.address)
        try await until("the radio has it") { await rig.fake.bondedAddresses == [second] }
    }

    @Test("a value that cannot be sent is the sender's error, unless a fault made it")
    func sendingErrors() async throws {
        let rig = try await FaultRig { asked, _ in
            [.on(.notify, of: asked, .init(nth: .range(2...2)), .value([9]))]
        }
        try await rig.subscribeBoth()
        let error = RadioError(.valueTooLong, "too long")
        await rig.fake.fail(.send, error)
        await #expect(throws: error) { try await rig.send([1]) }
        await rig.fake.fail(.send, error)
        #expect(try await rig.send([2]) == .sent(2))
        let log = try await rig.sink.log.take(2)
        #expect(log == ["applied f", "warning a value that a fault has changed cannot be sent: too long"])
    }

    @Test("a fault that is turned on before the start is on, and its time counts from the start")
    func faultsBeforeTheStart() async throws {
        let (fake, clock) = (FakeRadio(), ManualClock())
        let fault = Fault(
            name: "f", trigger: .after(.seconds(5)), effect: .disconnect(reason: 0x13), isOff: true)
        let radio = FaultyRadio(fake, faults: [fault], seed: 1, clock: clock)
        #expect(try await radio.turn("f", isOn: true) == true)
        clock.advance(by: .seconds(60))
        _ = try await radio.start(DeviceIdentity(name: "d"), sink: FaultRig.Sink())
        try await clock.waitForSleepers(1)
        #expect(clock.pauses == [.seconds(5)])
        await radio.stop()
    }

    @Test("services are not published if a fault of theirs cannot be carried out")
    func unsupportedServices() async throws {
        var radio = RadioCapabilities(name: "fake")
        radio.writes.areRefusedBesideCommands = false
        let rig = try await FaultRig(capabilities: radio) { _, _ in [] }
        let control = CharacteristicDefinition(
            uuid: BluetoothUUID(0x2A39 as UInt16), properties: [.write, .writeWithoutResponse])
        try await rig.radio.add(.on(.write, of: control.key, .error(Self.error)))
        let message = "fault f: fake cannot refuse a write of a characteristic that has writeWithoutResponse"
        await #expect(throws: RadioError(.unsupported, message)) {
            try await rig.radio.publish([
                ServiceDefinition(uuid: BluetoothUUID(0x180D as UInt16), characteristics: [control])
            ])
        }
        #expect(await rig.fake.published.count == 1)
    }
}
