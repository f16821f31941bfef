import MynahCore
import MynahEmulator
import MynahHCI
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// Devices and phones on a private air with virtual time.
@Suite(.timeLimit(.minutes(5))) struct SimulatedRunTests {
    private static let strap = """
        mynah: 1
        name: Strap
        advertising: {serviceUUIDs: [180D], interval: 100 ms}
        services:
          - uuid: 180D
            characteristics:
              - {uuid: 2A37, properties: [notify], every: 1 s, value: {generate: heart-rate}}
              - {uuid: 2A38, properties: [read], permissions: {read: encrypted}, value: {hex: 01}}
        """
    private static let app = """
        mynah: 1
        name: App
        app: {backgroundModes: [bluetooth-central]}
        central:
          restoreIdentifier: com.example.app
          scan: {services: [180D]}
          peripherals:
            - name: Strap
              match: {services: [180D]}
              read: [180D/2A38]
              subscribe: [180D/2A37]
        """

    /// The events of a run of two devices and a phone for so long, as JSON.
    ///
    /// The devices keep their bonds in `folder`, or in memory without one.
    private func history(
        _ seed: UInt64, _ length: Duration, folder: String? = nil
    ) async throws -> [String] {
        let time = VirtualTime(.fast)
        let air = PrivateAir(seed: seed, time: time)
        let lines = Lock<[String]>([])
        var emulators: [Emulator] = []
        for (index, text) in [Self.strap, Self.strap, Self.app].enumerated() {
            let profile = try ProfileLoader.load(text: text, file: "test.yaml")
            var options = HostRadioOptions()
            options.isSimulated = true
            options.address = profile.app == nil ? .automatic : .resolvablePrivate()
            options.bonds = folder.map {
                BondFile(path: "\($0)/\(index).json", writer: FileWriter(RunClock(time)))
            }
            let device = EmulatedDevice(profile, seed: seed, label: "\(profile.name) \(index)")
            emulators.append(
                Emulator(
                    [device], on: air.radio(on: air.transport(), options: options),
                    clock: RunClock(time), seed: seed,
                    observer: { event in lines.withLock { $0.append("\(index) \(event.json.text)") } }))
        }
        let played = emulators
        let task = Task(executorPreference: time.executor) { () async -> String? in
            do {
                for emulator in played { try await emulator.start() }
                try await RunClock(time).sleep(for: length)
                for emulator in played.reversed() { await emulator.stop() }
                return nil
            } catch {
                return "\(error)"
            }
        }
        #expect(await task.value == nil)
        time.end()
        return lines.withLock { $0 }
    }

    @Test func `one seed is one history`() async throws {
        let first = try await history(7, .seconds(20))
        let second = try await history(7, .seconds(20))
        #expect(first == second)
        #expect(first.count { $0.contains("\"notified\"") } >= 19)
        #expect(first.contains { $0.contains("\"value.read\"") && $0.contains("\"01\"") })
        #expect(first != (try await history(8, .seconds(20))))
    }

    @Test func `bonds of a simulation say so`() async throws {
        let temporary = try TemporaryDirectory()
        _ = try await history(7, .seconds(10), folder: temporary.path)
        // The first device and the phone have paired.
        for name in ["0", "2"] {
            let bytes = try #require(try KeptFile(path: "\(temporary.path)/\(name).json").read())
            let json = try JSON(parsing: bytes)
            let bonds = json["bonds"]?.arrayValue ?? []
            #expect(json["simulated"] == .bool(true))
            #expect(bonds.map { $0["simulated"] } == [.bool(true)])
        }
    }
}
