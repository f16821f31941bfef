import MynahCore
import MynahLifecycle
import MynahSupport
import MynahTestSupport
import Testing

@testable import Mynah

/// How a phone listens for the devices that its managers wait for, on a radio without air.
@Suite(.timeLimit(.minutes(15))) struct PhoneConnectorTests {
    /// Keeps the codes of warnings, and the peripherals that are connected.
    private final class Sink: CentralManagerSink {
        let warnings = Lock<[String]>([])
        let connected = Lock<[DeviceAddress]>([])

        func handle(_ event: CentralManagerEvent) -> RadioAnswer {
            switch event {
            case .warning(let warning): warnings.withLock { $0.append(warning.code) }
            case .connected(let peripheral, _): connected.withLock { $0.append(peripheral.address) }
            default: break
            }
            return .none
        }
    }

    private let radio = FakeCentralRadio()
    private let sink = Sink()
    private let first = DeviceAddress(value: 1, kind: .public)
    private let second = DeviceAddress(value: 2, kind: .public)
    private let resolvable = DeviceAddress(value: 0x4000_0000_0001, kind: .random)

    private func manager(waitingFor addresses: [DeviceAddress]) async throws -> CentralManager {
        let manager = CentralManager(radio: radio, sink: sink)
        try await manager.start()
        for address in addresses { try await manager.connect(await manager.peripheral(at: address)) }
        return manager
    }

    // MARK: Which device a link is to

    private static func address(_ value: UInt64, isPrivate: Bool = false) -> DeviceAddress {
        // The two highest bits of a resolvable private address are 01.
        isPrivate
            ? DeviceAddress(value: 0x4000_0000_0000 | value, kind: .random)
            : DeviceAddress(value: value, kind: .public)
    }

    /// The link's address, the one that the radio was asked for, and the one that the link is to.
    private static let cases: [(DeviceAddress?, DeviceAddress?, DeviceAddress?)] = [
        (address(2), address(2), address(2)), (address(3), address(1), address(3)),
        (address(3), nil, address(3)), (nil, address(1), address(1)), (nil, nil, nil),
        (address(7), address(1, isPrivate: true), address(1, isPrivate: true)),
        (address(1, isPrivate: true), address(1, isPrivate: true), address(1, isPrivate: true)),
        (address(2, isPrivate: true), address(1, isPrivate: true), address(2, isPrivate: true)),
    ]

    @Test(arguments: cases)
    func `a link is to the device of its address, or to the one that was asked for`(
        own: DeviceAddress?, asked: DeviceAddress?, device: DeviceAddress?
    ) {
        #expect(Peer(id: .init(1), address: own).answers(asked) == device)
    }

    @Test func `a bonded device that is named by a private address is heard by its identity address`()
        async throws
    {
        await radio.know(resolvable, as: first)
        let manager = try await manager(waitingFor: [resolvable])
        try await until("the radio is asked for the identity address") { await radio.isAsked(for: first) }
        await radio.answerAny(first)
        try await until("the device is connected") { sink.connected.withLock { $0 } == [resolvable] }
        #expect(await manager.peripheral(at: first).isConnected)
        await manager.stop()
    }

    // MARK: Listening

    @Test func `a pending connection costs listening alone, as fast as its app is near the foreground`()
        async throws
    {
        let code = CentralApp("id")
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "iPhone"))
        var rules = AppRules()
        rules.backgroundModes = [.bluetoothCentral]
        let app = await phone.makeApp(
            AppDescription(name: "test", rules: rules), delegate: code, clock: ManualClock())
        await app.enterForeground()
        try await phone.start()
        try await until("Bluetooth is on") { code.state.withLock { $0.words.contains("state poweredOn") } }
        let manager = try #require(code.manager)
        try await manager.connect(await manager.peripheral(at: first))
        func listening(_ interval: Int) -> ScanOptions {
            ScanOptions(isActive: false, interval: .milliseconds(interval), window: .milliseconds(30))
        }
        try await until("it listens in the foreground") { await radio.scanning == listening(40) }
        #expect(await radio.wanted.isEmpty)
        await app.suspend()
        try await until("it listens in the background") { await radio.scanning == listening(300) }
        #expect(await radio.isAsked(for: second) == false)
        await radio.answer(first, link: 1)
        try await until("it listens no more") { await radio.scanning == nil }
        await phone.stop()
    }

    @Test func `a connection that is cancelled while the radio initiates is not made`() async throws {
        let manager = try await manager(waitingFor: [first, second])
        try await until("the radio initiates") { await radio.isAsked(for: first) }
        await manager.cancelPeripheralConnection(await manager.peripheral(at: first))
        try await until("the radio initiates no more") { await radio.wanted.isEmpty }
        await radio.answer(second, link: 2)
        #expect(sink.connected.withLock { $0 } == [second])
        // A link that was made before the radio took the cancellation is ended.
        await radio.simulate(.connected(Peer(id: .init(7), address: first)))
        try await until("the late link is ended") { await radio.ended == [.init(7)] }
        await manager.stop()
    }

    @Test(arguments: [RadioError.Code.timedOut, .disconnected])
    func `a device that did not answer, or whose link did not come about, is listened for again`(
        code: RadioError.Code
    ) async throws {
        let manager = try await manager(waitingFor: [first])
        try await until("the radio initiates") { await radio.isAsked(for: first) }
        await radio.refuse(first, RadioError(code, "no link"))
        await radio.answer(first, link: 1)
        #expect(sink.connected.withLock { $0 } == [first])
        await manager.stop()
    }

    @Test func `a device beyond the controller's links is warned of, and connected when a link has ended`()
        async throws
    {
        let manager = try await manager(waitingFor: [first, second])
        await radio.answer(first, link: 1)
        try await until("the radio initiates") { await radio.isAsked(for: second) }
        await radio.refuse(second, RadioError(.connectionLimit, "no room"))
        try await until("it is warned of") { sink.warnings.withLock { $0 } == ["linksExhausted"] }
        #expect(await !radio.isAsked(for: second))
        await radio.lose(first)
        await radio.answer(second, link: 2)
        #expect(sink.connected.withLock { $0 } == [first, second])
        #expect(sink.warnings.withLock { $0 } == ["linksExhausted"])
        await manager.stop()
    }

    @Test func `a controller that cannot scan beside a link says so in one warning, and listens after it`()
        async throws
    {
        let manager = try await manager(waitingFor: [first, second])
        var capabilities = CentralCapabilities()
        capabilities.scansBesidePeripherals = false
        await radio.simulate(.capabilitiesChanged(capabilities))
        for link in 1...2 {
            await radio.answer(first, link: UInt32(link))
            try await until("the scan has stopped") { await radio.scanning == nil }
            await radio.lose(first)
            try await until("it listens again") { await radio.scanning != nil }
            try await manager.connect(await manager.peripheral(at: first))
        }
        #expect(sink.warnings.withLock { $0 } == ["scanObstructed"])
        await manager.stop()
    }
}
