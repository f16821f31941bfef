import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// Faults of a controller, and their effects on a radio.
@Suite(.timeLimit(.minutes(15))) struct HostRadioTroubleTests {
    @Test func `a controller without LE, one that refuses and one that is silent are errors that say so`()
        async throws
    {
        let refusing = try await HostRig(starts: false)
        refusing.controller.state.withLock {
            $0.refused = [HCIOpcode.leReadLocalSupportedFeatures.rawValue: 0x01]
        }
        let first = await #expect(throws: RadioError.self) {
            _ = try await refusing.radio.start(DeviceIdentity(name: ""), sink: refusing.sink)
        }
        #expect(first?.message == "the controller does not support LE: it lacks LE commands")
        let silent = try await HostRig(starts: false)
        silent.controller.state.withLock { $0.silent = [HCIOpcode.reset.rawValue] }
        async let start: Void = {
            let error = await #expect(throws: RadioError.self) {
                _ = try await silent.radio.start(DeviceIdentity(name: ""), sink: silent.sink)
            }
            #expect(error?.code == .timedOut)
        }()
        try await silent.wait(for: .command)
        silent.clock.advance(by: .seconds(5))
        await start
        #expect(silent.controller.state.withLock { $0.isClosed })
    }

    @Test func `a transport that ends loses the radio, its centrals first`() async throws {
        let rig = try await HostRig()
        try await rig.subscribe()
        rig.controller.end(RadioError(.lost, "the socket was closed"))
        try await rig.wait(for: "state unsupported")
        #expect(
            rig.sink.words.suffix(4) == [
                "unsubscribed", "disconnected", "lost: the socket was closed", "state unsupported",
            ])
        let (radio, key) = (rig.radio, rig.rate.key)
        await #expect(throws: RadioError.self) {
            _ = try await radio.send([1], of: key, as: .asSubscribed, to: nil)
        }
        await rig.radio.stop()
    }

    @Test func `a controller that comes back is brought up, and the device is as it was`() async throws {
        let rig = try await HostRig()
        var advertisement = Advertisement()
        advertisement.localName = "Mynah"
        let report = try await rig.radio.advertise(advertisement)
        try await rig.subscribe()
        rig.controller.state.withLock { $0.refused[HCIOpcode.reset.rawValue] = 0x0C }
        rig.controller.end()
        // The first look finds one that is not ready, the second, after twice the pause, one that is.
        try await until("the radio waits 250 ms before it tries again") {
            rig.clock.pauses.contains(.milliseconds(250))
        }
        rig.controller.state.withLock { $0.commands = [] }
        rig.clock.advance(by: .milliseconds(250))
        try await until("the radio waits 500 ms before it tries again") {
            rig.clock.pauses.contains(.milliseconds(500))
        }
        #expect(rig.controller.state.withLock { $0.commands.map(\.opcode) } == [.reset])
        rig.controller.state.withLock { $0.refused = [:] }
        rig.clock.advance(by: .milliseconds(500))
        // With its address, which may be another by now.
        let address = try #require(report.address)
        try await rig.wait(for: "advertising as \(address)")
        #expect(
            rig.sink.words.drop { !$0.hasPrefix("unsubscribed") } == [
                "unsubscribed", "disconnected", "lost: the controller is gone: its transport was closed",
                "state unsupported", "state poweredOn", "recovered", "advertising as \(address)",
            ])
        let commands = rig.controller.state.withLock { $0.commands }
        #expect(commands.last { $0.opcode == .leSetAdvertisingEnable }?.parameters == [1])
        let data = try #require(commands.last { $0.opcode == .leSetAdvertisingData }?.parameters)
        #expect(Array(data.dropFirst().prefix(Int(data[0]))) == report.data)
        // The services are where they were, and nobody is subscribed any more.
        rig.controller.connect()
        #expect(try await rig.exchange("0A 1700") == ["4:0B01"])
        #expect(try await rig.exchange("0A 1300") == ["4:0B0000"])
        await rig.radio.stop()
    }

    @Test func `a half that is started while the controller is lost is told so, and starts when it is back`()
        async throws
    {
        let rig = try await HostRig()
        rig.controller.end()
        try await rig.wait(for: "state unsupported")
        let error = await #expect(throws: RadioError.self) {
            try await rig.radio.start(DeviceIdentity(name: "Phone"), central: CentralWords())
        }
        #expect(error?.code == .lost)
        #expect(error?.message == "the controller disappeared, and the radio tries to reach it")
        try await until("the radio waits 250 ms before it tries again") {
            rig.clock.pauses.contains(.milliseconds(250))
        }
        rig.clock.advance(by: .milliseconds(250))
        try await rig.wait(for: "recovered")
        try await rig.radio.start(DeviceIdentity(name: "Phone"), central: CentralWords())
        await rig.radio.stop()
    }

    @Test func `two calls of stop end together, and the next start is not theirs to end`() async throws {
        let rig = try await HostRig()
        rig.controller.state.withLock { $0.endsLinks = false }
        rig.controller.connect()
        try await rig.wait(for: "connected F0:F1:F2:F3:F4:F5")
        let first = Task { await rig.radio.stop() }
        try await until("the radio disconnects the central") {
            await rig.radio.look { !$0.linksEnded.isEmpty }
        }
        let second = Task { await rig.radio.stop() }
        try await until("the second call waits") { await rig.radio.waitingStops == 1 }
        let error = await #expect(throws: RadioError.self) {
            _ = try await rig.radio.start(DeviceIdentity(name: "Mynah"), sink: rig.sink)
        }
        #expect(error?.message == "the radio is about to stop")
        rig.controller.disconnect()
        await first.value
        _ = try await rig.radio.start(DeviceIdentity(name: "Mynah"), sink: rig.sink)
        await second.value
        _ = try await rig.radio.publish([ServiceDefinition(uuid: "180F")])
        await rig.radio.stop()
    }

    @Test func `a controller that reports a hardware error is reset, and the device is as it was`()
        async throws
    {
        let rig = try await HostRig()
        var advertisement = Advertisement()
        advertisement.localName = "Mynah"
        _ = try await rig.radio.advertise(advertisement)
        rig.controller.connect()
        rig.controller.state.withLock { $0.commands = [] }
        rig.controller.tell(HCIEvent(HCIEvent.hardwareError, [0xAB]))
        try await until("the radio waits before it looks for the controller") {
            rig.clock.pauses.contains(.milliseconds(250))
        }
        rig.clock.advance(by: .milliseconds(250))
        let address = try #require(await rig.radio.ownAddress)
        try await rig.wait(for: "advertising as \(address)")
        #expect(
            rig.sink.words.suffix(7) == [
                "warning hardwareError", "disconnected",
                "lost: the controller reports the hardware error 171",
                "state unsupported", "state poweredOn", "recovered", "advertising as \(address)",
            ])
        let commands = rig.controller.state.withLock { $0.commands }
        #expect(commands.first?.opcode == .reset)
        #expect(commands.last { $0.opcode == .leSetAdvertisingEnable }?.parameters == [1])
        await rig.radio.stop()
    }

    @Test func `a controller that falls silent is one that is gone`() async throws {
        let rig = try await HostRig()
        rig.controller.state.withLock { $0.silent = [HCIOpcode.leSetAdvertisingParameters.rawValue] }
        let (radio, clock) = (rig.radio, rig.clock)
        async let error = {
            await #expect(throws: RadioError.self) { try await radio.advertise(Advertisement()) }
        }()
        try await rig.wait(for: .command)
        clock.advance(by: .seconds(5))
        #expect(await error?.code == .timedOut)
        try await rig.wait(for: "state unsupported")
        rig.controller.state.withLock { $0.silent = [] }
        try await until("the radio waits 250 ms before it tries again") {
            clock.pauses.contains(.milliseconds(250))
        }
        clock.advance(by: .milliseconds(250))
        try await rig.wait(for: "recovered")
        await radio.stop()
    }

    @Test func `nonsense of a controller changes nothing`() async throws {
        let rig = try await HostRig()
        rig.controller.connect()
        var random = SeededGenerator(seed: 9)
        let receive = rig.controller.state.withLock { $0.receive }
        for _ in 0..<5000 {
            let type = H4PacketType.allCases.randomElement(using: &random) ?? .event
            let count = Int.random(in: 0..<40, using: &random)
            var body = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            // The connection itself stays, so that the last question can be asked.
            if type == .event, let code = body.first, [0x05, 0x3E].contains(code) { body[0] = 0x0E }
            receive?(H4Packet(type, body))
        }
        #expect(try await rig.exchange("0A 1700").last == "4:0B01")
    }

    @Test(arguments: [true, false])
    func `a central that connects or leaves while the advertisement changes does not keep the old bytes`(
        connects: Bool
    ) async throws {
        let rig = try await HostRig()
        if !connects { rig.controller.connect() }
        var advertisement = Advertisement()
        advertisement.localName = "before"
        _ = try await rig.radio.advertise(advertisement)
        let controller = rig.controller
        controller.state.withLock {
            $0.beforeAnswer[HCIOpcode.leSetAdvertisingEnable.rawValue] = {
                if connects { controller.connect() } else { controller.disconnect() }
            }
        }
        advertisement.localName = "after"
        advertisement.interval = .milliseconds(200)
        let report = try await rig.radio.advertise(advertisement)
        try await controller.wait("the controller advertises") { $0.isAdvertising }
        let commands = controller.state.withLock { $0.commands }
        let data = try #require(commands.last { $0.opcode == .leSetAdvertisingData }?.parameters)
        #expect(Array(data.dropFirst().prefix(Int(data[0]))) == report.data)
        let parameters = try #require(commands.last { $0.opcode == .leSetAdvertisingParameters }?.parameters)
        #expect(parameters.prefix(2) == [0x40, 0x01])
        #expect(!rig.sink.words.contains { $0.hasPrefix("warning") })
        await rig.radio.stop()
    }

    @Test func `an advertisement that the controller refused is not switched on by the next link`()
        async throws
    {
        let rig = try await HostRig()
        rig.controller.state.withLock { $0.refused[HCIOpcode.leSetAdvertisingData.rawValue] = 0x12 }
        let error = await #expect(throws: RadioError.self) {
            try await rig.radio.advertise(Advertisement())
        }
        #expect(error?.code == .advertisementRefused)
        #expect(error?.message == "the controller refused setting the advertising data: status 0x12")
        rig.controller.connect()
        try await rig.wait(for: "connected F0:F1:F2:F3:F4:F5")
        rig.controller.disconnect()
        try await rig.wait(for: "disconnected")
        // It answers in order, so what a link event brought would have been sent by now.
        await rig.radio.stopAdvertising()
        #expect(rig.controller.state.withLock { $0.parameters(of: .leSetAdvertisingEnable) } == [])
        await rig.radio.stop()
    }
}
