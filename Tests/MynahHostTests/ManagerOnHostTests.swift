import Mynah
import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// The library's peripheral and its central, each on our own host, over the air of one process.
@Suite(.timeLimit(.minutes(1))) struct ManagerOnHostTests {
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
            try await central.connect(strap)
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

    @Test func `who sends over a manager's channel waits for who receives`() async throws {
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
        try await until { sent.withLock { $0 } > 3 }
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
        try await until { (96...192).contains(await stage.rig.device.onlyLink?.parameters.interval ?? 0) }
        await #expect(throws: RadioError.self) {
            try await manager.setDesiredConnectionLatency(.high, for: .init(99))
        }
        await stage.stop()
    }
}
