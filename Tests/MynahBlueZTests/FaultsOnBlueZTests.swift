import MynahBlueZ
import MynahBlueZStandIn
import MynahCore
import MynahFaults
import MynahSupport
import MynahTestSupport
import Testing

/// Faults as a central meets them through bluetoothd.
@Suite(.timeLimit(.minutes(15))) struct FaultsOnBlueZTests {
    /// A radio with a layer of faults, and a central that is connected.
    private struct Faulty {
        let rig: Rig
        let layer: FaultyRadio
        let definitions = Definitions()
        let clock = ManualClock()

        init(_ faults: (Definitions) -> [Fault]) async throws {
            rig = try await Rig(identity: nil)
            rig.sink.answer { event in
                switch event {
                case .read: .answer(.success([1, 2, 3, 4]))
                case .write: .answer(.success([]))
                default: .none
                }
            }
            layer = FaultyRadio(rig.radio, faults: faults(definitions), seed: 1, clock: clock)
            _ = try await layer.start(DeviceIdentity(name: "Mynah"), sink: rig.sink)
            _ = try await layer.publish([definitions.service])
            _ = try await layer.advertise(.named("Mynah"))
        }

        func connect() async throws -> VirtualCentral {
            let phone = await rig.standIn.central()
            try await phone.connect()
            try await rig.sink.wait(for: "connected")
            return phone
        }

        func violations() async -> [String] {
            await layer.stop()
            return await rig.violations()
        }
    }

    private static func fault(
        _ operation: FaultTrigger.Operation, of key: AttributeKey? = nil, _ effect: FaultEffect? = nil,
        nth: FaultSelection.Ordinals = .all, delay: Duration = .zero, isOff: Bool = false
    ) -> Fault {
        Fault(
            name: "f", trigger: .on(operation), of: key, selection: FaultSelection(nth: nth), delay: delay,
            effect: effect, isOff: isOff)
    }

    @Test func `a read is refused once, and a value is changed that the radio answers by itself`()
        async throws
    {
        let faulty = try await Faulty { definitions in
            [
                Self.fault(
                    .read, of: definitions.rate.key, .error(ATTError(code: 0x81)), nth: .range(1...1)),
                Fault(
                    name: "g", trigger: .on(.read), of: definitions.location.key,
                    effect: .corrupt(.init(xor: [0xFF], at: 30))),
            ]
        }
        let phone = try await faulty.connect()
        #expect(await attError { () async throws(ATTFailure) in _ = try await phone.read("2a37") } == 0x81)
        #expect(try await phone.read("2a37") == [1, 2, 3, 4])
        var expected = Array(0..<40) as [UInt8]
        expected[30] ^= 0xFF
        #expect(try await phone.readLong("2a38") == expected)
        #expect(try await faulty.layer.turn("g", isOn: false) == true)
        #expect(try await phone.readLong("2a38") == Array(0..<40))
        #expect(await faulty.violations() == [])
    }

    @Test func `an answer comes after its delay, and values are dropped`() async throws {
        let faulty = try await Faulty { definitions in
            [
                Self.fault(.write, of: definitions.control.key, delay: .milliseconds(4500)),
                Fault(
                    name: "g", trigger: .on(.notify), selection: FaultSelection(nth: .every(2)),
                    effect: .drop),
            ]
        }
        let phone = try await faulty.connect()
        let write = Task { try await phone.write("2a39", [1]) }
        try await faulty.rig.sink.wait(for: "write")
        try await faulty.clock.waitForSleepers(1)
        #expect(faulty.clock.pauses == [.milliseconds(4500)])
        faulty.clock.advance(by: .milliseconds(4500))
        try await write.value
        try await phone.subscribe("2a37")
        try await faulty.rig.sink.wait(for: "subscribed")
        for value: UInt8 in 1...3 {
            let key = faulty.definitions.rate.key
            #expect(
                try await faulty.layer.send([value], of: key, as: .asSubscribed, to: nil) == .sent(nil))
        }
        #expect(try await phone.notifications(2).map(\.value) == [[1], [3]])
        #expect(await faulty.violations() == [])
    }

    @Test(arguments: [FaultEffect.refuseConnection, .disconnect(reason: 0x13)])
    func `a connection is refused by its end`(effect: FaultEffect) async throws {
        let faulty = try await Faulty { _ in [Self.fault(.connect, effect)] }
        _ = try await faulty.connect()
        try await faulty.rig.sink.wait(for: "disconnected")
        #expect(await faulty.violations() == [])
    }

    // bluetoothd can crash if a link ends with a request that is not answered (bluez#2447).
    @Test(arguments: [FaultEffect.disconnect(reason: 0x13), .vanish(for: .seconds(1))])
    func `a request is refused at once before a fault ends its link`(effect: FaultEffect) async throws {
        let faulty = try await Faulty { definitions in
            [Self.fault(.write, of: definitions.control.key, effect)]
        }
        let phone = try await faulty.connect()
        #expect(
            await attError { () async throws(ATTFailure) in try await phone.write("2a39", [1]) } == 0x0E)
        try await faulty.rig.sink.wait(for: "disconnected")
        // It did not wait until the radio gives up on an answer.
        #expect(!faulty.rig.sink.words.contains { $0.hasPrefix("warning") })
        #expect(await faulty.violations() == [])
    }

    @Test func `a bond is lost by RemoveDevice, which ends the link`() async throws {
        let faulty = try await Faulty { definitions in
            [Self.fault(.write, of: definitions.control.key, .loseBond(.reject))]
        }
        let phone = try await faulty.connect()
        try await phone.pair()
        try await faulty.rig.sink.wait(for: "paired")
        #expect(await faulty.layer.bondedAddresses.count == 1)
        try? await phone.write("2a39", [1])
        try await faulty.rig.sink.wait(for: "disconnected")
        // bluetoothd removes the device after it has said that the link is down.
        try await until("the bond is gone") { await faulty.layer.bondedAddresses.isEmpty }
        #expect(await faulty.violations() == [])
    }

    @Test func `a characteristic is gone until the fault is turned off`() async throws {
        let faulty = try await Faulty { definitions in
            [
                Self.fault(
                    .write, of: definitions.control.key, .changeServices(removing: definitions.location.key))
            ]
        }
        let phone = try await faulty.connect()
        try await phone.write("2a39", [1])
        try await until("the characteristic is gone") {
            await attError { () async throws(ATTFailure) in _ = try await phone.read("2a38") } != nil
        }
        try await until("the others are there again") { (try? await phone.read("2a37")) == [1, 2, 3, 4] }
        #expect(try await faulty.layer.turn("f", isOn: false) == true)
        try await until("the characteristic is there again") {
            (try? await phone.read("2a38"))?.prefix(3) == [0, 1, 2]
        }
        #expect(await faulty.violations() == [])
    }

    @Test func `a device that vanishes turns the adapter off, and on again`() async throws {
        let faulty = try await Faulty { definitions in
            [Self.fault(.write, of: definitions.control.key, .vanish(for: .seconds(10)))]
        }
        let phone = try await faulty.connect()
        let before = faulty.rig.sink.words.count
        let write = Task { try? await phone.write("2a39", [1]) }
        try await faulty.rig.sink.wait(for: "disconnected")
        await write.value
        #expect(await !faulty.rig.standIn.isPowered())
        #expect(faulty.rig.sink.words("write") == [])
        try await until("the fault waits") { faulty.clock.pauses == [.seconds(10)] }
        faulty.clock.advance(by: .seconds(10))
        try await faulty.rig.standIn.wait("the device advertises") { !$0.advertisements().isEmpty }
        try await phone.connect()
        try await faulty.rig.sink.wait(for: "connected", count: 2)
        let words = faulty.rig.sink.words.dropFirst(before)
        #expect(!words.contains { $0.hasPrefix("lost") || $0 == "state poweredOff" })
        #expect(await faulty.violations() == [])
    }

    @Test func `the radio works when the device is back`() async throws {
        let faulty = try await Faulty { _ in [] }
        try await faulty.rig.radio.vanish()
        #expect(faulty.rig.sink.words.contains("state poweredOff"))
        let before = faulty.rig.sink.words.count
        try await faulty.rig.radio.reappear()
        #expect(faulty.rig.sink.words.dropFirst(before).contains("recovered"))
        _ = try await faulty.rig.radio.advertise(.named("Mynah"))
        #expect(await faulty.violations() == [])
    }

    @Test func `a fault that bluetoothd cannot carry out is an error that says so`() async throws {
        let name = "BlueZ 5.66 on hci0"
        let rows: [(Fault, String)] = [
            (Self.fault(.read, .noAnswer), "\(name) cannot carry out noAnswer"),
            (
                Self.fault(.connect, .disconnect(reason: 0x15)),
                "\(name) cannot end a link with reason 0x15; it can use 0x13"
            ),
            (
                Self.fault(.subscribe, .error(.unlikelyError)),
                "\(name) cannot carry out error on subscribe; it can on read and write"
            ),
            (
                Self.fault(.read, delay: .seconds(5)), "\(name) can hold up an answer for 4500 ms at most"
            ),
        ]
        let faulty = try await Faulty { _ in [] }
        for (fault, message) in rows {
            let error = await radioError { () async throws(RadioError) in try await faulty.layer.add(fault) }
            #expect(error == RadioError(.unsupported, "fault f: \(message)"))
        }
        #expect(await faulty.layer.faults.isEmpty)
        #expect(await faulty.violations() == [])
    }
}
