import Mynah
import MynahCore
import MynahLifecycle
import MynahTestSupport
import Testing

/// Which peripheral a link is to.
@Suite(.timeLimit(.minutes(15))) struct CentralConnectionTests {
    private let radio = FakeCentralRadio()

    private func address(_ value: UInt64, _ kind: DeviceAddress.Kind = .public) -> DeviceAddress {
        DeviceAddress(value: value, kind: kind)
    }

    /// Asks for connections, and returns the events that follow.
    private func connect(
        _ manager: CentralManager, to addresses: [DeviceAddress]
    ) async throws -> (peripherals: [Peripheral], events: AsyncStream<CentralManagerEvent>) {
        try await manager.start()
        let events = await manager.events()
        var peripherals: [Peripheral] = []
        for address in addresses {
            let peripheral = await manager.peripheral(at: address)
            peripherals.append(peripheral)
            try await manager.connect(peripheral)
        }
        if let first = addresses.first {
            try await until("the radio is asked to connect") { await radio.isAsked(for: first) }
        }
        return (peripherals, events)
    }

    private func connected(_ events: AsyncStream<CentralManagerEvent>, count: Int) async -> [Peripheral] {
        var found: [Peripheral] = []
        for await event in events {
            if case .connected(let peripheral, _) = event { found.append(peripheral) }
            if found.count == count { break }
        }
        return found
    }

    @Test func `a link that nobody asked for is ended, and given to nobody`() async throws {
        let manager = CentralManager(radio: radio)
        let (pending, _) = try await connect(manager, to: [address(1), address(2)])
        await radio.connect(Peer(id: .init(3), address: address(3)), asked: address(3))
        try await until("the link is ended") { await radio.ended == [.init(3)] }
        for peripheral in pending { #expect(await peripheral.state == .connecting) }
        #expect(await manager.connectedPeripherals.isEmpty)
        await manager.stop()
    }

    @Test func `a bonded peripheral is told by the request that its link answers`() async throws {
        let manager = CentralManager(radio: radio)
        // Two resolvable private addresses; links are reported by the identities.
        let addresses = [address(0x4000_0000_0001, .random), address(0x4000_0000_0002, .random)]
        let (pending, events) = try await connect(manager, to: addresses)
        await radio.connect(Peer(id: .init(7), address: address(0xA)), asked: addresses[0])
        try await until("the radio is asked for the other") { await radio.isAsked(for: addresses[1]) }
        await radio.connect(Peer(id: .init(8), address: address(0xB)), asked: addresses[1])
        let found = await connected(events, count: 2)
        #expect(found.map(\.address) == addresses)
        #expect(await manager.connectedPeripherals.count == 2)
        for peripheral in pending { #expect(await peripheral.isConnected) }
        await manager.stop()
    }

    @Test func `a pending connection is cancelled`() async throws {
        let manager = CentralManager(radio: radio)
        let (pending, events) = try await connect(manager, to: [address(1)])
        #expect(await pending[0].state == .connecting)
        await manager.cancelPeripheralConnection(pending[0])
        for await case .disconnected(let peripheral, let end) in events {
            #expect(peripheral === pending[0])
            #expect(end.wasPending && end.isLocal && end.error == nil)
            break
        }
        #expect(await pending[0].state == .disconnected)
        try await until("the radio waits for nothing") { await radio.wanted.isEmpty }
        // It may be asked for again at once.
        try await manager.connect(pending[0])
        try await until("the radio is asked again") { await radio.isAsked(for: address(1)) }
        await radio.answer(address(1), link: 1)
        #expect(await pending[0].state == .connected)
        await manager.stop()
    }

    @Test func `a connection that is asked for again while its cancellation is under way is made`()
        async throws
    {
        let manager = CentralManager(radio: radio)
        let (pending, events) = try await connect(manager, to: [address(1)])
        await manager.cancelPeripheralConnection(pending[0])
        try await manager.connect(pending[0])
        try await until("the radio is asked again") {
            if await radio.isAsked(for: address(1)) { await radio.answerAny(address(1)) }
            return await pending[0].isConnected
        }
        #expect(await connected(events, count: 1).count == 1)
        await manager.stop()
    }

    @Test
    func `a call that waits for a connection gives it up when its time is over or its task is cancelled`()
        async throws
    {
        let manager = CentralManager(radio: radio)
        try await manager.start()
        let peripheral = await manager.peripheral(at: address(1))
        let error = await #expect(throws: RadioError.self) {
            try await manager.connect(peripheral, timeout: .milliseconds(1))
        }
        #expect(error?.code == .timedOut)
        #expect(error?.message.contains("did not answer within") == true)
        let task = Task { try await manager.connect(peripheral, timeout: nil) }
        try await until("it is connecting") { await peripheral.state == .connecting }
        task.cancel()
        await #expect(throws: RadioError.self) { try await task.value }
        #expect(await peripheral.state == .disconnected)
        try await until("the radio waits for nothing") { await radio.wanted.isEmpty }
        await manager.stop()
    }

    @Test func `a connection that the radio refuses fails, for the call that waits too`() async throws {
        let manager = CentralManager(radio: radio)
        let (pending, events) = try await connect(manager, to: [address(1)])
        let waiting = Task { try await manager.connect(pending[0], timeout: nil) }
        try await until("two wait") { await pending[0].state == .connecting }
        await radio.refuse(address(1), RadioError(.unsupported, "no"))
        for await case .failedToConnect(let peripheral, let error) in events {
            #expect(peripheral === pending[0] && error.code == .unsupported)
            break
        }
        // It may have begun to wait only now, and asked again.
        try await until("the call has ended, or asks again") {
            if await radio.isAsked(for: address(1)) {
                await radio.refuse(address(1), RadioError(.unsupported, "no"))
            }
            return await pending[0].state == .disconnected
        }
        await #expect(throws: RadioError.self) { try await waiting.value }
        await manager.stop()
    }

    @Test func `when the radio is gone its connections end, and what waits fails with the reason`()
        async throws
    {
        let manager = CentralManager(radio: radio)
        let (pending, events) = try await connect(manager, to: [address(1)])
        let peripheral = await manager.peripheral(at: address(2))
        let waiting = Task { try await manager.connect(peripheral, timeout: nil) }
        try await until("it waits") { await peripheral.state == .connecting }
        await radio.simulate(.lost(RadioError(.lost, "unplugged")))
        await radio.simulate(.stateChanged(.unsupported))
        let error = await #expect(throws: RadioError.self) { try await waiting.value }
        #expect(error?.message == "unplugged")
        #expect(await pending[0].state == .disconnected)
        await #expect(throws: RadioError.self) { try await manager.connect(peripheral) }
        await radio.simulate(.stateChanged(.poweredOn))
        await radio.simulate(.recovered)
        var words: [String] = []
        for await event in events {
            switch event {
            case .lost: words.append("lost")
            case .stateChanged(let state): words.append("\(state)")
            case .recovered: words.append("recovered")
            default: words.append("other")
            }
            if words.last == "recovered" { break }
        }
        #expect(words == ["lost", "unsupported", "poweredOn", "recovered"])
        await manager.stop()
    }

    @Test func `every reader of a central manager's events gets them`() async throws {
        let manager = CentralManager(radio: radio)
        let first = await manager.events()
        let second = await manager.events()
        try await manager.start()
        await manager.stop()
        for events in [first, second] {
            var states: [RadioState] = []
            for await case .stateChanged(let state) in events { states.append(state) }
            #expect(states == [.poweredOn])
        }
    }
}
