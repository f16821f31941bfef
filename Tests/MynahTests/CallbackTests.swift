import MynahCore
import MynahLifecycle
import MynahSupport
import MynahTestSupport
import Testing

@testable import Mynah

/// The calls that a delegate makes in its callbacks, without a task, and its state in plain properties.
@Suite(.timeLimit(.minutes(15))) struct CallbackTests {
    static let level = CharacteristicDefinition(uuid: "2A19", properties: [.read, .write, .notify])
    static let service = ServiceDefinition(uuid: "FFF0", characteristics: [level])
    static let central = Peer(id: .init(7))

    // MARK: Peripheral managers

    /// Not `Sendable`: the compiler lets no other thread touch its state.
    private final class Battery: AppDelegate, PeripheralManagerDelegate {
        private var value: [UInt8] = [99]
        private var manager: PeripheralManager?
        private let notes: Lock<[String]>
        private let restoreIdentifier: String?

        init(_ notes: Lock<[String]>, restoreIdentifier: String? = "main") {
            (self.notes, self.restoreIdentifier) = (notes, restoreIdentifier)
        }

        func app(_ app: isolated App, didFinishLaunching options: LaunchOptions) {
            notes.withLock { $0.append("launched in the \(app.state)") }
            manager = try? app.makePeripheralManager(restoreIdentifier: restoreIdentifier, delegate: self)
        }

        func app(_ app: isolated App, didChange change: AppChange) {}

        func peripheralManager(_ manager: isolated PeripheralManager, didUpdateState state: RadioState) {
            guard state == .poweredOn, manager.services.isEmpty else { return }
            manager.add(CallbackTests.service)
            manager.startAdvertising(Advertisement(localName: "Battery"))
        }

        func peripheralManager(
            _ manager: isolated PeripheralManager, didChangeAdvertising report: AdvertisingReport
        ) { notes.withLock { $0.append("advertises: \(manager.isAdvertising)") } }

        func peripheralManager(
            _ manager: isolated PeripheralManager, didReceiveRead request: ReadRequest, from central: Central
        ) -> RadioAnswer { .answer(.success(value)) }

        func peripheralManager(
            _ manager: isolated PeripheralManager, didReceiveWrite request: WriteRequest,
            from central: Central
        ) -> RadioAnswer {
            value = request.parts[0].value
            let isSent = try? manager.updateValue(value, for: request.parts[0].attribute)
            notes.withLock { $0.append("sent: \(isSent == true)") }
            if value == [0] { manager.stopAdvertising() }
            return .answer(.success([]))
        }
    }

    private static func write(_ value: UInt8) -> RadioEvent {
        .write(
            WriteRequest(
                central: central.id, parts: [.init(attribute: level.key, value: [value])],
                wantsResponse: true))
    }

    enum Owner: CaseIterable {
        case accessory, app
    }

    @Test(arguments: Owner.allCases)
    func `a delegate publishes, advertises, answers and sends in its callbacks`(owner: Owner) async throws {
        let radio = FakeRadio()
        let notes = Lock<[String]>([])
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "test"))
        var manager: PeripheralManager?
        switch owner {
        case .accessory: manager = await phone.makePeripheralManager(delegate: Battery(notes))
        case .app:
            let app = await phone.makeApp(
                AppDescription(name: "test"), delegate: Battery(notes), clock: ManualClock())
            await app.enterForeground()
            #expect(notes.withLock { $0 } == ["launched in the foreground"])
        }
        await radio.holdPublishing()
        try await phone.start()
        try await until("the services are on their way") { await radio.heldCount == 1 }
        // Work that was put on the queue before has begun when this has.
        try await waiting(for: "the queue") { waiter in PhoneLink(phone).enqueue { _ in waiter.resume() } }
        #expect(await radio.advertisement == nil)
        await radio.release()
        try await until("the device advertises") { await radio.advertisement != nil }
        #expect(await radio.published.flatMap(\.services) == [Self.service])

        let read = RadioEvent.read(ReadRequest(central: Self.central.id, attribute: Self.level.key))
        #expect(try await radio.request(read) == .success([99]))
        await radio.simulate(.connected(Self.central))
        await radio.simulate(.subscribed(Self.level.key, Self.central.id, .notification))
        #expect(try await radio.request(Self.write(98)) == .success([]))
        #expect(await radio.sent.map(\.value) == [[98]])
        #expect(try await radio.request(read) == .success([98]))
        #expect(try await radio.request(Self.write(0)) == .success([]))
        try await until("the advertising has stopped") { await radio.advertisement == nil }
        #expect(
            notes.withLock { $0.suffix(4) } == [
                "advertises: true", "sent: true", "sent: true", "advertises: false",
            ])
        withExtendedLifetime(manager) {}
        await phone.stop()
    }

    @Test func `requests of a callback are carried out in order`() async throws {
        let radio = FakeRadio()
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "test"))
        try await phone.start()
        let manager = await phone.makePeripheralManager()
        await radio.holdPublishing()
        await manager.callBack { manager in
            manager.add(Self.service)
            manager.startAdvertising(Advertisement(localName: "Battery"))
            manager.stopAdvertising()
        }
        try await until("the services are on their way") { await radio.heldCount == 1 }
        await radio.release()
        try await until("the services are published") { await !manager.services.isEmpty }
        try await queueIsEmpty(phone)
        #expect(await !manager.isAdvertising)
        #expect(await radio.advertisement == nil)
        await phone.stop()
    }

    @Test func `a start that waits for services is dropped if the program stops advertising first`()
        async throws
    {
        let radio = FakeRadio()
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "test"))
        try await phone.start()
        let manager = await phone.makePeripheralManager()
        await radio.holdPublishing()
        await manager.callBack { manager in
            manager.add(Self.service)
            manager.startAdvertising(Advertisement(localName: "Battery"))
        }
        try await until("the services are on their way") { await radio.heldCount == 1 }
        await manager.stopAdvertising()
        await radio.release()
        try await until("the services are published") { await !manager.services.isEmpty }
        try await queueIsEmpty(phone)
        #expect(await radio.advertisement == nil)
        // The next request of a callback is carried out.
        await manager.callBack { $0.startAdvertising(Advertisement(localName: "Battery")) }
        try await until("the device advertises") { await radio.advertisement != nil }
        await phone.stop()
    }

    @Test func `an app that is opened again advertises after its services, which have to be withdrawn first`()
        async throws
    {
        let radio = FakeRadio()
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "test"))
        let app = await phone.makeApp(
            AppDescription(name: "test"), delegate: Battery(Lock([]), restoreIdentifier: nil),
            clock: ManualClock())
        await app.enterForeground()
        try await phone.start()
        try await until("the device advertises") { await radio.advertisement != nil }
        await radio.holdWithdrawing()
        await app.terminate()
        try await until("the services are leaving") { await radio.heldCount == 1 }
        await app.enterForeground()
        try await queueIsEmpty(phone)
        #expect(await radio.advertisement == nil)
        await radio.release()
        try await until("the device advertises") { await radio.advertisement != nil }
        #expect(await radio.published.flatMap(\.services) == [Self.service])
        await phone.stop()
    }

    @Test func `a request that ends with its manager is no warning`() async throws {
        let radio = FakeRadio()
        let sink = RecordingSink()
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "test"), sink: sink)
        try await phone.start()
        let manager = await phone.makePeripheralManager()
        await radio.holdPublishing()
        await manager.callBack { manager in
            manager.add(Self.service)
            manager.startAdvertising(Advertisement(localName: "Battery"))
        }
        try await until("the services are on their way") { await radio.heldCount == 1 }
        async let stopped: Void = phone.stop()
        await radio.release()
        await stopped
        try await queueIsEmpty(phone)
        #expect(sink.phoneEvents.allSatisfy { if case .warning = $0 { false } else { true } })
        withExtendedLifetime(manager) {}
    }

    /// Returns when work that is on a phone's queue now has been carried out, as far as it does not wait.
    private func queueIsEmpty(_ phone: Phone) async throws {
        for _ in 0..<20 {
            try await waiting(for: "the queue") { waiter in
                PhoneLink(phone).enqueue { _ in waiter.resume() }
            }
        }
    }

    @Test(arguments: ["servicesRefused", "advertisingRefused"])
    func `the phone warns of a request of a callback that fails`(code: String) async throws {
        let radio = FakeRadio()
        let sink = RecordingSink()
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "test"), sink: sink)
        let manager = await phone.makePeripheralManager(delegate: Battery(Lock([])))
        let error = RadioError(.unsupported, "not today")
        await radio.fail(code == "servicesRefused" ? .publish : .advertise, error)
        try await phone.start()
        try await until("the phone warns") { sink.phoneEvents.contains { $0.warns(code, error) } }
        #expect(await radio.published.isEmpty == (code == "servicesRefused"))
        withExtendedLifetime(manager) {}
        await phone.stop()
    }

    /// Has every event in one method, in the order in which they come.
    private struct Log: PeripheralManagerDelegate, CentralManagerDelegate {
        let notes: Lock<[String]>

        func peripheralManager(
            _ manager: isolated PeripheralManager, didReceive event: PeripheralEvent
        ) -> RadioAnswer {
            notes.withLock { $0.append("\(event)".prefix { $0 != "(" }.description) }
            return event.wantsResponse ? .answer(.success([manager.isAdvertising ? 1 : 0])) : .none
        }

        func centralManager(
            _ manager: isolated CentralManager, didReceive event: CentralManagerEvent
        ) -> RadioAnswer {
            notes.withLock { $0.append("\(event) \(manager.state)") }
            return .none
        }
    }

    @Test func `a delegate of one method gets every event, and answers`() async throws {
        let radio = FakeRadio()
        let notes = Lock<[String]>([])
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "test"))
        let manager = await phone.makePeripheralManager(delegate: Log(notes: notes))
        try await phone.start()
        try await manager.add(Self.service)
        await radio.simulate(.connected(Self.central))
        let read = RadioEvent.read(ReadRequest(central: Self.central.id, attribute: Self.level.key))
        #expect(try await radio.request(read) == .success([0]))
        #expect(notes.withLock { $0 } == ["stateChanged", "connected", "read"])
        await phone.stop()

        notes.withLock { $0 = [] }
        let central = CentralManager(radio: FakeCentralRadio(), delegate: Log(notes: notes))
        try await central.start()
        #expect(notes.withLock { $0 } == ["stateChanged(MynahCore.RadioState.poweredOn) poweredOn"])
        await central.stop()
    }

    // MARK: Central managers

    /// Connects to the first device that it hears.
    private final class Collector: CentralManagerDelegate {
        private var values = 0
        private let notes: Lock<[String]>

        init(_ notes: Lock<[String]>) { self.notes = notes }

        private func note(_ word: String) { notes.withLock { $0.append(word) } }

        func centralManager(_ manager: isolated CentralManager, didUpdateState state: RadioState) {
            if state == .poweredOn { manager.scanForPeripherals() }
        }
        func centralManager(_ manager: isolated CentralManager, didDiscover discovery: Discovery) {
            note("discovered while scanning: \(manager.isScanning)")
            manager.stopScan()
            try? manager.connect(discovery.peripheral)
        }
        func centralManager(
            _ manager: isolated CentralManager, didConnect peripheral: Peripheral, isLocal: Bool
        ) { note("connected: \(manager.connectedPeripherals.map(\.address) == [peripheral.address])") }
        func centralManager(_ manager: isolated CentralManager, didReceiveWarning warning: RadioWarning) {
            note(warning.code)
        }
        func peripheral(_ peripheral: isolated Peripheral, didUpdateValue update: ValueUpdate) {
            values += 1
            note("value \(values) of \(peripheral.name ?? "-"), \(peripheral.state)")
        }
    }

    @Test func `a delegate scans, connects and reads a peripheral's state in its callbacks`() async throws {
        let radio = FakeCentralRadio()
        let notes = Lock<[String]>([])
        let strap = DeviceAddress(value: 1, kind: .public)
        let manager = CentralManager(radio: radio, delegate: Collector(notes))
        try await manager.start()
        try await until("the radio scans") { await radio.scanning != nil }
        await radio.hear(strap, "03094142")
        try await until("the scan has stopped") { await !manager.isScanning }
        try await until("the radio is asked") { await radio.isAsked(for: strap) }
        await radio.answer(strap, link: 1)
        for value: UInt8 in 1...2 { await radio.simulate(.notified(.init(1), 3, [value], .notification)) }
        #expect(
            notes.withLock { $0 } == [
                "discovered while scanning: true", "connected: true", "value 1 of AB, connected",
                "value 2 of AB, connected",
            ])
        await manager.stop()
    }

    @Test func `a delegate hears of a scan that the radio refuses`() async throws {
        let radio = FakeCentralRadio()
        await radio.refuseScan(RadioError(.unsupported, "not today"))
        let notes = Lock<[String]>([])
        let manager = CentralManager(radio: radio, delegate: Collector(notes))
        try await manager.start()
        try await until("the delegate is warned") { notes.withLock { $0 } == ["scanRefused"] }
        #expect(await !manager.isScanning)
        await manager.stop()
    }
}

extension PeripheralManager {
    /// Runs code as a callback runs.
    fileprivate func callBack(_ body: @Sendable (isolated PeripheralManager) -> Void) { body(self) }
}

extension PhoneEvent {
    /// Whether this is a warning about an error.
    fileprivate func warns(_ code: String, _ error: RadioError) -> Bool {
        guard case .warning(let warning) = self else { return false }
        return warning.code == code && warning.message.contains(error.message)
    }
}
