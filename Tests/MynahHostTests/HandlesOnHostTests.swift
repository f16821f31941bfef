import Mynah
import MynahCore
import MynahHCI
import MynahLifecycle
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// Handles that their program drops, and replies that are given twice, as the other side sees them.
@Suite(.timeLimit(.minutes(15))) struct HandlesOnHostTests {
    /// Reports to a test that a device is heard, beside one that goes on advertising.
    private struct Neighbour {
        let address: DeviceAddress
        let sink = HostSink()
        let radio: HostRadio

        init(on air: LiveAir, number: UInt64 = 3) throws {
            address = try #require(DeviceAddress("C0:00:00:00:00:0\(number)", kind: .public))
            radio = HostRadio(transport: air.transport(ControllerConfiguration(address: address)))
        }

        func advertise() async throws {
            _ = try await radio.start(DeviceIdentity(name: "Neighbour"), sink: sink)
            var advertisement = Advertisement()
            advertisement.interval = .milliseconds(20)
            _ = try await radio.advertise(advertisement)
        }
    }

    // MARK: The peripheral's handle

    @Test func `a peripheral manager that is dropped takes its services and channels off the phone's link`()
        async throws
    {
        let stage = try await ManagerOnHostTests.Stage()
        let other = await stage.phone.makePeripheralManager()
        try await other.add(ServiceDefinition(uuid: "180D"))
        var manager: PeripheralManager? = await stage.phone.makePeripheralManager()
        let level = CharacteristicDefinition(uuid: "2A19", properties: .read, value: [1])
        try await manager?.add(ServiceDefinition(uuid: "1810", characteristics: [level]))
        let psm = try #require(try await manager?.publishL2CAPChannel(withEncryption: false))
        let channels = try #require(await manager?.events())
        let events = await stage.central.events()
        try await stage.connect(other)
        #expect(try await stage.strap.discoverServices(["1810"]).count == 1)
        // After the first discovery the central subscribes to Service Changed by itself, and its requests go
        // one after the other: what is answered after that has found it subscribed.
        try await stage.strap.discoverServices(["1810"])
        let channel = try await stage.strap.openL2CAPChannel(psm)
        for await event in channels {
            guard case .channelOpened = event.event else { continue }
            break
        }
        manager = nil
        for await event in events {
            guard case .servicesChanged(let strap, _, let gone) = event else { continue }
            #expect(strap === stage.strap && gone.map(\.uuid) == ["1810"])
            break
        }
        #expect(try await stage.strap.discoverServices().map(\.uuid) == ["1800", "1801", "180D"])
        #expect(await channel.receive() == nil)
        await #expect(throws: RequestError.self) { _ = try await stage.strap.openL2CAPChannel(psm) }
        await stage.stop()
    }

    @Test func `a peripheral manager that is dropped is heard no more`() async throws {
        let rig = try await CentralRig(starts: false)
        let phone = Phone(radio: rig.device, identity: DeviceIdentity(name: "Mynah"))
        try await phone.start()
        var manager: PeripheralManager? = await phone.makePeripheralManager()
        var advertisement = Advertisement()
        advertisement.interval = .milliseconds(20)
        try await manager?.startAdvertising(advertisement)
        let neighbour = try Neighbour(on: rig.air)
        try await neighbour.advertise()
        try await rig.phone.start(DeviceIdentity(name: "Phone"), central: rig.phoneSink)
        try await rig.phone.scan(ScanOptions(allowsDuplicates: true))
        func heard(_ address: DeviceAddress) -> Int { rig.phoneSink.reports.count { $0.address == address } }
        try await until("the device is heard") { heard(rig.address) > 0 }
        manager = nil
        try await until("the device falls silent while its neighbour is heard") {
            let (last, since) = (heard(rig.address), heard(neighbour.address))
            try? await until("the neighbour is heard") { heard(neighbour.address) > since + 10 }
            return heard(rig.address) == last
        }
        #expect(heard(neighbour.address) > 10)
        await rig.phone.stop()
        await neighbour.radio.stop()
        await phone.stop()
    }

    // MARK: The central's handle

    private final class Code: AppDelegate, Sendable {
        let manager = Lock<CentralManager?>(nil)

        func app(_ app: isolated App, didFinishLaunching options: LaunchOptions) {
            let made = try? app.makeCentralManager()
            manager.withLock { $0 = made }
        }

        func app(_ app: isolated App, didChange change: AppChange) {}
    }

    enum End: CaseIterable {
        case managerAlone, managerStopped, managerOfPhone, phone, appQuits, appCrashes
    }

    @Test(arguments: End.allCases)
    func `a central's handle that ends gives up its link, and the connection that it waits for`(end: End)
        async throws
    {
        let rig = try await CentralRig(starts: false)
        try await rig.playDevice()
        let late = try Neighbour(on: rig.air)
        let code = Code()
        var phone: Phone?
        var app: App?
        var manager: CentralManager?
        switch end {
        case .managerAlone, .managerStopped: manager = CentralManager(radio: rig.phone)
        case .managerOfPhone, .phone:
            phone = Phone(radio: rig.phone, identity: DeviceIdentity(name: "Phone"))
            try await phone?.start()
            manager = try await phone?.makeCentralManager()
        case .appQuits, .appCrashes:
            phone = Phone(radio: rig.phone, identity: DeviceIdentity(name: "Phone"))
            app = await phone?.makeApp(
                AppDescription(name: "test"), delegate: code, clock: ManualClock())
            await app?.enterForeground()
            try await phone?.start()
            manager = code.manager.withLock { $0 }
            try await until("Bluetooth is on") { await manager?.state == .poweredOn }
        }
        try await manager?.start()
        try await manager?.connect(try #require(await manager?.peripheral(at: rig.address)), timeout: nil)
        try await manager?.connect(try #require(await manager?.peripheral(at: late.address)))
        switch end {
        case .managerAlone, .managerOfPhone: manager = nil
        case .managerStopped: await manager?.stop()
        case .phone: (manager, phone) = (nil, nil)
        case .appQuits: await app?.quit()
        case .appCrashes: await app?.crash()
        }
        try await until("the device has lost the phone") { rig.sink.words.contains("disconnected") }
        // The device that it waited for appears, and another hears it.
        let watcher = try Neighbour(on: rig.air, number: 4)
        let words = CentralWords()
        try await watcher.radio.start(DeviceIdentity(name: "Watcher"), central: words)
        try await watcher.radio.scan(ScanOptions(allowsDuplicates: true))
        try await late.advertise()
        try await until("the late device is heard") {
            words.reports.count { $0.address == late.address } > 20
        }
        #expect(!late.sink.words.contains { $0.hasPrefix("connected") })
        await manager?.stop()
        await phone?.stop()
        for radio in [late.radio, watcher.radio, rig.device] { await radio.stop() }
    }

    // MARK: Room

    @Test func `a write without response that is refused is told when there is room, and no other manager`()
        async throws
    {
        let rig = try await CentralRig(starts: false)
        try await rig.playDevice()
        let tap = Tap(rig.air.transport(ControllerConfiguration(address: rig.phoneAddress)))
        let phone = Phone(radio: HostRadio(transport: tap), identity: DeviceIdentity(name: "Phone"))
        try await phone.start()
        let (first, second) = (try await phone.makeCentralManager(), try await phone.makeCentralManager())
        try await first.start()
        let (events, others) = (await first.events(), await second.events())
        let strap = await first.peripheral(at: rig.address)
        try await first.connect(strap, timeout: nil)
        try await second.connect(await second.peripheral(at: rig.address), timeout: nil)
        try await strap.discoverAll()
        let control = try #require(await strap.characteristic("2A39"))
        tap.hold()
        var written = 0
        while written < 1000 {
            let isReady = await strap.canSendWriteWithoutResponse
            let isSent = try await strap.writeValue([7], for: control, type: .withoutResponse)
            #expect(isReady == isSent)
            guard isSent else { break }
            written += 1
        }
        try #require(written < 1000)
        tap.release()
        for await event in events {
            guard case .readyToWrite(let peripheral) = event else { continue }
            #expect(peripheral === strap)
            break
        }
        #expect(await strap.canSendWriteWithoutResponse)
        #expect(try await strap.writeValue([8], for: control, type: .withoutResponse))
        try await until("every write has arrived") {
            rig.sink.words.count { $0.hasPrefix("write") } == written + 1
        }
        await phone.stop()
        #expect(await !strap.canSendWriteWithoutResponse)
        for await event in others {
            if case .readyToWrite = event { Issue.record("another manager was told") }
        }
        await rig.device.stop()
    }

    // MARK: Replies

    /// Keeps the PDUs of the Attribute Protocol that a host sends, and may hold the controller's reports of
    /// packets that it has sent.
    private final class Tap: HCITransport {
        private struct State {
            var sent: [[UInt8]] = []
            /// The reports, or `nil` if they pass.
            var held: [H4Packet]?
            var receive: (@Sendable (H4Packet) -> Void)?
        }

        private let state = Lock(State())
        private let inner: any HCITransport

        init(_ inner: any HCITransport) {
            self.inner = inner
        }

        func open(
            receive: @escaping @Sendable (H4Packet) -> Void, ended: @escaping @Sendable (RadioError?) -> Void
        ) async throws(RadioError) {
            state.withLock { $0.receive = receive }
            try await inner.open(
                receive: { [state] packet in
                    // Number Of Completed Packets (Vol 4, Part E, 7.7.19).
                    let isHeld = state.withLock { state in
                        guard packet.type == .event, packet.body.first == 0x13, state.held != nil else {
                            return false
                        }
                        state.held?.append(packet)
                        return true
                    }
                    if !isHeld { receive(packet) }
                }, ended: ended)
        }

        func hold() {
            state.withLock { $0.held = [] }
        }

        func release() {
            let (held, receive) = state.withLock { state in
                defer { state.held = nil }
                return (state.held ?? [], state.receive)
            }
            for packet in held { receive?(packet) }
        }

        func send(_ packet: H4Packet) {
            // The handle and two lengths, and the fixed channel 4.
            if packet.type == .aclData, packet.body.count > 8, packet.body[6] == 4 {
                state.withLock { $0.sent.append(Array(packet.body.dropFirst(8))) }
            }
            inner.send(packet)
        }

        func close() { inner.close() }

        func forget() {
            state.withLock { $0.sent = [] }
        }

        /// The responses to reads and the errors.
        var answers: [[UInt8]] { state.withLock { $0.sent.filter { [0x0B, 0x01].contains($0.first) } } }
    }

    /// Answers each read by the same reply.
    private final class Repeater: PeripheralManagerDelegate, Sendable {
        let reply = PendingReply()
        let reads = Lock(0)

        func peripheralManager(
            _ manager: isolated PeripheralManager, didReceiveRead request: ReadRequest, from central: Central
        ) -> RadioAnswer {
            reads.withLock { $0 += 1 }
            return .later(reply.pending)
        }
    }

    @Test func `a reply that is given twice goes on the air once, and the second call says so`() async throws
    {
        let rig = try await CentralRig(starts: false)
        let tap = Tap(rig.air.transport(ControllerConfiguration(address: rig.address)))
        let phone = Phone(radio: HostRadio(transport: tap), identity: DeviceIdentity(name: "Mynah"))
        try await phone.start()
        let delegate = Repeater()
        let slow = await phone.makePeripheralManager(delegate: delegate)
        let quick = await phone.makePeripheralManager()
        let events = await quick.events()
        let level = CharacteristicDefinition(uuid: "2A19", properties: .read)
        let rate = CharacteristicDefinition(uuid: "2A37", properties: .read)
        try await slow.add(ServiceDefinition(uuid: "1810", characteristics: [level]))
        try await quick.add(ServiceDefinition(uuid: "180D", characteristics: [rate]))
        var advertisement = Advertisement()
        advertisement.interval = .milliseconds(20)
        try await slow.startAdvertising(advertisement)
        let central = CentralManager(radio: rig.phone)
        try await central.start()
        let strap = await central.peripheral(at: rig.address)
        try await central.connect(strap, timeout: nil)
        try await strap.discoverServices(["1810", "180D"])
        for service in await strap.services { try await strap.discoverCharacteristics(for: service) }
        let (first, second) = (
            try #require(await strap.characteristic("2A19")), try #require(await strap.characteristic("2A37"))
        )
        tap.forget()

        async let value = strap.readValue(for: first)
        try await until("the delegate has the read") { delegate.reads.withLock { $0 } == 1 }
        #expect(delegate.reply.answer(.success([1])))
        #expect(!delegate.reply.answer(.success([2])))
        #expect(try await value == [1])
        #expect(!delegate.reply.answer(.failure(.valueNotAllowed)))
        // A reply that was used up is an error to the next request.
        await #expect(throws: RequestError.refused(.unlikelyError)) { try await strap.readValue(for: first) }

        async let other = strap.readValue(for: second)
        for await event in events {
            guard case .read = event.event else { continue }
            #expect(event.respond(.success([3])))
            #expect(!event.respond(.success([4])))
            break
        }
        #expect(try await other == [3])
        #expect(tap.answers.map(\.first) == [0x0B, 0x01, 0x0B])
        await central.stop()
        await phone.stop()
    }
}
