import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahImport

/// A device that is played, captured, imported and played again.
@Suite(.timeLimit(.minutes(15))) struct ReplayTests {
    /// A value that was sent, in the time of its player.
    struct Sent: Hashable {
        var characteristic: BluetoothUUID
        var time: Duration
        var value: [UInt8]
    }

    /// A device on a radio without air, with a clock that is moved by hand.
    private struct Player {
        let radio = FakeRadio()
        let clock = ManualClock()
        let emulator: Emulator
        let peer = Peer(id: .init(7), address: DeviceAddress("AA:BB:CC:DD:EE:FF", kind: .random))

        init(_ path: String) async throws {
            let device = EmulatedDevice(try ProfileLoader.load(path: path), seed: 11)
            emulator = Emulator([device], on: radio, clock: clock, wallTime: { WallTime(microseconds: 0) })
            try await emulator.start()
            await radio.simulate(.connected(peer))
        }

        func key(_ uuid: BluetoothUUID) async throws -> AttributeKey {
            let services = await radio.published.flatMap(\.services)
            return try #require(services.flatMap(\.characteristics).first { $0.uuid == uuid }?.key)
        }

        /// The values that are sent in a time, which passes in steps of a millisecond.
        func play(_ uuids: [BluetoothUUID], milliseconds: Int) async throws -> [Sent] {
            var names: [AttributeKey: BluetoothUUID] = [:]
            for uuid in uuids { names[try await key(uuid)] = uuid }
            var sent: [Sent] = []
            for step in 0...milliseconds {
                if step > 0 {
                    let isDue = clock.pauses.contains { $0 <= .milliseconds(1) }
                    let before = await radio.sent.count
                    clock.advance(by: .milliseconds(1))
                    if isDue { try await until("a value is sent") { await radio.sent.count > before } }
                }
                for value in await radio.sent.dropFirst(sent.count) {
                    sent.append(
                        .init(
                            characteristic: try #require(names[value.attribute]), time: .milliseconds(step),
                            value: value.value))
                }
                // The player sleeps until the next value before time goes on.
                try await clock.waitForSleepers(1)
            }
            return sent
        }
    }

    @Test func `a replay sends the same values at the same times`() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            """
            mynah: 1
            name: Strap
            services:
              - uuid: 180D
                characteristics:
                  - uuid: 2A37
                    properties: [notify]
                    value: {fields: {heartRate: {generate: randomWalk, min: 50, max: 180, step: 3}}}
                    every: 330 ms
                  - {uuid: 2A39, properties: [indicate], value: {hex: 07}, every: 1100 ms}
            """, to: "first.yaml")
        let first = try await Player(directory.path + "/first.yaml")
        // The phone subscribes in the middle of a period.
        for _ in 0..<123 { first.clock.advance(by: .milliseconds(1)) }
        await first.radio.simulate(.subscribed(try await first.key("2A37"), first.peer.id, .notification))
        await first.radio.simulate(.subscribed(try await first.key("2A39"), first.peer.id, .indication))
        let sent = try await first.play(["2A37", "2A39"], milliseconds: 5000)
        await first.emulator.stop()
        #expect(sent.count > 15)

        var script = HCIScript()
        script.connect()
        script.exchange("10 0100 FFFF 0028", "11 06 1000 FFFF 0D18")
        script.exchange("08 1000 FFFF 0328", "09 07 1100 10 1200 372A 1400 20 1500 392A")
        script.exchange("04 1300 1300", "05 01 1300 0229")
        script.exchange("04 1600 1600", "05 01 1600 0229")
        script.exchange("12 1300 0100", "13")
        let start = script.time
        script.exchange("12 1600 0200", "13")
        // Both subscriptions are of one moment, as they were.
        let second = script.time
        for value in sent {
            let handle = value.characteristic == "2A37" ? "1B 1200" : "1D 1500"
            let origin = value.characteristic == "2A37" ? start : second
            let milliseconds = Int64(value.time / .milliseconds(1))
            script.time = origin + milliseconds * 1000 - 10_000
            script.answer(handle + Hex.encode(value.value))
        }
        let result = try script.profile(recordingFile: "again.jsonl")
        try directory.write(result.profile, to: "again.yaml")
        try directory.write(result.recording.text, to: "again.jsonl")

        let again = try await Player(directory.path + "/again.yaml")
        await again.radio.simulate(.subscribed(try await again.key("2A37"), again.peer.id, .notification))
        await again.radio.simulate(.subscribed(try await again.key("2A39"), again.peer.id, .indication))
        let replayed = try await again.play(["2A37", "2A39"], milliseconds: 4990)
        #expect(replayed == sent.filter { $0.time <= .milliseconds(4990) })
        // Reads have the value that was sent last.
        let rate = try await again.key("2A37")
        let last = try #require(sent.last { $0.characteristic == "2A37" && $0.time <= .milliseconds(4990) })
        let read = try await again.radio.request(
            .read(ReadRequest(central: again.peer.id, attribute: rate)))
        #expect(read == .success(last.value))
        await again.emulator.stop()
    }
}
