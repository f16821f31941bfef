import Mynah
import MynahCore
import MynahHCI
import MynahLifecycle
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// The library's peripheral and its central, each on our own host, over the air of one process.
@Suite(.timeLimit(.minutes(15))) struct ManagerOnHostTests {
    struct Stage {
        let rig: CentralRig
        let phone: Phone
        let central: CentralManager
        let strap: Peripheral

        init() async throws {
            rig = try await CentralRig(starts: false)
            phone = Phone(radio: rig.device, identity: DeviceIdentity(name: "Mynah"))
            try await phone.start()
            central = CentralManager(radio: rig.phone)
            strap = await central.peripheral(at: rig.address)
        }

        func connect(_ manager: PeripheralManager) async throws {
            var advertisement = Advertisement()
            advertisement.interval = .milliseconds(20)
            try await manager.startAdvertising(advertisement)
            try await central.start()
            try await central.connect(strap, timeout: nil)
        }

        func stop() async {
            await central.stop()
            await phone.stop()
        }
    }

    @Test func `two managers publish a channel each, and each gets what is opened to its own`() async throws {
        let stage = try await Stage()
        let first = await stage.phone.makePeripheralManager()
        let second = await stage.phone.makePeripheralManager()
        let one = try await first.publishL2CAPChannel(withEncryption: false)
        // The number is told as CoreBluetooth's programs tell it.
        let two = try await second.publishL2CAPChannel(withEncryption: true)
        try await second.add(
            ServiceDefinition(
                uuid: "180D",
                characteristics: [
                    CharacteristicDefinition(
                        uuid: GATT.l2capPSM, properties: .read, value: [UInt8(two & 0xFF), UInt8(two >> 8)])
                ]))
        let firstEvents = await first.events()
        let secondEvents = await second.events()
        try await stage.connect(first)

        let plain = try await stage.strap.openL2CAPChannel(one)
        let (own, central) = try #require(await Self.nextChannel(firstEvents))
        #expect(own.psm == one && central.id == own.peer)
        try await plain.send([1, 2, 3])
        #expect(await own.receive() == [1, 2, 3])

        try await stage.strap.discoverAll()
        let number = try #require(await stage.strap.characteristic(GATT.l2capPSM))
        let psm = try await stage.strap.readValue(for: number)
        #expect(psm == [UInt8(two), 0])
        // This one wants encryption, for which the phone pairs by itself.
        let secret = try await stage.strap.openL2CAPChannel(UInt16(psm[0]))
        let (other, _) = try #require(await Self.nextChannel(secondEvents))
        #expect(await stage.strap.isPaired)
        try await other.send([4])
        #expect(await secret.receive() == [4])

        await first.unpublishL2CAPChannel(one)
        #expect(await plain.receive() == nil)
        await #expect(throws: RadioError.self) { try await own.send([5]) }
        await #expect(throws: RequestError.self) { _ = try await stage.strap.openL2CAPChannel(one) }
        try await other.send([6])
        #expect(await secret.receive() == [6])
        await stage.stop()
        #expect(await secret.receive() == nil)
    }

    private static func nextChannel(
        _ events: AsyncStream<DeliveredEvent>
    ) async -> (any L2CAPChannel, Central)? {
        for await event in events {
            if case .channelOpened(let channel, let central) = event.event { return (channel, central) }
        }
        return nil
    }

    @Test func `a sender on a manager's channel waits for its receiver`() async throws {
        let stage = try await Stage()
        let manager = await stage.phone.makePeripheralManager()
        let psm = try await manager.publishL2CAPChannel(withEncryption: false)
        let events = await manager.events()
        try await stage.connect(manager)
        let theirs = try await stage.strap.openL2CAPChannel(psm)
        let (own, _) = try #require(await Self.nextChannel(events))
        let sent = Lock(0)
        let sending = Task {
            for number in 0..<60 as Range<UInt8> {
                try await own.send(Array(repeating: number, count: 1000))
                sent.withLock { $0 += 1 }
            }
        }
        try await until("more than three pieces are sent") { sent.withLock { $0 } > 3 }
        // A round trip behind: what has come is all that comes.
        _ = try await stage.strap.discoverServices()
        #expect(sent.withLock { $0 } < 40)
        for number in 0..<60 as Range<UInt8> { #expect(await theirs.receive()?.first == number) }
        try await sending.value
        await stage.stop()
    }

    @Test func `a manager asks a central how often to meet`() async throws {
        let stage = try await Stage()
        let manager = await stage.phone.makePeripheralManager()
        try await stage.connect(manager)
        let central = try #require(await stage.phone.connectedCentrals.first)
        #expect(try await manager.setDesiredConnectionLatency(.high, for: central.id))
        try await until("the connection interval is in the range for high latency") {
            (96...192).contains(await stage.rig.device.onlyLink?.parameters.interval ?? 0)
        }
        await #expect(throws: RadioError.self) {
            try await manager.setDesiredConnectionLatency(.high, for: .init(99))
        }
        await stage.stop()
    }

    // MARK: Updates and advertising

    static let rate = CharacteristicDefinition(uuid: "2A37", properties: [.read, .notify])

    /// Another phone on the air of a stage.
    func otherPhone(_ stage: Stage) async throws -> (CentralManager, Peripheral) {
        let address = try #require(DeviceAddress("C0:00:00:00:00:03", kind: .public))
        let radio = HostRadio(transport: stage.rig.air.transport(ControllerConfiguration(address: address)))
        let manager = CentralManager(radio: radio)
        try await manager.start()
        let strap = await manager.peripheral(at: stage.rig.address)
        try await manager.connect(strap, timeout: nil)
        return (manager, strap)
    }

    func subscribe(_ strap: Peripheral) async throws {
        try await strap.discoverAll()
        try await strap.setNotifyValue(true, for: try #require(await strap.characteristic("2A37")))
    }

    @Test func `a value goes to the subscribers that are named, and to no other`() async throws {
        let stage = try await Stage()
        let manager = await stage.phone.makePeripheralManager()
        try await manager.add(ServiceDefinition(uuid: "180D", characteristics: [Self.rate]))
        try await stage.connect(manager)
        let (second, other) = try await otherPhone(stage)
        let key = Self.rate.key
        let events = [await stage.central.events(), await second.events()]
        try await subscribe(stage.strap)
        try await subscribe(other)
        let subscribers = await manager.subscribers(of: key)
        #expect(
            Set(subscribers.map(\.address)) == [
                stage.rig.phoneAddress, DeviceAddress("C0:00:00:00:00:03", kind: .public),
            ])
        #expect(subscribers.allSatisfy { $0.maximumUpdateValueLength == 512 })
        let first = try #require(subscribers.first { $0.address == stage.rig.phoneAddress })
        let last = try #require(subscribers.first { $0.id != first.id })
        #expect(try await manager.updateValue([1], for: key, onSubscribedCentrals: [first.id]))
        #expect(try await manager.updateValue([2], for: key, onSubscribedCentrals: [last.id]))
        #expect(try await manager.updateValue([3], for: key, onSubscribedCentrals: []))
        #expect(try await manager.updateValue([4], for: key))
        #expect(await Self.values(events[0], upTo: [4]) == [[1], [4]])
        #expect(await Self.values(events[1], upTo: [4]) == [[2], [4]])
        // One that unsubscribed is not sent what names it.
        let remote = try #require(await other.characteristic("2A37"))
        try await other.setNotifyValue(false, for: remote)
        #expect(await manager.subscribers(of: key).map(\.id) == [first.id])
        let rest = await stage.central.events()
        _ = try await manager.updateValue([5], for: key, onSubscribedCentrals: [last.id])
        _ = try await manager.updateValue([6], for: key)
        #expect(await Self.values(rest, upTo: [6]) == [[6]])
        await second.stop()
        await stage.stop()
    }

    /// The values up to this one, or up to the end of the events.
    static func values(_ events: AsyncStream<CentralManagerEvent>, upTo last: [UInt8]) async -> [[UInt8]] {
        var values: [[UInt8]] = []
        for await event in events {
            guard case .valueUpdated(let update) = event else { continue }
            values.append(update.value)
            if update.value == last { break }
        }
        return values
    }

    @Test
    func `updateValue says false when credits and queue are used up, and nothing is lost or out of order`()
        async throws
    {
        let stage = try await Stage()
        let manager = await stage.phone.makePeripheralManager()
        try await manager.add(ServiceDefinition(uuid: "180D", characteristics: [Self.rate]))
        try await stage.connect(manager)
        let heard = await stage.central.events()
        try await subscribe(stage.strap)
        let events = await manager.events()
        let key = Self.rate.key
        // Too long for two of them to go out together.
        let wanted = (0..<500).map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] + [UInt8](repeating: 7, count: 298) }
        var next = try await manager.send(wanted[...], of: key)
        #expect(next > 12 && next < 100)
        for await event in events {
            guard case .readyToUpdateSubscribers = event.event else { continue }
            next = try await manager.send(wanted[next...], of: key)
            if next == wanted.count { break }
        }
        #expect(await Self.values(heard, upTo: wanted[499]) == wanted)
        await stage.stop()
    }

    @Test(arguments: [11, 17])
    func `an app's bytes are on the air where its iOS puts them`(version: Int) async throws {
        let rig = try await CentralRig(starts: false)
        let phone = Phone(
            radio: rig.device, identity: DeviceIdentity(name: "iPhone"),
            advertising: PhoneAdvertising(iOS: version))
        var rules = AppRules()
        rules.backgroundModes = [.bluetoothPeripheral]
        let code = AdvertisingApp()
        let app = await phone.makeApp(
            AppDescription(name: "test", rules: rules), delegate: code, clock: ManualClock())
        await app.enterForeground()
        try await phone.start()
        var advertisement = Advertisement()
        advertisement.localName = "Fred"
        advertisement.serviceUUIDs = ["C007"]
        try await #require(code.manager).startAdvertising(advertisement)
        try await rig.phone.start(DeviceIdentity(name: "Phone"), central: rig.phoneSink)
        try await rig.phone.scan(ScanOptions(allowsDuplicates: true))
        func wait(_ data: String, _ response: String) async throws {
            try await until("the phone hears the data \(data) and the scan response \(response)") {
                let reports = rig.phoneSink.reports.suffix(8)
                return reports.contains { $0.kind == .connectable && Hex.encode($0.data) == data }
                    && reports.contains { $0.kind == .scanResponse && Hex.encode($0.data) == response }
            }
        }
        try await wait("02011A030307C00509" + "46726564", "")
        await app.enterBackground()
        let overflow = "14FF4C000100000000100000000000000000000000"
        try await wait("02011A" + (version < 12 ? overflow : ""), version < 12 ? "" : overflow)
        await rig.phone.stop()
        await phone.stop()
    }
}

extension PeripheralManager {
    /// Sends values until one is not taken, and returns its place; on the executor throughout, so that no
    /// room comes meanwhile.
    func send(_ values: ArraySlice<[UInt8]>, of attribute: AttributeKey) throws(RadioError) -> Int {
        for (place, value) in zip(values.indices, values)
        where try !updateValue(value, for: attribute) {
            return place
        }
        return values.endIndex
    }
}

/// An app that makes a manager.
final class AdvertisingApp: AppDelegate, Sendable {
    private let made = Lock<PeripheralManager?>(nil)
    var manager: PeripheralManager? { made.withLock { $0 } }

    func app(_ app: isolated App, didFinishLaunching options: LaunchOptions) {
        let manager = try? app.makePeripheralManager()
        made.withLock { $0 = manager }
    }

    func app(_ app: isolated App, didChange change: AppChange) {}
}
