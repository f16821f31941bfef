import Mynah
import MynahCore
import MynahHCI
import MynahHost
import MynahSupport
import MynahTestSupport
import Testing

/// A phone that a test holds, with at most one device that it is connected to.
final class TestPhone: CentralManagerSink {
    private let manager: Lock<CentralManager?>
    private let device = Lock<Peripheral?>(nil)
    /// The values that devices have sent.
    let values = Mailbox<[UInt8]>("values of a device")
    private let isLinked = Lock(false)

    /// Starts a phone on an air; its address is `C0:00:00:00:00:01` or one with another number.
    init(on air: LiveAir, number: UInt8 = 1) async throws {
        manager = Lock(nil)
        let address = DeviceAddress(value: 0xC000_0000_0000 + UInt64(number), kind: .public)
        let configuration = ControllerConfiguration(address: address, cipher: ControllerConfiguration.aes)
        let manager = CentralManager(
            radio: HostRadio(transport: air.transport(configuration)),
            identity: DeviceIdentity(name: "Phone"), sink: self)
        self.manager.withLock { $0 = manager }
        try await manager.start()
    }

    func handle(_ event: CentralManagerEvent) -> RadioAnswer {
        switch event {
        case .valueUpdated(let update): values.put(update.value)
        case .connected: isLinked.withLock { $0 = true }
        case .disconnected: isLinked.withLock { $0 = false }
        default: break
        }
        return .none
    }

    /// Whether it is connected to a device.
    var isConnected: Bool { isLinked.withLock { $0 } }

    private var peripheral: Peripheral {
        get throws { try #require(device.withLock { $0 }, "the phone is not connected") }
    }

    /// Connects to the device at an address, which knows of the link when this returns.
    func connect(to text: String) async throws {
        let manager = try #require(manager.withLock { $0 })
        let address = try #require(DeviceAddress(text, kind: .random))
        let peripheral = await manager.peripheral(at: address)
        device.withLock { $0 = peripheral }
        try await manager.connect(peripheral, timeout: waitLimit)
        try await peripheral.discoverAll()
    }

    /// Negotiates the MTU and returns it.
    func exchangeMTU() async throws -> Int { try await peripheral.exchangeMTU() }

    /// Pairs with the device.
    func pair() async throws { try await peripheral.pair() }

    func subscribe(_ uuid: BluetoothUUID) async throws {
        try await peripheral.setNotifyValue(true, for: try await characteristic(uuid))
    }

    /// Writes a value; returns the error that the device answers with, or `nil`.
    @discardableResult
    func write(_ value: [UInt8], to uuid: BluetoothUUID = "2A39") async throws -> ATTError? {
        let (peripheral, characteristic) = (try peripheral, try await characteristic(uuid))
        do throws(RequestError) {
            _ = try await peripheral.writeValue(value, for: characteristic, type: .withResponse)
            return nil
        } catch {
            guard case .refused(let error) = error else { throw error }
            return error
        }
    }

    /// Reads a value, or the error that the device answers with.
    func read(_ uuid: BluetoothUUID) async throws -> Result<[UInt8], ATTError> {
        let (peripheral, characteristic) = (try peripheral, try await characteristic(uuid))
        do throws(RequestError) {
            return .success(try await peripheral.readValue(for: characteristic))
        } catch {
            guard case .refused(let error) = error else { throw error }
            return .failure(error)
        }
    }

    private func characteristic(_ uuid: BluetoothUUID) async throws -> DiscoveredCharacteristic {
        let all = await (try peripheral).services.flatMap(\.characteristics)
        return try #require(all.first { $0.uuid == uuid })
    }

    func stop() async { await manager.withLock { $0 }?.stop() }
}
