import Mynah
import MynahCore
import MynahHCI
import MynahLifecycle
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// Many pending connections of one phone, over the air of one process.
@Suite(.timeLimit(.minutes(15))) struct PendingConnectionTests {
    private final class Sink: CentralManagerSink {
        private let state = Lock<(connected: Set<DeviceAddress>, warnings: [String])>(([], []))

        func handle(_ event: CentralManagerEvent) -> RadioAnswer {
            state.withLock { state in
                switch event {
                case .connected(let peripheral, _): state.connected.insert(peripheral.address)
                case .warning(let warning): state.warnings.append(warning.code)
                default: break
                }
            }
            return .none
        }

        var connected: Set<DeviceAddress> { state.withLock { $0.connected } }
        var warnings: [String] { state.withLock { $0.warnings } }
    }

    private let air = LiveAir(seed: 3)
    private let sink = Sink()

    private func address(_ number: Int) -> DeviceAddress {
        DeviceAddress(value: 0xC000_0000_0000 + UInt64(number), kind: .public)
    }

    /// A central that waits for devices, of which none is on the air.
    private func central(links: Int, waitingFor count: Int) async throws -> CentralManager {
        var configuration = ControllerConfiguration(address: address(100))
        configuration.linkCount = links
        let manager = CentralManager(
            radio: HostRadio(transport: air.transport(configuration)), sink: sink)
        try await manager.start()
        for number in 1...count {
            try await manager.connect(await manager.peripheral(at: address(number)))
        }
        return manager
    }

    private func appear(_ number: Int) async throws -> HostRadio {
        let device = HostRadio(
            transport: air.transport(ControllerConfiguration(address: address(number))))
        _ = try await device.start(DeviceIdentity(name: "Mynah"), sink: HostSink())
        var advertisement = Advertisement()
        advertisement.interval = .milliseconds(20)
        _ = try await device.advertise(advertisement)
        return device
    }

    @Test func `twelve pending connections complete as their devices appear`() async throws {
        let manager = try await central(links: 16, waitingFor: 12)
        var devices: [HostRadio] = []
        for number in [7, 3, 12, 1, 9, 5, 2, 11, 4, 10, 6, 8] {
            devices.append(try await appear(number))
            let address = address(number)
            try await until("device \(number) is connected") { sink.connected.contains(address) }
            #expect(sink.connected.count == devices.count)
        }
        #expect(sink.warnings == [])
        await manager.stop()
        for device in devices { await device.stop() }
    }

    @Test func `a device beyond the controller's links is connected when a link has ended`() async throws {
        let manager = try await central(links: 3, waitingFor: 5)
        var devices: [HostRadio] = []
        for number in 1...5 { devices.append(try await appear(number)) }
        try await until("the phone warns") { sink.warnings.contains("linksExhausted") }
        #expect(await manager.connectedPeripherals.count <= 3)
        try await until("each has been connected") {
            if let held = await manager.connectedPeripherals.first {
                await manager.cancelPeripheralConnection(held)
            }
            return sink.connected.count == 5
        }
        await manager.stop()
        for device in devices { await device.stop() }
    }
}
