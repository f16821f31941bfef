import Mynah
import MynahCore
import MynahEmulator
import MynahHCI
import MynahLifecycle
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// A test's requests to a device on our own host, as a phone on the same air sees them.
@Suite(.timeLimit(.minutes(15))) struct ControlOnHostTests {
    private static let profile = """
        mynah: 1
        name: Test
        advertising: {serviceUUIDs: [180D]}
        services:
          - uuid: 180D
            characteristics:
              - {uuid: 2A37, properties: [read, notify], value: {hex: 0048}}
              - {uuid: 2A38, properties: [read], value: {hex: 01}}
              - {uuid: 2A39, properties: [read, write], permissions: {read: encrypted}, value: {hex: 00}}
        """

    /// Keeps what the phone's manager reports, in words.
    private final class Words: CentralManagerSink {
        private let words = Lock<[String]>([])

        func handle(_ event: CentralManagerEvent) -> RadioAnswer {
            let word: String? =
                switch event {
                case .stateChanged(let state): "state \(state)"
                case .connected: "connected"
                case .disconnected(_, let end): "disconnected: \(end.error?.message ?? "")"
                case .valueUpdated(let update): "value \(Hex.encode(update.value))"
                case .discovered(let found): "discovered \(found.advertisement.localName ?? "")"
                default: nil
                }
            if let word { words.withLock { $0.append(word) } }
            return .none
        }

        var all: [String] { words.withLock { $0 } }

        func wait(for word: String, count: Int = 1) async throws {
            try await until("the phone has \"\(word)\" \(count) times: \(all)") {
                all.count { $0 == word } >= count
            }
        }
    }

    private let rig: CentralRig
    private let words = Words()
    private let phone: Phone
    private let manager: CentralManager
    private let emulator: Emulator

    init() async throws {
        rig = try await CentralRig(starts: false)
        let device = EmulatedDevice(try ProfileLoader.load(text: Self.profile, file: "test.yaml"), seed: 1)
        emulator = Emulator([device], on: rig.device, clock: ContinuousClock())
        phone = Phone(radio: rig.phone, identity: DeviceIdentity(name: "iPhone"))
        manager = try await phone.makeCentralManager(sink: words)
    }

    private func connect() async throws -> (Peripheral, [String: DiscoveredCharacteristic]) {
        let strap = await manager.peripheral(at: rig.address)
        try await manager.connect(strap, timeout: nil)
        let services = try await strap.discoverAll()
        let found = services.flatMap(\.characteristics).map { ($0.uuid.description, $0) }
        return (strap, Dictionary(found) { first, _ in first })
    }

    private func start() async throws {
        try await emulator.start()
        try await phone.start()
        try await manager.start()
    }

    private func stop() async {
        await emulator.stop()
        await phone.stop()
    }

    @Test func `a phone reads and is sent the values that are set, and sees its link end`() async throws {
        try await start()
        let (strap, found) = try await connect()
        let (rate, location) = (try #require(found["2A37"]), try #require(found["2A38"]))
        let names = (
            rate: try AttributeName(parsing: "2A37"), location: try AttributeName(parsing: "@\(location.id)")
        )
        _ = try await emulator.setValue(.bytes([0, 99]), of: names.rate, in: "Test")
        _ = try await emulator.setValue(.bytes([2]), of: names.location, in: "Test")
        #expect(try await strap.readValue(for: rate) == [0, 99])
        #expect(try await strap.readValue(for: location) == [2])
        #expect(
            try await emulator.setValue(.bytes([0, 1]), of: names.rate, in: "Test", notify: true).sent == 0)
        try await strap.setNotifyValue(true, for: rate)
        #expect(
            try await emulator.setValue(.bytes([0, 100]), of: names.rate, in: "Test", notify: true).sent == 1)
        try await words.wait(for: "value 0064")
        let snapshot = try #require(await emulator.snapshot(of: "Test"))
        #expect(snapshot.centrals.map(\.name) == [rig.phoneAddress.description])
        #expect(snapshot.centrals.map(\.mtu) == [517])
        #expect(snapshot.centrals.map(\.isEncrypted) == [false])
        #expect(snapshot.centrals.map(\.subscriptions) == [["180D/2A37"]])
        #expect(snapshot.attributes.map(\.handle) == [rate.id, location.id, found["2A39"]?.id])
        try await emulator.disconnect(
            central: rig.phoneAddress.description, reason: 0x15, from: "Test")
        #expect(await emulator.snapshot(of: "Test")?.centrals == [])
        try await words.wait(for: "disconnected: the link ended: reason 0x15")
        #expect(!words.all.contains("value 0001"))
        await stop()
    }

    @Test func `a device is connectable and as new to the phone as soon as a reset returns`() async throws {
        try await start()
        let (strap, found) = try await connect()
        try await strap.pair()
        let control = try #require(found["2A39"])
        _ = try await strap.writeValue([7], for: control, type: .withResponse)
        #expect(try await strap.readValue(for: control) == [7])
        let before = try #require(await emulator.snapshot(of: "Test"))
        #expect(before.centrals.map(\.isEncrypted) == [true])
        #expect(before.centrals.map(\.isBonded) == [true])
        _ = try await emulator.setValue(.bytes([2]), of: try AttributeName(parsing: "2A38"), in: "Test")
        _ = try await emulator.advertise(AdvertisingChange(isOn: false), for: "Test")
        try await emulator.reset()
        let after = try #require(await emulator.snapshot(of: "Test"))
        #expect(after.centrals == [])
        #expect(after.advertising.isOn)
        #expect(after.attributes.map(\.value) == [[0, 0x48], [1], [0]])
        try await words.wait(for: "disconnected: the peripheral ended the link")
        #expect(await strap.forgetBond())
        try await manager.connect(strap, timeout: nil)
        #expect(await emulator.snapshot(of: "Test")?.centrals.map(\.isBonded) == [false])
        try await strap.discoverAll()
        let again = try #require(await strap.characteristic("2A39"))
        try await strap.pair()
        #expect(try await strap.readValue(for: again) == [0])
        await stop()
    }

    @Test func `a phone that connects again at once reads the values of the start`() async throws {
        try await start()
        let (strap, found) = try await connect()
        let rate = try #require(found["2A37"])
        _ = try await emulator.setValue(.bytes([9]), of: try AttributeName(parsing: "2A37"), in: "Test")
        async let reset: Void = emulator.reset()
        try await words.wait(for: "disconnected: the peripheral ended the link")
        try await manager.connect(strap, timeout: nil)
        #expect(try await strap.readValue(for: rate) == [0, 0x48])
        try await reset
        // The new link is none of the reset's.
        #expect(await strap.isConnected)
        await stop()
    }

    @Test func `a reset turns Bluetooth on again`() async throws {
        try await start()
        await emulator.carryOut(.setPower(false))
        #expect(await emulator.snapshot(of: "Test")?.state == .poweredOff)
        await #expect(throws: ControlRefusal.conflict("Bluetooth is poweredOff")) {
            try await emulator.reset(.connections)
        }
        try await emulator.reset()
        let snapshot = try #require(await emulator.snapshot(of: "Test"))
        #expect(snapshot.state == .poweredOn && snapshot.advertising.isOn)
        _ = try await connect()
        #expect(await emulator.snapshot(of: "Test")?.centrals.count == 1)
        await stop()
    }

    @Test func `a phone hears what a test has the device advertise`() async throws {
        try await start()
        _ = try await emulator.advertise(AdvertisingChange(localName: "Other"), for: "Test")
        try await manager.scanForPeripherals(withServices: ["180D"])
        try await words.wait(for: "discovered Other")
        #expect(await emulator.snapshot(of: "Test")?.advertising.isOn == true)
        await manager.stopScan()
        await stop()
    }
}
