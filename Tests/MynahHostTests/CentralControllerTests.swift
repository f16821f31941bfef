import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// Our central on a controller that a test plays.
@Suite(.timeLimit(.minutes(15))) struct CentralControllerTests {
    private func radio(_ controller: ScriptedController, _ clock: ManualClock) -> HostRadio {
        HostRadio(
            transport: controller,
            clock: clock)
    }

    @Test func `a controller that was lost listens again when it is there`() async throws {
        let (controller, clock, sink) = (ScriptedController(), ManualClock(), CentralWords())
        let radio = radio(controller, clock)
        try await radio.start(DeviceIdentity(name: "Phone"), central: sink)
        try await radio.scan(ScanOptions())
        let wanted = Task {
            try await radio.connect(
                try #require(DeviceAddress(littleEndian: [1, 2, 3, 4, 5, 6], kind: .random)), timeout: nil)
        }
        try await controller.wait("the host begins to connect") {
            $0.commands.contains { $0.opcode == .leExtendedCreateConnection }
        }
        controller.end()
        await #expect { try await wanted.value } throws: { ($0 as? RadioError)?.code == .lost }
        try await sink.wait(for: "lost")
        try await until("the radio waits before it looks for the controller") {
            clock.pauses.contains(.milliseconds(250))
        }
        clock.advance(by: .milliseconds(250))
        try await sink.wait(for: "recovered")
        let enables = controller.state.withLock { $0.parameters(of: .leSetExtendedScanEnable) }
        #expect(enables == [[1, 1, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0]])
        await radio.stop()
    }

    @Test func `indications that come faster than they can be confirmed hold up no request`() async throws {
        let (controller, clock) = (ScriptedController(), ManualClock())
        let radio = radio(controller, clock)
        _ = try await radio.start(DeviceIdentity(name: "Device"), sink: HostSink())
        controller.state.withLock { $0.completesData = false }
        controller.connect()
        for _ in 0..<3 * DataQueue.limit { controller.receive([0x1D, 0x0C, 0x00, 0x01]) }
        try await until("the indications are taken") {
            await radio.look { $0.acl.outbound.queue.count } >= 1000
        }
        let asked = Task { try? await radio.discoverServices(nil, of: Peer.ID(1)) }
        try await until("the request is sent") {
            controller.complete(0x40)
            return controller.state.withLock { $0.sent().contains { $0.hasPrefix("4:10") } }
        }
        #expect(controller.state.withLock { $0.sent().contains("4:1E") })
        controller.disconnect()
        #expect(await asked.value == nil)
        await radio.stop()
    }

    @Test func `a scan that the controller refuses is told, and none is on`() async throws {
        let (controller, sink) = (ScriptedController(), CentralWords())
        let radio = radio(controller, ManualClock())
        try await radio.start(DeviceIdentity(name: "Phone"), central: sink)
        controller.state.withLock { $0.refused[HCIOpcode.leSetExtendedScanEnable.rawValue] = 0x0C }
        await #expect(throws: RadioError.self) { try await radio.scan(ScanOptions()) }
        #expect(await radio.session.scanner.wanted == nil)
        await radio.stop()
    }

    @Test func `a connection that the controller refuses is told, and the next has its turn`() async throws {
        let (controller, sink) = (ScriptedController(), CentralWords())
        let radio = radio(controller, ManualClock())
        try await radio.start(DeviceIdentity(name: "Phone"), central: sink)
        controller.state.withLock { $0.refused[HCIOpcode.leExtendedCreateConnection.rawValue] = 0x0C }
        for _ in 0..<2 {
            await #expect(throws: RadioError.self) {
                try await radio.connect(
                    try #require(DeviceAddress(littleEndian: [1, 2, 3, 4, 5, 6], kind: .random)), timeout: nil
                )
            }
        }
        await radio.stop()
    }

    @Test func `reports in pieces are put together, and no more than fits is held`() throws {
        var assembler = ReportAssembler()
        let address = try #require(DeviceAddress("C0:00:00:00:00:01", kind: .public))
        func report(_ data: [UInt8], _ progress: LEAdvertisingReport.Progress, set: UInt8 = 1)
            -> LEAdvertisingReport
        {
            LEAdvertisingReport(
                kind: .nonConnectable, address: address, data: data, isExtended: true, set: set,
                progress: progress)
        }
        #expect(assembler.add(report([1, 2], .more)) == nil)
        #expect(assembler.add(report([9], .complete, set: 2))?.data == [9])
        #expect(assembler.add(report([3], .complete))?.data == [1, 2, 3])
        #expect(assembler.add(report([4], .more)) == nil)
        #expect(assembler.add(report([], .truncated))?.data == [4])
        #expect(assembler.count == 0)
        var longest = 0
        for _ in 0..<100 {
            longest = max(
                longest, assembler.add(report(Array(repeating: 0, count: 229), .more))?.data.count ?? 0)
        }
        #expect(longest == ReportAssembler.limit)
        for number in 0..<200 {
            let sender = try #require(
                DeviceAddress(littleEndian: [UInt8(number), 0, 0, 0, 0, 0], kind: .public))
            _ = assembler.add(
                LEAdvertisingReport(
                    kind: .nonConnectable, address: sender, data: [1], isExtended: true, progress: .more))
        }
        #expect(assembler.count <= ReportAssembler.senderLimit)
    }

    @Test func `a link is told of when the peripheral is heard on it, and is tried again until then`()
        async throws
    {
        let (controller, sink) = (ScriptedController(), CentralWords())
        controller.state.withLock { $0.featureStatus = nil }
        let radio = radio(controller, ManualClock())
        try await radio.start(DeviceIdentity(name: "Phone"), central: sink)
        let address = try #require(
            DeviceAddress(littleEndian: [0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0], kind: .random))
        func begin(_ count: Int) async throws {
            try await controller.wait("the host has begun to connect \(count) times") {
                $0.commands.count { $0.opcode == .leExtendedCreateConnection } == count
            }
            controller.tell(
                HCIEvent(
                    HCIEvent.leMeta,
                    [0x01, 0, 0x40, 0, 0, 1, 0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0, 0x18, 0, 0, 0, 0x48, 0, 0]))
        }
        let connecting = Task { try await radio.connect(address, timeout: nil) }
        try await begin(1)
        controller.tell(HCIEvent(HCIEvent.disconnectionComplete, [0, 0x40, 0, 0x3E]))
        try await begin(2)
        // It says something of itself.
        controller.receive([0x03, 0x17, 0x00])
        let peer = try await connecting.value
        await radio.disconnect(peer.id)
        // Its controller does not know the request.
        controller.state.withLock { $0.featureStatus = 0x1A }
        let second = Task { try await radio.connect(address, timeout: nil) }
        try await begin(3)
        _ = try await second.value
        controller.tell(HCIEvent(HCIEvent.disconnectionComplete, [0, 0x40, 0, 0x3E]))
        // Another end than that of a link that never was is no reason to try again.
        controller.state.withLock { $0.featureStatus = nil }
        let third = Task { try await radio.connect(address, timeout: nil) }
        try await begin(4)
        controller.tell(HCIEvent(HCIEvent.disconnectionComplete, [0, 0x40, 0, 0x3D]))
        await #expect(throws: RadioError.self) { _ = try await third.value }
        await radio.stop()
    }

    /// Connects the host to a peripheral, and returns when it has asked for the MTU.
    private func connect(_ radio: HostRadio, _ controller: ScriptedController) async throws {
        let address = try #require(
            DeviceAddress(littleEndian: [0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0], kind: .random))
        let connecting = Task { try await radio.connect(address, timeout: nil) }
        try await controller.wait("the host begins to connect") {
            $0.commands.contains { $0.opcode == .leExtendedCreateConnection }
        }
        controller.tell(
            HCIEvent(
                HCIEvent.leMeta,
                [0x01, 0, 0x40, 0, 0, 1, 0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0, 0x18, 0, 0, 0, 0x48, 0, 0]))
        _ = try await connecting.value
        try await controller.wait("the host has asked for the MTU and nothing else") {
            $0.sent() == ["4:020502"]
        }
    }

    @Test func `a peripheral may ask to meet less often, within reason`() async throws {
        let (controller, sink) = (ScriptedController(), CentralWords())
        let radio = radio(controller, ManualClock())
        try await radio.start(DeviceIdentity(name: "Phone"), central: sink)
        try await connect(radio, controller)
        controller.receive([0x12, 7, 8, 0, 24, 0, 40, 0, 4, 0, 0x90, 1], on: 5)
        controller.receive([0x12, 8, 8, 0, 1, 0, 40, 0, 4, 0, 0x90, 1], on: 5)
        try await controller.wait("the host has sent three PDUs") { $0.sent().count == 3 }
        #expect(controller.state.withLock { $0.sent() }.dropFirst() == ["5:130702000000", "5:130802000100"])
        try await controller.wait("the host updates the connection parameters") {
            $0.commands.contains { $0.opcode == .leConnectionUpdate }
        }
        // The link layer asks in its own way.
        controller.tell(HCIEvent(HCIEvent.leMeta, [0x06, 0x40, 0, 24, 0, 40, 0, 4, 0, 0x90, 1]))
        controller.tell(HCIEvent(HCIEvent.leMeta, [0x06, 0x40, 0, 1, 0, 40, 0, 4, 0, 0x90, 1]))
        try await controller.wait(
            "the host accepts one request for connection parameters and refuses the other"
        ) { state in
            !state.parameters(of: .leRemoteConnectionParameterRequestReply).isEmpty
                && state.parameters(of: .leRemoteConnectionParameterRequestNegativeReply) == [
                    [0x40, 0, 0x3B]
                ]
        }
        await radio.stop()
    }

    @Test func `an iPhone answers both requests for connection parameters by its rules`() async throws {
        let (controller, sink) = (ScriptedController(), CentralWords())
        let radio = radio(controller, ManualClock())
        var phone = DeviceIdentity(name: "Phone")
        phone.parameterRules = ConnectionParameterRules(IOSVersion(17).parameterLimits)
        try await radio.start(phone, central: sink)
        try await connect(radio, controller)
        // Latencies of 31 and 30.
        controller.receive([0x12, 7, 8, 0, 24, 0, 36, 0, 31, 0, 0x58, 2], on: 5)
        controller.receive([0x12, 8, 8, 0, 24, 0, 36, 0, 30, 0, 0x58, 2], on: 5)
        controller.tell(HCIEvent(HCIEvent.leMeta, [0x06, 0x40, 0, 24, 0, 36, 0, 31, 0, 0x58, 2]))
        controller.tell(HCIEvent(HCIEvent.leMeta, [0x06, 0x40, 0, 24, 0, 36, 0, 30, 0, 0x58, 2]))
        // The controller updates the connection; then it fails to.
        controller.tell(HCIEvent(HCIEvent.leMeta, [0x03, 0, 0x40, 0, 36, 0, 30, 0, 0x58, 2]))
        controller.tell(HCIEvent(HCIEvent.leMeta, [0x03, 0x3B, 0x40, 0, 24, 0, 0, 0, 0x58, 2]))
        try await sink.wait(for: "interval 36")
        let words = sink.words.filter { word in
            ["l2cap", "linkLayer", "interval"].contains { word.hasPrefix($0) }
        }
        #expect(
            words == [
                "l2cap latency", "l2cap accepted", "linkLayer latency", "linkLayer accepted", "interval 36",
            ])
        let state = controller.state.withLock { $0 }
        #expect(state.sent().suffix(2) == ["5:130702000100", "5:130802000000"])
        #expect(state.parameters(of: .leRemoteConnectionParameterRequestReply).count == 1)
        #expect(
            state.parameters(of: .leRemoteConnectionParameterRequestNegativeReply) == [[0x40, 0, 0x3B]])
        await radio.stop()
    }

    @Test(arguments: [true, false])
    func `commands that a controller does not list are not sent to it`(lists: Bool) async throws {
        let (controller, sink) = (ScriptedController(), CentralWords())
        // LE Connection Update and LE Read Remote Features are bits 2 and 5 of octet 27 (Vol 4, Part E,
        // 6.27).
        var commands = [UInt8](repeating: 0xFF, count: 64)
        if !lists { commands[27] = 0xDB }
        controller.state.withLock { $0.supportedCommands = commands }
        let radio = radio(controller, ManualClock())
        try await radio.start(DeviceIdentity(name: "Phone"), central: sink)
        try await connect(radio, controller)
        controller.receive([0x12, 7, 8, 0, 24, 0, 40, 0, 4, 0, 0x90, 1], on: 5)
        try await controller.wait("the host has sent two PDUs") { $0.sent().count == 2 }
        // Accepted, or refused.
        #expect(controller.state.withLock { $0.sent().last } == "5:13070200\(lists ? "0000" : "0100")")
        if lists {
            try await controller.wait("the host updates the connection parameters") {
                $0.commands.contains { $0.opcode == .leConnectionUpdate }
            }
        }
        await radio.stop()
        let sent = controller.state.withLock { Set($0.commands.map(\.opcode)) }
        #expect(sent.contains(.leReadRemoteFeatures) == lists)
        #expect(sent.contains(.leConnectionUpdate) == lists)
        let never: Set<HCIOpcode> = [.setControllerToHostFlowControl, .hostBufferSize, .leSetPHY]
        #expect(sent.isDisjoint(with: never))
    }
}
