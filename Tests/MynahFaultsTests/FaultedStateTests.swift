import MynahCore
import MynahFaults
import MynahTestSupport
import Testing

/// The states of a radio with faults: lost, gone and back.
@Suite(.timeLimit(.minutes(20))) struct FaultedStateTests {
    private static let loss = RadioError(.lost, "the controller is gone")

    @Test func `services that a lost radio refuses are published when it has recovered`() async throws {
        let rig = try await FaultRig { _, _ in [] }
        try await rig.radio.add(
            .on(.connect, .changeServices(removing: rig.services[1].key)))
        await rig.fake.fail(.publish, Self.loss)
        await rig.happen(.connected(FaultRig.first))
        let log = try await rig.sink.log.take(3)
        #expect(log[2] == "warning the services cannot be changed: the controller is gone")
        #expect(await rig.fake.published.isEmpty)
        await rig.happen(.recovered)
        try await until("the rest is published") { await rig.fake.published.map(\.services.count) == [1] }
        // One that fails holds up no other, and is tried again with the next change.
        let other = [ServiceDefinition(uuid: BluetoothUUID(0x180F as UInt16))]
        _ = try await rig.radio.publish(other)
        await rig.fake.fail(.publish, Self.loss)
        await rig.radio.remove("f")
        await rig.radio.settle()
        #expect(await rig.fake.published.map(\.services.count) == [1])
        try await rig.radio.add(
            .on(.connect, .changeServices(removing: other[0].key), name: "g"))
        await rig.happen(.connected(FaultRig.second))
        await rig.radio.settle()
        #expect(await rig.fake.published.map(\.services.count) == [2])
    }

    @Test func `connections can be counted anew, first those that are there`() async throws {
        let rig = try await FaultRig { asked, _ in
            [.on(.read, of: asked, .init(central: .order(1)), .value([9]))]
        }
        await rig.happen(.connected(FaultRig.first))
        await rig.happen(.connected(FaultRig.second))
        #expect(try await rig.read() == .success([9]))
        await rig.happen(.disconnected(FaultRig.first.id))
        #expect(try await rig.read(by: FaultRig.second) == .success([1, 2, 3, 4]))
        await rig.radio.countConnectionsAnew()
        #expect(try await rig.read(by: FaultRig.second) == .success([9]))
        await rig.happen(.connected(FaultRig.first))
        #expect(try await rig.read() == .success([1, 2, 3, 4]))
    }

    private static func gone() async throws -> FaultRig {
        let rig = try await FaultRig { _, _ in [.on(.connect, .vanish(for: nil))] }
        _ = try await rig.radio.advertise(Advertisement(localName: "Meter"))
        await rig.happen(.connected(FaultRig.first))
        _ = try await rig.sink.log.take(2)
        await rig.radio.settle()
        #expect(await rig.fake.isGone)
        return rig
    }

    @Test func `a device that is back advertises anew, and has missed nothing`() async throws {
        let rig = try await Self.gone()
        #expect(try await rig.radio.advertise(Advertisement(localName: "Meter")) == .silent)
        await rig.radio.remove("f")
        await rig.radio.settle()
        #expect(await !rig.fake.isGone)
        #expect(try await rig.sink.log.take()[0].hasPrefix("advertising "))
    }

    @Test func `a device whose radio is off vanishes when it is on again`() async throws {
        let rig = try await FaultRig { _, _ in [.on(.connect, .vanish(for: nil))] }
        await rig.happen(.connected(FaultRig.first))
        await rig.radio.settle()
        #expect(await rig.fake.isGone)
        await rig.radio.remove("f")
        await rig.radio.settle()
        #expect(await !rig.fake.isGone)
        await rig.happen(.stateChanged(.poweredOff))
        try await rig.radio.add(.on(.connect, .vanish(for: nil)))
        await rig.happen(.connected(FaultRig.second))
        await rig.radio.settle()
        #expect(await !rig.fake.isGone)
        await rig.happen(.stateChanged(.poweredOn))
        await rig.radio.settle()
        #expect(await rig.fake.isGone)
    }

    @Test func `a radio that is lost while its device is gone is reported when the device is back`()
        async throws
    {
        let rig = try await Self.gone()
        await rig.happen(.lost(Self.loss))
        await rig.happen(.stateChanged(.resetting))
        await rig.fake.fail(.reappear, Self.loss)
        await rig.radio.remove("f")
        let expected = [
            "warning the device cannot advertise again: the controller is gone",
            "lost the controller is gone", "state resetting",
        ]
        #expect(try await rig.sink.log.take(3) == expected)
        await rig.radio.settle()
        await rig.happen(.recovered)
        // The earlier advertisement may not be on the air.
        let log = try await rig.sink.log.take(2)
        #expect(log[0] == "recovered" && log[1].hasPrefix("advertising "))
    }

    @Test func `a radio that was lost and has recovered while its device was gone is not reported`()
        async throws
    {
        let rig = try await Self.gone()
        await rig.happen(.lost(Self.loss))
        await rig.happen(.recovered)
        await rig.radio.remove("f")
        #expect(try await rig.sink.log.take()[0].hasPrefix("advertising "))
    }
}
