import MynahBlueZStandIn
import MynahCore
import MynahDBus
import MynahTestSupport
import Testing

@testable import MynahBlueZ

extension BlueZRadio {
    /// The number of devices of which anything is kept.
    fileprivate var keptCentrals: Int { centrals.count }
}

@Suite(.timeLimit(.minutes(15))) struct SurvivalTests {
    /// A rig that plays, with a phone that has subscribed.
    private func playing() async throws -> (Rig, VirtualCentral, Definitions) {
        let rig = try await Rig()
        let definitions = Definitions()
        try await rig.radio.publish([definitions.service])
        try await rig.radio.advertise(.named("Mynah"))
        let phone = await rig.standIn.central()
        try await phone.connect()
        try await rig.sink.wait(for: "connected")
        try await phone.subscribe("2a37")
        try await rig.sink.wait(for: "subscribed")
        return (rig, phone, definitions)
    }

    /// The phone finds everything as it should be after the recovery.
    private func expectAllIsWell(_ rig: Rig, _ phone: VirtualCentral, state: RadioState) async throws {
        try await rig.sink.wait(for: "recovered")
        try await rig.standIn.wait("the device advertises") { !$0.advertisements().isEmpty }
        try await phone.connect()
        #expect(try await phone.readLong("2a38") == Array(0..<40))
        #expect(await rig.standIn.alias() == "Mynah")
        #expect(await rig.standIn.services().map(\.handle) == [0x0100])
        #expect(rig.sink.words("recovered").count == 1)
        #expect(rig.sink.words("lost").count == 1)
        #expect(rig.sink.words("disconnected").count == 1)
        #expect(rig.sink.words("unsubscribed") == ["unsubscribed ?"])
        #expect(rig.sink.words("state") == ["state poweredOn", "state \(state)", "state poweredOn"])
        #expect(await rig.violations() == [])
    }

    @Test func `a daemon that is restarted is played through again`() async throws {
        let (rig, phone, _) = try await playing()
        await rig.standIn.stop()
        try await rig.sink.wait(for: "lost")
        try await rig.standIn.start()
        try await expectAllIsWell(rig, phone, state: .resetting)
    }

    @Test func `a daemon that is killed and comes back is played through again`() async throws {
        let (rig, phone, _) = try await playing()
        await rig.standIn.crash()
        try await rig.sink.wait(for: "lost")
        try await rig.standIn.start()
        try await expectAllIsWell(rig, phone, state: .resetting)
    }

    @Test func `an adapter that is turned off and on advertises again`() async throws {
        let (rig, phone, _) = try await playing()
        try await rig.standIn.setPowered(false)
        try await rig.sink.wait(for: "lost")
        #expect(await rig.standIn.advertisements().isEmpty)
        try await rig.standIn.setPowered(true)
        try await expectAllIsWell(rig, phone, state: .poweredOff)
    }

    @Test func `an adapter that is pulled and plugged in under another name is found by its address`()
        async throws
    {
        let (rig, _, _) = try await playing()
        await rig.standIn.unplug()
        try await rig.sink.wait(for: "lost")
        try await rig.standIn.plugIn(.init("hci1"))
        try await rig.sink.wait(for: "recovered")
        #expect(await rig.standIn.alias(of: "hci1") == "Mynah")
        #expect(await rig.standIn.services(on: "hci1").map(\.handle) == [0x0100])
        #expect(await rig.standIn.advertisementCount(on: "hci1") == 1)
        #expect(rig.sink.words("state") == ["state poweredOn", "state unsupported", "state poweredOn"])
        #expect(await rig.violations() == [])
    }

    @Test func `another adapter does not take the place of one that is gone`() async throws {
        let (rig, _, _) = try await playing()
        await rig.standIn.unplug()
        try await rig.sink.wait(for: "lost")
        try await rig.standIn.plugIn(.init("hci1", address: "00:AA:01:00:00:43"))
        try await rig.standIn.plugIn(.init("hci2"))
        try await rig.sink.wait(for: "recovered")
        #expect(await rig.standIn.applicationCount(on: "hci1") == 0)
        #expect(await rig.standIn.applicationCount(on: "hci2") == 1)
        #expect(await rig.violations() == [])
    }

    @Test func `a value that was set survives`() async throws {
        let (rig, phone, definitions) = try await playing()
        await rig.radio.setValue([42], of: definitions.location.key)
        await rig.standIn.crash()
        try await rig.sink.wait(for: "lost")
        let radio = rig.radio
        let error = await radioError { () async throws(RadioError) in
            _ = try await radio.send([1], of: definitions.rate.key, as: .asSubscribed, to: nil)
        }
        #expect(error?.code == .lost)
        try await rig.standIn.start()
        try await rig.sink.wait(for: "recovered")
        try await phone.connect()
        #expect(try await phone.read("2a38") == [42])
        #expect(await rig.violations() == [])
    }

    @Test(.timeLimit(.minutes(15)))
    func `a radio that is dropped without a stop leaves the air`() async throws {
        let rig = try await Rig(identity: nil)
        func play() async throws {
            var options = BlueZRadio.Options()
            options.bus = .address(rig.bus.address)
            let radio = BlueZRadio(options: options)
            _ = try await radio.start(DeviceIdentity(name: "Mynah"), sink: rig.sink)
            try await radio.publish([Definitions().service])
            try await radio.advertise(.named("Mynah"))
            #expect(await rig.standIn.advertisementCount() == 1)
        }
        try await play()
        try await rig.standIn.wait("nothing is registered") {
            $0.applicationCount() == 0 && $0.advertisementCount() == 0
        }
    }

    @Test(.timeLimit(.minutes(15)))
    func `a device that is only seen is not kept, and a bonded central keeps its identifier`() async throws {
        let rig = try await Rig()
        try await rig.radio.advertise(.named("Mynah"))
        let phone = await rig.standIn.central()
        for count in 1...3 {
            try await phone.connect()
            try await rig.sink.wait(for: "connected", count: count)
            // Registered again, after the kernel has stopped it for the link.
            try await rig.standIn.wait("the device is advertised") { !$0.advertisements().isEmpty }
            if count == 2 { try await phone.pair() }
            await phone.disconnect()
            try await rig.sink.wait(for: "disconnected", count: count)
            #expect(await rig.radio.keptCentrals == (count == 1 ? 0 : 1))
        }
        let ids = rig.sink.events.compactMap { event -> UInt32? in
            if case .connected(let peer) = event { peer.id.rawValue } else { nil }
        }
        #expect(ids == [1, 2, 2])
        #expect(await rig.violations() == [])
    }

    @Test func `a radio can be stopped while its daemon is gone`() async throws {
        let (rig, _, _) = try await playing()
        await rig.standIn.crash()
        try await rig.sink.wait(for: "lost")
        #expect(await rig.violations() == [])
    }

    @Test func `losing and coming back twice is told twice`() async throws {
        let (rig, _, _) = try await playing()
        for count in 1...2 {
            await rig.standIn.crash()
            try await rig.sink.wait(for: "lost", count: count)
            try await rig.standIn.start()
            try await rig.sink.wait(for: "recovered", count: count)
        }
        #expect(rig.sink.words("lost").count == 2)
        #expect(rig.sink.words("recovered").count == 2)
        #expect(await rig.violations() == [])
    }
}
