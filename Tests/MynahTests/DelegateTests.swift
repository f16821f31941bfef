import MynahCore
import MynahLifecycle
import MynahSupport
import MynahTestSupport
import Testing

@testable import Mynah

/// Which method of a delegate is called for which event, and for which manager.
@Suite(.timeLimit(.minutes(15))) struct DelegateTests {
    // MARK: Peripheral managers

    /// Keeps the names of its methods as they are called.
    private final class Accessory: PeripheralManagerDelegate, Sendable {
        let called = Lock<[String]>([])
        let managers = Lock<Set<ObjectIdentifier>>([])

        private func add(_ manager: PeripheralManager, _ word: String) {
            called.withLock { $0.append(word) }
            _ = managers.withLock { $0.insert(ObjectIdentifier(manager)) }
        }

        func peripheralManager(_ manager: isolated PeripheralManager, willRestoreState state: RestoredState) {
            add(manager, "restore")
        }
        func peripheralManager(_ manager: isolated PeripheralManager, didUpdateState state: RadioState) {
            add(manager, "state \(state)")
        }
        func peripheralManager(
            _ manager: isolated PeripheralManager, didChangeAdvertising report: AdvertisingReport
        ) { add(manager, "advertising") }
        func peripheralManager(_ manager: isolated PeripheralManager, didConnect central: Central) {
            add(manager, "connected")
        }
        func peripheralManager(_ manager: isolated PeripheralManager, didDisconnect central: Central) {
            add(manager, "disconnected")
        }
        func peripheralManager(_ manager: isolated PeripheralManager, didUpdateMTUOf central: Central) {
            add(manager, "mtu")
        }
        func peripheralManager(
            _ manager: isolated PeripheralManager, central: Central?, didSubscribeTo attribute: AttributeKey,
            as delivery: Delivery?
        ) { add(manager, "subscribed as \(delivery?.rawValue ?? "-")") }
        func peripheralManager(
            _ manager: isolated PeripheralManager, central: Central?,
            didUnsubscribeFrom attribute: AttributeKey
        ) { add(manager, "unsubscribed") }
        func peripheralManager(
            _ manager: isolated PeripheralManager, didReceiveRead request: ReadRequest, from central: Central
        ) -> RadioAnswer {
            add(manager, "read")
            return .answer(.success([42]))
        }
        func peripheralManager(
            _ manager: isolated PeripheralManager, didAnswerRead request: ReadRequest, from central: Central,
            with value: [UInt8]
        ) { add(manager, "answered \(Hex.encode(value))") }
        func peripheralManager(
            _ manager: isolated PeripheralManager, didReceiveWrite request: WriteRequest,
            from central: Central
        ) -> RadioAnswer {
            add(manager, "write")
            return .answer(.failure(.valueNotAllowed))
        }
        func peripheralManagerIsReady(toUpdateSubscribers manager: isolated PeripheralManager) {
            add(manager, "ready")
        }
        func peripheralManager(
            _ manager: isolated PeripheralManager, central: Central?, didConfirm attribute: AttributeKey
        ) { add(manager, "confirmed") }
        func peripheralManager(
            _ manager: isolated PeripheralManager, didOpen channel: any L2CAPChannel, from central: Central
        ) { add(manager, "channel \(channel.psm)") }
        func peripheralManager(_ manager: isolated PeripheralManager, didMissEvents count: Int) {
            add(manager, "missed \(count)")
        }
    }

    /// Implements nothing.
    private final class Silent: PeripheralManagerDelegate, CentralManagerDelegate, Sendable {}

    private static let central = Central(Peer(id: .init(1)))
    private static let key = AttributeKey()
    private static let read = ReadRequest(central: central.id, attribute: key)
    private static let write = WriteRequest(
        central: central.id, parts: [.init(attribute: key, value: [1])], wantsResponse: true)

    private static let peripheralEvents: [PeripheralEvent] = [
        .willRestoreState(RestoredState(services: [], advertisement: nil, subscribers: [])),
        .stateChanged(.poweredOff), .connected(central), .disconnected(central), .mtuChanged(central),
        .read(read, central), .answeredRead(read, central, [7]), .write(write, central),
        .subscribed(key, nil, .indication), .unsubscribed(key, nil), .confirmed(key, nil),
        .readyToUpdateSubscribers, .channelOpened(FakeChannel(psm: 128, peer: central.id), central),
        .missed(3), .advertisingChanged(.silent),
    ]

    /// The method for an event: a new event does not compile here until it has one.
    private static func method(_ event: PeripheralEvent) -> String {
        switch event {
        case .willRestoreState: "restore"
        case .stateChanged: "state poweredOff"
        case .connected: "connected"
        case .disconnected: "disconnected"
        case .mtuChanged: "mtu"
        case .read: "read"
        case .answeredRead: "answered 07"
        case .write: "write"
        case .subscribed: "subscribed as indication"
        case .unsubscribed: "unsubscribed"
        case .confirmed: "confirmed"
        case .readyToUpdateSubscribers: "ready"
        case .channelOpened: "channel 128"
        case .missed: "missed 3"
        case .advertisingChanged: "advertising"
        }
    }

    @Test func `each event of a peripheral manager calls one method, with the manager`() async throws {
        let phone = Phone(radio: FakeRadio(), identity: DeviceIdentity(name: "test"))
        let delegate = Accessory()
        let manager = await phone.makePeripheralManager(delegate: delegate)
        for event in Self.peripheralEvents {
            let answer = await manager.give(event, to: delegate)
            switch (event, answer) {
            case (.read, .answer(.success([42]))), (.write, .answer(.failure(.valueNotAllowed))): break
            case (.read, _), (.write, _): Issue.record("\(event) has the answer \(answer)")
            case (_, .none): break
            default: Issue.record("\(event) wants no answer")
            }
        }
        let expected = Self.peripheralEvents.map(Self.method)
        #expect(delegate.called.withLock { $0 } == expected)
        #expect(Set(expected).count == 15)
        #expect(delegate.managers.withLock { $0 } == [ObjectIdentifier(manager)])
    }

    @Test func `a delegate that implements nothing refuses requests, and keeps no channel`() async throws {
        let phone = Phone(radio: FakeRadio(), identity: DeviceIdentity(name: "test"))
        let delegate = Silent()
        let manager = await phone.makePeripheralManager(delegate: delegate)
        for event in Self.peripheralEvents {
            let answer = await manager.give(event, to: delegate)
            switch answer {
            case .none where !event.wantsResponse: break
            case .answer(.failure(.requestNotSupported)) where event.wantsResponse: break
            default: Issue.record("\(event) has the answer \(answer)")
            }
        }
    }

    @Test func `a delegate hears what happens on the radio, and answers`() async throws {
        let radio = FakeRadio()
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "test"))
        try await phone.start()
        let rate = CharacteristicDefinition(uuid: "2A37", properties: [.read, .write, .notify])
        let delegate = Accessory()
        let manager = await phone.makePeripheralManager(delegate: delegate)
        try await manager.add(ServiceDefinition(uuid: "180D", characteristics: [rate]))
        let psm = try await manager.publishL2CAPChannel(withEncryption: false)
        let peer = Self.central.id
        await radio.simulate(.connected(Peer(id: peer)))
        await radio.simulate(.subscribed(rate.key, peer, .notification))
        _ = await radio.openChannel(psm, from: peer)
        let read = RadioEvent.read(ReadRequest(central: peer, attribute: rate.key))
        #expect(try await radio.request(read) == .success([42]))
        #expect(
            delegate.called.withLock { $0 } == [
                "connected", "subscribed as notification", "channel \(psm)", "read",
            ])
    }

    @Test func `a manager keeps its delegate alive until it is dropped itself`() async throws {
        let radio = FakeRadio()
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "test"))
        try await phone.start()
        weak var delegate: Accessory?
        let rate = CharacteristicDefinition(uuid: "2A37", properties: .read)
        do {
            let made = Accessory()
            delegate = made
            let manager = await phone.makePeripheralManager(delegate: made)
            try await manager.add(ServiceDefinition(uuid: "180D", characteristics: [rate]))
            let read = RadioEvent.read(ReadRequest(central: Self.central.id, attribute: rate.key))
            #expect(try await radio.request(read) == .success([42]))
        }
        try await until("the delegate is gone with its manager") { delegate == nil }
        await phone.stop()
    }

    // MARK: Central managers

    /// Keeps the names of its methods as they are called.
    private final class Collector: CentralManagerDelegate, Sendable {
        let called = Lock<[String]>([])
        let managers = Lock<Set<ObjectIdentifier>>([])
        let peripherals = Lock<Set<ObjectIdentifier>>([])

        private func add(_ manager: CentralManager, _ word: String) {
            called.withLock { $0.append(word) }
            _ = managers.withLock { $0.insert(ObjectIdentifier(manager)) }
        }
        private func add(_ peripheral: Peripheral, _ word: String) {
            called.withLock { $0.append(word) }
            _ = peripherals.withLock { $0.insert(ObjectIdentifier(peripheral)) }
        }

        func centralManager(_ manager: isolated CentralManager, willRestoreState state: RestoredCentralState)
        {
            add(manager, "restore")
        }
        func centralManager(_ manager: isolated CentralManager, didUpdateState state: RadioState) {
            add(manager, "state \(state)")
        }
        func centralManager(_ manager: isolated CentralManager, didDiscover discovery: Discovery) {
            add(manager, "discovered")
        }
        func centralManager(
            _ manager: isolated CentralManager, didConnect peripheral: Peripheral, isLocal: Bool
        ) {
            add(manager, "connected" + (isLocal ? " local" : ""))
        }
        func centralManager(
            _ manager: isolated CentralManager, didFailToConnect peripheral: Peripheral, error: RadioError
        ) { add(manager, "failed") }
        func centralManager(
            _ manager: isolated CentralManager, didDisconnectPeripheral peripheral: Peripheral,
            disconnection: Disconnection
        ) { add(manager, "disconnected" + (disconnection.wasPending ? " pending" : "")) }
        func centralManager(
            _ manager: isolated CentralManager, connectionEventDidOccur event: ConnectionEvent,
            for peripheral: Peripheral
        ) { add(manager, event.rawValue) }
        func centralManager(_ manager: isolated CentralManager, didLoseRadio error: RadioError) {
            add(manager, "lost")
        }
        func centralManagerDidRecoverRadio(_ manager: isolated CentralManager) { add(manager, "recovered") }
        func centralManager(_ manager: isolated CentralManager, didReceiveWarning warning: RadioWarning) {
            add(manager, warning.code)
        }
        func centralManager(_ manager: isolated CentralManager, didMissEvents count: Int) {
            add(manager, "missed \(count)")
        }
        func peripheral(_ peripheral: isolated Peripheral, didUpdateValue update: ValueUpdate) {
            add(peripheral, "value \(Hex.encode(update.value))")
        }
        func peripheral(
            _ peripheral: isolated Peripheral, didModifyServices invalidated: [DiscoveredService],
            in handles: ClosedRange<AttributeHandle>
        ) { add(peripheral, "services \(handles) \(invalidated.map(\.uuid))") }
        func peripheral(_ peripheral: isolated Peripheral, didUpdateMTU mtu: Int) {
            add(peripheral, "mtu \(mtu)")
        }
        func peripheralDidUpdateName(_ peripheral: isolated Peripheral) { add(peripheral, "name") }
        func peripheralIsReady(toSendWriteWithoutResponse peripheral: isolated Peripheral) {
            add(peripheral, "ready")
        }
        func peripheral(_ peripheral: isolated Peripheral, didRequestPairing step: PairingStep) -> RadioAnswer
        {
            add(peripheral, "pairing")
            return .pairing(.declined)
        }
        func peripheralDidPair(_ peripheral: isolated Peripheral) { add(peripheral, "paired") }
    }

    private static func centralEvents(_ strap: Peripheral) -> [CentralManagerEvent] {
        let report = ScanReport(address: strap.address, kind: .connectable, data: [], rssi: nil)
        var coalescer = DiscoveryCoalescer()
        var scan = AppScan()
        scan.awaitsScanResponses = false
        coalescer.start(scan)
        var found: [DiscoveryCoalescer.Discovery] = []
        coalescer.heard(report, into: &found)
        return found.map { .discovered(Discovery($0, strap, report)) } + [
            .willRestoreState(RestoredCentralState(scanServices: nil, scanOptions: nil, peripherals: [])),
            .stateChanged(.poweredOn), .connected(strap, isLocal: true),
            .failedToConnect(strap, RadioError(.timedOut, "no")),
            .disconnected(strap, Disconnection(error: nil, isLocal: true, wasPending: true)),
            .connectionEvent(.peerConnected, strap), .mtuChanged(strap, 99),
            .nameUpdated(strap),
            .valueUpdated(
                ValueUpdate(
                    peripheral: strap, characteristic: nil, handle: 3, value: [9], delivery: .notification)),
            .servicesChanged(
                strap, 1...9, invalidated: [DiscoveredService(FakeCentralRadio.heartRate)]),
            .paired(strap), .pairing(strap, .agree), .readyToWrite(strap), .lost(RadioError(.lost, "no")),
            .recovered, .warning(RadioWarning("odd", "odd")), .missed(3),
        ]
    }

    /// The method for an event: a new event does not compile here until it has one.
    private static func method(_ event: CentralManagerEvent) -> String {
        switch event {
        case .willRestoreState: "restore"
        case .stateChanged: "state poweredOn"
        case .discovered: "discovered"
        case .connected: "connected local"
        case .failedToConnect: "failed"
        case .disconnected: "disconnected pending"
        case .connectionEvent: "peerConnected"
        case .mtuChanged: "mtu 99"
        case .nameUpdated: "name"
        case .valueUpdated: "value 09"
        case .servicesChanged: "services 1...9 [180D]"
        case .paired: "paired"
        case .pairing: "pairing"
        case .readyToWrite: "ready"
        case .lost: "lost"
        case .recovered: "recovered"
        case .warning: "odd"
        case .missed: "missed 3"
        }
    }

    @Test func `each event of a central manager calls one method, with the manager or the peripheral`()
        async throws
    {
        let delegate = Collector()
        let manager = CentralManager(radio: FakeCentralRadio(), delegate: delegate)
        let strap = await manager.peripheral(at: DeviceAddress(value: 1, kind: .public))
        let events = Self.centralEvents(strap)
        for event in events {
            let answer = await manager.give(event, to: delegate)
            switch (event, answer) {
            case (.pairing, .pairing(.declined)): break
            case (.pairing, _): Issue.record("the pairing has the answer \(answer)")
            case (_, .none): break
            default: Issue.record("\(event) wants no answer")
            }
            let silent = Silent()
            guard case .none = await manager.give(event, to: silent) else {
                Issue.record("\(event) is answered by default")
                continue
            }
        }
        let expected = events.map(Self.method)
        #expect(delegate.called.withLock { $0 } == expected)
        #expect(Set(expected).count == 18)
        #expect(delegate.managers.withLock { $0 } == [ObjectIdentifier(manager)])
        #expect(delegate.peripherals.withLock { $0 } == [ObjectIdentifier(strap)])
    }

    @Test(arguments: ["alone", "phone"])
    func `delegates hear what happens on the radio`(maker: String) async throws {
        let radio = FakeCentralRadio()
        let strap = DeviceAddress(value: 1, kind: .public)
        let delegate = Collector()
        let manager: CentralManager
        if maker == "alone" {
            manager = CentralManager(radio: radio, delegate: delegate)
        } else {
            let phone = Phone(radio: radio, identity: DeviceIdentity(name: "phone"))
            try await phone.start()
            manager = try await phone.makeCentralManager(delegate: delegate)
        }
        try await manager.start()
        try await manager.scanForPeripherals()
        await radio.hear(strap, "03094142")
        await manager.stopScan()
        let peripheral = await manager.peripheral(at: strap)
        try await manager.connect(peripheral)
        await radio.answer(strap, link: 1)
        await radio.simulate(.notified(.init(1), 3, [1], .notification))
        await radio.simulate(.servicesChanged(.init(1), 1...9))
        await radio.setRoom(false, on: .init(1))
        #expect(await !peripheral.canSendWriteWithoutResponse)
        await radio.setRoom(true, on: .init(1))
        await manager.cancelPeripheralConnection(peripheral)
        let absent = await manager.peripheral(at: DeviceAddress(value: 2, kind: .public))
        try await manager.connect(absent)
        try await until("the radio is asked") { await radio.isAsked(for: absent.address) }
        await radio.refuse(absent.address, RadioError(.unsupported, "no"))
        try await until("the failure is reported") { delegate.called.withLock { $0.last } == "failed" }
        #expect(
            delegate.called.withLock { $0 } == [
                "state poweredOn", "discovered", "connected", "value 01", "services 1...9 []", "ready",
                "disconnected", "failed",
            ])
        await manager.stop()
    }

    @Test func `the managers of an app have delegates too`() async throws {
        final class Code: AppDelegate, Sendable {
            let accessory = Accessory()
            let collector = Collector()
            let managers = Lock<[any Sendable]>([])

            func app(_ app: isolated App, didFinishLaunching options: LaunchOptions) {
                let made: [any Sendable]? = try? [
                    app.makePeripheralManager(delegate: accessory),
                    app.makeCentralManager(delegate: collector),
                ]
                managers.withLock { $0 = made ?? [] }
            }
            func app(_ app: isolated App, didChange change: AppChange) {}
        }
        let code = Code()
        let phone = Phone(radio: FakeCentralRadio(), identity: DeviceIdentity(name: "phone"))
        let app = await phone.makeApp(AppDescription(name: "test"), delegate: code, clock: ManualClock())
        await app.enterForeground()
        try await phone.start()
        try await until("both are told that Bluetooth is on") {
            code.accessory.called.withLock { $0 } == ["state poweredOn"]
                && code.collector.called.withLock { $0 } == ["state poweredOn"]
        }
        #expect(code.managers.withLock { $0.count } == 2)
        await phone.stop()
    }
}

extension PeripheralManager {
    /// Gives an event to a delegate as to the manager's own.
    fileprivate func give(
        _ event: PeripheralEvent, to delegate: some PeripheralManagerDelegate & Sendable
    ) -> RadioAnswer {
        let sink = PeripheralManagerDelegateSink(delegate)
        sink.attach(to: self)
        return sink.handle(event)
    }
}

extension CentralManager {
    /// Gives an event to a delegate as to the manager's own.
    fileprivate func give(
        _ event: CentralManagerEvent, to delegate: some CentralManagerDelegate & Sendable
    ) -> RadioAnswer {
        let sink = CentralManagerDelegateSink(delegate)
        sink.attach(to: self)
        return sink.handle(event)
    }
}
