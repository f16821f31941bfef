import MynahBlueZStandIn
import MynahCore
import MynahDBus
import MynahTestSupport
import Testing

@testable import MynahBlueZ

extension BlueZRadio {
    fileprivate var epoch: UInt64 { stage.epoch }
}

@Suite(.timeLimit(.minutes(15))) struct RegistrationTests {
    @Test func `a batch is registered in its order, at handles of its own choosing`() async throws {
        let rig = try await Rig()
        let definitions = Definitions()
        let published = try await rig.radio.publish([definitions.service])
        let services = await rig.standIn.services()
        #expect(services.map(\.handle) == [0x0100])
        let characteristics = try #require(services.first?.characteristics)
        #expect(characteristics.map(\.handle) == [0x0102, 0x0105, 0x0108])
        #expect(
            characteristics.map(\.handle) == [
                published.handles[definitions.rate.key]?.rawValue,
                published.handles[definitions.location.key]?.rawValue,
                published.handles[definitions.control.key]?.rawValue,
            ])
        #expect(characteristics[1].descriptors.map(\.handle) == [0x0106])
        #expect(published.handles[definitions.location.descriptors[0].key] == 0x0106)
        #expect(await rig.violations() == [])
    }

    @Test func `a batch that comes later leaves the first alone, and goes alone`() async throws {
        let rig = try await Rig()
        try await rig.radio.publish([Definitions().service])
        let second = try await rig.radio.publish([ServiceDefinition(uuid: "180F")])
        #expect(await rig.standIn.services().map(\.handle) == [0x0100, 0x0110])
        await rig.radio.withdraw(second.id)
        #expect(await rig.standIn.services().map(\.handle) == [0x0100])
        #expect(await rig.violations() == [])
    }

    @Test func `where the handles are taken the daemon chooses`() async throws {
        let rig = try await Rig()
        try await rig.radio.publish([Definitions().service])
        var options = BlueZRadio.Options()
        options.bus = .address(rig.bus.address)
        let other = BlueZRadio(options: options)
        _ = try await other.start(DeviceIdentity(name: "other"), sink: TestSink())
        let published = try await other.publish([ServiceDefinition(uuid: "180F")])
        #expect(published.handles.isEmpty)
        #expect(await rig.standIn.services().count == 2)
        await other.stop()
        #expect(await rig.violations() == [])
    }

    @Test func `includes and secondary services are registered as such`() async throws {
        let rig = try await Rig()
        let battery = ServiceDefinition(uuid: "180F", isPrimary: false)
        let rate = ServiceDefinition(uuid: "180D", includes: [battery.key])
        try await rig.radio.publish([battery, rate])
        let services = await rig.standIn.services()
        #expect(services.map(\.isPrimary) == [false, true])
        #expect(services.map(\.includes) == [[], [0x0100]])
        #expect(await rig.violations() == [])
    }

    @Test func `the adapter's properties are restored at the end`() async throws {
        let rig = try await Rig()
        try await rig.radio.publish([Definitions().service])
        _ = try await rig.radio.advertise(.named("Mynah"))
        #expect(await rig.standIn.alias() == "Mynah")
        #expect(await rig.standIn.isPairable())
        #expect(await rig.standIn.agentCapability == "NoInputNoOutput")
        await rig.radio.stop()
        #expect(await rig.standIn.alias() == "stand-in")
        #expect(await !rig.standIn.isPairable())
        #expect(await rig.standIn.isPowered())
        #expect(await rig.standIn.agentCapability == nil)
        #expect(await rig.standIn.applicationCount() == 0)
        #expect(await rig.standIn.advertisementCount() == 0)
        #expect(await rig.standIn.violations == [])
    }

    @Test func `an adapter that could be paired with before still can, with any agent`() async throws {
        let rig = try await Rig()
        var options = BlueZRadio.Options()
        options.bus = .address(rig.bus.address)
        let other = BlueZRadio(options: options)
        _ = try await other.start(DeviceIdentity(name: "other"), sink: TestSink())
        await other.stop()
        #expect(await rig.standIn.isPairable())
        #expect(await rig.standIn.alias() == "Mynah")
        #expect(await rig.violations() == [])
        #expect(await !rig.standIn.isPairable())
    }

    @Test func `an adapter that was off is on while the radio runs`() async throws {
        var configuration = StandInConfiguration()
        configuration.powersUp = false
        let rig = try await Rig(configuration)
        #expect(await rig.standIn.isPowered())
        await rig.radio.stop()
        #expect(await !rig.standIn.isPowered())
    }

    @Test func `a radio that is stopped while it starts leaves nothing behind`() async throws {
        let rig = try await Rig(identity: nil)
        async let started: Void = {
            let error = await radioError { () async throws(RadioError) in
                _ = try await rig.radio.start(DeviceIdentity(name: "Mynah"), sink: rig.sink)
            }
            // Either end may come first; never both.
            #expect(error == nil || error?.code == .invalidState || error?.code == .lost)
        }()
        await rig.radio.stop()
        await started
        await rig.radio.stop()
        #expect(await rig.standIn.alias() == "stand-in")
        #expect(await rig.standIn.agentCapability == nil)
    }

    @Test(.timeLimit(.minutes(15)))
    func `a start that is overtaken by a stop does not disturb the next one`() async throws {
        let rig = try await Rig(identity: nil)
        let radio = rig.radio
        for epoch in 1...5 as ClosedRange<UInt64> {
            let overtaken = Task {
                await radioError { () async throws(RadioError) in
                    _ = try await radio.start(DeviceIdentity(name: "early"), sink: rig.sink)
                }
            }
            try await until("the first start has begun") { await radio.epoch == 2 * epoch - 1 }
            await radio.stop()
            _ = try await radio.start(DeviceIdentity(name: "Mynah"), sink: rig.sink)
            #expect(await radio.epoch == 2 * epoch)
            _ = await overtaken.value
            try await radio.publish([Definitions().service])
            #expect(await rig.standIn.applicationCount() == 1)
            #expect(await rig.standIn.alias() == "Mynah")
            await radio.stop()
        }
        #expect(await rig.violations() == [])
    }

    @Test(arguments: IOCapability.allCases)
    func `the agent says what the device can show and type`(capability: IOCapability) async throws {
        let rig = try await Rig(identity: DeviceIdentity(name: "Mynah", ioCapability: capability))
        let name = capability.rawValue.prefix(1).uppercased() + capability.rawValue.dropFirst()
        #expect(await rig.standIn.agentCapability == name)
        await rig.radio.stop()
    }

    @Test func `the version is read off the adapter`() async throws {
        let rig = try await Rig(StandInConfiguration(.trixie), identity: nil)
        let capabilities = try await rig.radio.start(DeviceIdentity(name: "Mynah"), sink: rig.sink)
        #expect(capabilities.name == "BlueZ 5.82 on hci0")
        #expect(capabilities.writes.maximumLength == 512)
        #expect(capabilities.advertising.keepsInterval)
        await rig.radio.stop()
    }

    @Test func `a thousand characteristics are registered`() async throws {
        let rig = try await Rig()
        let services = (0..<10).map { _ in
            ServiceDefinition(
                uuid: "180D",
                characteristics: (0..<100).map { _ in
                    CharacteristicDefinition(uuid: "2A37", properties: [.read, .notify])
                })
        }
        let published = try await rig.radio.publish(services)
        #expect(await rig.standIn.services().flatMap(\.characteristics).count == 1000)
        #expect(published.handles.count == 1010)
        #expect(await rig.violations() == [])
    }
}
