import Mynah
import MynahCore
import MynahProfiles
import MynahSupport
import MynahTestSupport
import MynahValues
import Testing

@testable import MynahEmulator

/// Values that a profile writes as fields, as a device has them.
@Suite(.timeLimit(.minutes(15))) struct TypedValueTests {
    static let profile = """
        mynah: 1
        name: Typed
        advertising: {serviceUUIDs: [180D]}
        services:
          - uuid: 180D
            characteristics:
              - uuid: 2A37
                properties: [read, notify]
                value:
                  fields:
                    heartRate: {generate: randomWalk, from: 62, min: 50, max: 180, step: 3, noise: 2 %}
                    energyExpended: {generate: counter}
                    rrIntervals: [{generate: normal, mean: 830 ms, deviation: 20 ms}]
                every: 20 ms
              - {uuid: 2A38, properties: [read], value: {fields: {location: chest}}}
              - uuid: 6E400003-B5A3-F393-E0A9-E50E24DCCA9E
                properties: [read]
                value: {layout: [{level: uint8}], fields: {level: {generate: counter}}}
        """

    static func device(seed: UInt64 = 5) throws -> EmulatedDevice {
        EmulatedDevice(try ProfileLoader.load(text: profile, file: "typed.yaml"), seed: seed)
    }

    private static func key(_ uuid: BluetoothUUID, of device: EmulatedDevice) throws -> AttributeKey {
        try #require(device.services[0].characteristics.first { $0.uuid == uuid }).key
    }

    @Test func `one seed gives the same value at each of 10,000 ticks, notified or read, on any radio`()
        throws
    {
        let (one, two) = (try Self.device(), try Self.device())
        let (first, second) = (try Self.key("2A37", of: one), try Self.key("2A37", of: two))
        var values: Set<[UInt8]> = []
        // One radio sends each tick; on the other each is read between it and the next, in another order.
        for number in 0..<10_000 as Range<Int64> {
            let due = Duration.milliseconds(20 * number)
            let sent = one.table.value(of: .init(attribute: first, number: number, due: due))
            #expect(sent != nil)
            if let sent { values.insert(sent) }
            let other = (number * 7919) % 10_000
            let read = two.table.value(of: second, at: .milliseconds(20 * other + 19))
            #expect(read == one.table.value(of: first, at: .milliseconds(20 * other)))
        }
        #expect(values.count > 9000)
        let changed = try Self.device(seed: 6)
        let key = try Self.key("2A37", of: changed)
        #expect(changed.table.value(of: key, at: .seconds(1)) != one.table.value(of: first, at: .seconds(1)))
    }

    @Test func `constants are static, a value without every changes each second, and both have a layout`()
        throws
    {
        let device = try Self.device()
        let (place, level) = (
            try Self.key("2A38", of: device), try Self.key("6E400003-B5A3-F393-E0A9-E50E24DCCA9E", of: device)
        )
        #expect(device.services.staticValues.map(\.attribute) == [place])
        #expect(device.services.staticValue(of: place) == [1])
        #expect(device.table.value(of: level, at: .milliseconds(2999)) == [2])
        #expect(device.table.entries[place]?.layout?.names == ["location"])
        #expect(device.table.entries[level]?.layout?.names == ["level"])
    }

    @Test func `notified has the number of its tick, also for a value that waited`() async throws {
        let (radio, clock, log) = (FakeRadio(), ManualClock(), EventLog())
        let emulator = Emulator(
            [try Self.device()], on: radio, clock: clock, wallTime: { WallTime(microseconds: 0) },
            observer: { log.append($0) })
        try await emulator.start()
        let peer = Peer(id: .init(9), address: DeviceAddress("AA:BB:CC:DD:EE:99", kind: .random))
        let key = try #require(await radio.published.first?.services.first?.characteristics.first?.key)
        await radio.simulate(.connected(peer))
        await radio.simulate(.subscribed(key, peer.id, .notification))
        for _ in 0..<3 {
            try await clock.waitForSleepers(1)
            clock.advance(by: .milliseconds(20))
            try await clock.waitForSleepers(1)
        }
        await radio.setFull(true, peer.id)
        for _ in 0..<2 {
            clock.advance(by: .milliseconds(20))
            try await clock.waitForSleepers(1)
        }
        await radio.setFull(false, peer.id)
        await radio.simulate(.readyToSend)
        let ticks = log.all.filter { $0.name == .notified }.map { event in
            event.fields.first { $0.key == "tick" }?.value
        }
        #expect(ticks == [.integer(1), .integer(2), .integer(3), .integer(5)])
        await emulator.stop()
    }
}
