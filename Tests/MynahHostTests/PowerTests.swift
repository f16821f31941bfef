import Mynah
import MynahCore
import MynahHCI
import MynahLifecycle
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// A radio that is turned off and on.
@Suite(.timeLimit(.minutes(15))) struct PowerTests {
    private static func states(_ words: [String]) -> [String] {
        words.filter { $0.hasPrefix("state") || $0.hasPrefix("lost") || $0 == "recovered" }
    }

    @Test func `off ends the links and resets the controller, and on advertises as before`() async throws {
        let rig = try await HostRig()
        var advertisement = Advertisement()
        advertisement.localName = "Mynah"
        let address = try #require(try await rig.radio.advertise(advertisement).address)
        try await rig.subscribe()
        rig.controller.state.withLock { $0.commands = [] }
        try await rig.radio.setPower(false)
        #expect(rig.sink.words.suffix(3) == ["unsubscribed", "disconnected", "state poweredOff"])
        let commands = rig.controller.state.withLock { $0.commands.map(\.opcode) }
        #expect(commands.contains(.disconnect) && commands.last == .reset)
        #expect(!rig.controller.state.withLock { $0.isAdvertising || $0.isClosed })
        let error = await #expect(throws: RadioError.self) { try await rig.radio.advertise(advertisement) }
        #expect(error?.code == .poweredOff)
        // Nothing is to do.
        try await rig.radio.setPower(false)

        rig.controller.state.withLock { $0.commands = [] }
        try await rig.radio.setPower(true)
        #expect(rig.sink.words.suffix(2) == ["state poweredOn", "advertising as \(address)"])
        #expect(rig.controller.state.withLock { $0.commands.first?.opcode } == .reset)
        #expect(rig.controller.state.withLock { $0.isAdvertising })
        try await rig.radio.setPower(true)
        #expect(Self.states(rig.sink.words) == ["state poweredOn", "state poweredOff", "state poweredOn"])
        // The services are where they were, and nobody is subscribed any more.
        rig.controller.connect()
        #expect(try await rig.exchange("0A 1700") == ["4:0B01"])
        #expect(try await rig.exchange("0A 1300") == ["4:0B0000"])
        await rig.radio.stop()
        let stopped = await #expect(throws: RadioError.self) { try await rig.radio.setPower(true) }
        #expect(stopped?.code == .invalidState)
    }

    @Test func `services that are published while it is off are served when it is on`() async throws {
        let rig = try await HostRig()
        try await rig.radio.setPower(false)
        _ = try await rig.radio.publish([
            ServiceDefinition(
                uuid: "180F",
                characteristics: [CharacteristicDefinition(uuid: "2A19", properties: .read, value: [42])])
        ])
        let central = CentralWords()
        try await rig.radio.start(DeviceIdentity(name: "Phone"), central: central)
        #expect(central.words == ["state poweredOff"])
        try await rig.radio.setPower(true)
        #expect(central.words == ["state poweredOff", "state poweredOn"])
        rig.controller.connect()
        #expect(try await rig.exchange("0A 1A00") == ["4:0B2A"])
        await rig.radio.stop()
    }

    @Test func `a link that does not end holds it up for a second`() async throws {
        let rig = try await HostRig()
        rig.controller.state.withLock { $0.endsLinks = false }
        rig.controller.connect()
        try await rig.wait(for: "connected F0:F1:F2:F3:F4:F5")
        let turning = Task { try await rig.radio.setPower(false) }
        try await rig.wait(for: .linksEnd)
        #expect(Self.states(rig.sink.words) == ["state poweredOn"])
        rig.clock.advance(by: .seconds(1))
        try await turning.value
        #expect(rig.sink.words.suffix(2) == ["disconnected", "state poweredOff"])
        await rig.radio.stop()
    }

    @Test func `a controller that does not answer the reset is closed, and opened when it is turned on`()
        async throws
    {
        let rig = try await HostRig()
        rig.controller.state.withLock { $0.silent = [HCIOpcode.reset.rawValue] }
        let turning = Task { try await rig.radio.setPower(false) }
        try await rig.wait(for: .command)
        rig.clock.advance(by: .seconds(5))
        try await turning.value
        #expect(rig.controller.state.withLock { $0.isClosed })
        rig.controller.state.withLock { $0.silent = [] }
        try await rig.radio.setPower(true)
        #expect(!rig.controller.state.withLock { $0.isClosed })
        #expect(Self.states(rig.sink.words) == ["state poweredOn", "state poweredOff", "state poweredOn"])
        await rig.radio.stop()
    }

    @Test(arguments: [false, true])
    func `a controller that went while it was off is opened again, or looked for`(isGone: Bool) async throws {
        let rig = try await HostRig()
        try await rig.radio.setPower(false)
        rig.controller.end()
        try await until("the transport is closed") { rig.controller.state.withLock { $0.isClosed } }
        if isGone { rig.controller.state.withLock { $0.refused[HCIOpcode.reset.rawValue] = 0x0C } }
        var states = ["state poweredOn", "state poweredOff"]
        if isGone {
            let error = await #expect(throws: RadioError.self) { try await rig.radio.setPower(true) }
            let message = try #require(error?.message)
            states += ["lost: \(message)", "state unsupported"]
            #expect(Self.states(rig.sink.words) == states)
            rig.controller.state.withLock { $0.refused = [:] }
            try await until("the radio waits before it looks for the controller") {
                rig.clock.pauses.contains(.milliseconds(250))
            }
            rig.clock.advance(by: .milliseconds(250))
            try await rig.wait(for: "recovered")
            states += ["state poweredOn", "recovered"]
        } else {
            try await rig.radio.setPower(true)
            states += ["state poweredOn"]
        }
        #expect(Self.states(rig.sink.words) == states)
        #expect(!rig.controller.state.withLock { $0.isClosed })
        await rig.radio.stop()
    }

    @Test(arguments: [false, true])
    func `a controller that is looked for is not looked for while it is off`(isFound: Bool) async throws {
        let rig = try await HostRig()
        rig.controller.state.withLock {
            $0.commands = []
            $0.silent = [HCIOpcode.reset.rawValue]
        }
        rig.controller.end(RadioError(.lost, "the socket was closed"))
        try await until("the radio waits before it looks for the controller") {
            rig.clock.pauses.contains(.milliseconds(250))
        }
        if isFound {
            rig.clock.advance(by: .milliseconds(250))
            try await rig.controller.wait("the controller is being reset") {
                $0.commands.contains { $0.opcode == .reset }
            }
        }
        try await rig.radio.setPower(false)
        #expect(rig.controller.state.withLock { $0.isClosed })
        rig.controller.state.withLock { $0.silent = [] }
        rig.clock.advance(by: .seconds(10))
        try await rig.radio.setPower(true)
        #expect(
            Self.states(rig.sink.words) == [
                "state poweredOn", "lost: the socket was closed", "state unsupported", "state poweredOff",
                "state poweredOn",
            ])
        await rig.radio.stop()
    }

    @Test(arguments: [false, true])
    func `it is stopped while it is off, or about to be, and started again on`(isOff: Bool) async throws {
        let rig = try await HostRig()
        rig.controller.state.withLock { $0.endsLinks = isOff }
        rig.controller.connect()
        try await rig.wait(for: "connected F0:F1:F2:F3:F4:F5")
        let turning = Task { try await rig.radio.setPower(false) }
        if isOff {
            try await turning.value
            await rig.radio.stop()
        } else {
            try await rig.wait(for: .linksEnd)
            await rig.radio.stop()
            let error = await #expect(throws: RadioError.self) { try await turning.value }
            #expect(error?.code == .lost)
        }
        #expect(rig.controller.state.withLock { $0.isClosed })
        let sink = HostSink()
        _ = try await rig.radio.start(DeviceIdentity(name: "Mynah"), sink: sink)
        #expect(sink.words == ["state poweredOn"])
        try await rig.radio.setPower(false)
        #expect(sink.words == ["state poweredOn", "state poweredOff"])
        await rig.radio.stop()
    }

    @Test func `calls at the same time take effect one after the other`() async throws {
        let rig = try await HostRig()
        rig.controller.state.withLock { $0.endsLinks = false }
        rig.controller.connect()
        try await rig.wait(for: "connected F0:F1:F2:F3:F4:F5")
        var calls: [Task<Void, any Error>] = []
        for (index, isOn) in [false, true, false].enumerated() {
            calls.append(Task { try await rig.radio.setPower(isOn) })
            try await until("the call waits") { await rig.radio.powerWaiters?.count == index }
        }
        try await rig.wait(for: .linksEnd)
        rig.controller.disconnect()
        for call in calls { try await call.value }
        #expect(
            Self.states(rig.sink.words) == [
                "state poweredOn", "state poweredOff", "state poweredOn", "state poweredOff",
            ])
        await rig.radio.stop()
    }

    @Test func `a central loses a device that is turned off, and finds it again`() async throws {
        let rig = try await CentralRig()
        _ = try await rig.connect()
        try await rig.device.setPower(false)
        try await rig.phoneSink.wait(for: "disconnected the peripheral ended the link")
        #expect(rig.sink.words.suffix(2) == ["disconnected", "state poweredOff"])
        let connecting = Task { try await rig.connect() }
        try await rig.device.setPower(true)
        let peer = try await connecting.value
        #expect(try await rig.phone.discoverServices("180D", of: peer).count == 1)
        await rig.stop()
    }

    @Test func `a phone that is turned off ends its links, waits for none and scans again later`()
        async throws
    {
        let rig = try await CentralRig()
        _ = try await rig.connect()
        try await rig.phone.scan(ScanOptions(allowsDuplicates: true))
        let far = try #require(DeviceAddress("C0:00:00:00:00:09", kind: .public))
        let connecting = Task { try await rig.phone.connect(far, timeout: nil) }
        try await until("the phone waits for two devices") { await rig.phone.waitingConnections == 1 }
        try await rig.phone.setPower(false)
        let error = await #expect(throws: RadioError.self) { try await connecting.value }
        #expect(error?.code == .poweredOff)
        #expect(rig.phoneSink.words.suffix(2) == ["disconnected the radio is gone", "state poweredOff"])
        try await until("the device has lost the phone") { rig.sink.words.contains("disconnected") }
        let heard = rig.phoneSink.reports.count
        try await rig.phone.setPower(true)
        try await until("the phone hears the device") { rig.phoneSink.reports.count > heard }
        _ = try await rig.connect()
        await rig.stop()
    }

    @Test func `a manager's central loses a phone that is turned off, and connects again`() async throws {
        let stage = try await ManagerOnHostTests.Stage()
        let manager = await stage.phone.makePeripheralManager()
        try await stage.connect(manager)
        try await stage.phone.setPower(false)
        #expect(await stage.phone.radioState == .poweredOff)
        #expect(await stage.phone.connectedCentrals.isEmpty)
        try await until("the central has lost the phone") { await stage.strap.state == .disconnected }
        try await stage.phone.setPower(true)
        try await stage.central.connect(stage.strap, timeout: nil)
        #expect(await stage.phone.connectedCentrals.count == 1)
        await stage.stop()
    }
}
