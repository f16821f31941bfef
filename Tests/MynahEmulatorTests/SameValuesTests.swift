import MynahBlueZ
import MynahBlueZStandIn
import MynahCore
import MynahDBus
import MynahHCI
import MynahHost
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahEmulator

/// One profile with one seed on two radios, each with a subscribed phone, on clocks that the test sets.
@Suite(.timeLimit(.minutes(15))) struct SameValuesTests {
    private static let profile = """
        mynah: 1
        name: Same
        advertising: {localName: Same, interval: 20 ms}
        services:
          - uuid: FFF0
            characteristics:
              - uuid: FFF1
                properties: [read, notify]
                every: 20 ms
                value:
                  layout:
                    - {number: uint16}
                    - {walk: sint16}
                    - {normal: medfloat16}
                    - {sine: uint8}
                    - {noise: float32}
                  fields:
                    number: {generate: counter}
                    walk: {generate: randomWalk, from: 0, min: -900, max: 900, step: 7, outliers: 1 %}
                    normal: {generate: normal, mean: 36.6, deviation: 0.4}
                    sine: {generate: sine, min: 40, max: 60, period: 3 s, noise: 5 %}
                    noise: {generate: noise, around: 1, by: 0.5}
        """
    private static let every = Duration.milliseconds(20)
    private static let ticks = 10_000
    /// So many fit into the queue of a link.
    private static let batch = 10

    /// The values that a phone got, in order.
    private final class Heard: CentralSink {
        private let values = Lock<[[UInt8]]>([])

        func handle(_ event: CentralEvent) -> RadioAnswer {
            if case .notified(_, _, let value, _) = event { values.withLock { $0.append(value) } }
            return .none
        }

        var all: [[UInt8]] { values.withLock { $0 } }
        var count: Int { values.withLock { $0.count } }
    }

    /// Plays the profile on a radio; `meet` subscribes a phone, and `hear` waits for so many of its values.
    private static func play(
        on radio: any PeripheralRadio, meet: (Emulator) async throws -> Void,
        hear: (Int) async throws -> Void
    ) async throws -> [JSON?] {
        let (clock, log) = (ManualClock(), EventLog())
        let device = EmulatedDevice(try ProfileLoader.load(text: profile, file: "same.yaml"), seed: 11)
        let emulator = Emulator([device], on: radio, clock: clock, observer: { log.append($0) })
        try await emulator.start()
        try await meet(emulator)
        try await until("the device knows its subscriber") { log.names.contains(.subscribed) }
        for number in 1...ticks / batch {
            clock.advance(by: every * batch)
            try await hear(number * batch)
        }
        await emulator.stop()
        return log.all.filter { $0.name == .notified }.map { event in
            event.fields.first { $0.key == "tick" }?.value
        }
    }

    private func playOnOwnHost() async throws -> (values: [[UInt8]], ticks: [JSON?]) {
        let air = LiveAir(seed: 1)
        func host(_ number: UInt64) -> HostRadio {
            let address = DeviceAddress(value: 0xC000_0000_0000 + number, kind: .public)
            return HostRadio(transport: air.transport(ControllerConfiguration(address: address)))
        }
        let (radio, phone, heard) = (host(1), host(2), Heard())
        try await phone.start(DeviceIdentity(name: "Phone"), central: heard)
        let ticks = try await Self.play(
            on: radio,
            meet: { emulator in
                let address = DeviceAddress(value: 0xC000_0000_0001, kind: .public)
                let peer = try await phone.connect(address, timeout: nil).id
                _ = try await phone.exchangeMTU(with: peer)
                let snapshot = try #require(await emulator.snapshot(of: "Same"))
                let handle = try #require(snapshot.attributes.first?.handle)
                try await phone.write([1, 0], to: handle + 1, of: peer)
            },
            hear: { count in
                try await until("the phone has \(count) values") { heard.count >= count }
            })
        await phone.stop()
        return (heard.all, ticks)
    }

    private func playOnBlueZ() async throws -> (values: [[UInt8]], ticks: [JSON?]) {
        let bus = try PrivateBus()
        let standIn = try await BlueZStandIn.start(on: bus.address, StandInConfiguration())
        var options = BlueZRadio.Options()
        options.bus = .address(bus.address)
        let radio = BlueZRadio(options: options)
        let phone = await standIn.central()
        var values: [[UInt8]] = []
        let ticks = try await Self.play(
            on: radio,
            meet: { _ in
                try await phone.connect(mtu: 185)
                try await phone.subscribe("fff1")
            },
            hear: { count in
                values += try await phone.notifications(count - values.count).map(\.value)
            })
        #expect(await standIn.violations == [])
        return (values, ticks)
    }

    @Test func `a phone gets the same values from our host and from BlueZ, over 10,000 ticks`() async throws {
        async let onHost = playOnOwnHost()
        let onBlueZ = try await playOnBlueZ()
        let onOurs = try await onHost
        let wanted = (1...Self.ticks).map { JSON.integer($0) as JSON? }
        #expect(onOurs.ticks == wanted)
        #expect(onBlueZ.ticks == wanted)
        #expect(onOurs.values.count == Self.ticks)
        #expect(onOurs.values == onBlueZ.values)
        #expect(Set(onOurs.values).count == Self.ticks)
    }
}
