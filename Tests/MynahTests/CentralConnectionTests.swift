import Mynah
import MynahCore
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
            Task { try await manager.connect(peripheral) }
            try await until("the radio is asked to connect") { await radio.wanted.last == address }
        }
        return (peripherals, events)
    }

    private func connected(_ events: AsyncStream<CentralManagerEvent>, count: Int) async -> [Peripheral] {
        var found: [Peripheral] = []
        for await event in events {
            if case .connected(let peripheral) = event { found.append(peripheral) }
            if found.count == count { break }
        }
        return found
    }

    @Test func `a link to a third address is not given to one that is waited for`() async throws {
        let manager = CentralManager(radio: radio)
        let (pending, events) = try await connect(manager, to: [address(1), address(2)])
        await radio.simulate(.connected(Peer(id: .init(3), address: address(3))))
        let found = await connected(events, count: 1)
        #expect(found.map(\.address) == [address(3)])
        for peripheral in pending { #expect(await !peripheral.isConnected) }
        await manager.stop()
    }

    @Test func `a bonded peripheral is told by the request that its link answers`() async throws {
        let manager = CentralManager(radio: radio)
        // Two resolvable private addresses; links are reported by the identities.
        let addresses = [address(0x4000_0000_0001, .random), address(0x4000_0000_0002, .random)]
        let (pending, events) = try await connect(manager, to: addresses)
        await radio.connect(Peer(id: .init(8), address: address(0xB)), asked: addresses[1])
        await radio.connect(Peer(id: .init(7), address: address(0xA)), asked: addresses[0])
        let found = await connected(events, count: 2)
        #expect(found.map(\.address) == [addresses[1], addresses[0]])
        #expect(await manager.connectedPeripherals.count == 2)
        for peripheral in pending { #expect(await peripheral.isConnected) }
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
