import Foundation
import Glibc
import MynahSupport
import MynahTestSupport
import Testing

/// How often a run is killed; `make kill-test-central` does it 1,000 times.
private let killCount = ProcessInfo.processInfo.environment["MYNAH_CENTRAL_KILLS"].flatMap { Int($0) } ?? 50

/// `mynah run` with an app that is a central is killed at random instants: the next run has what it had
/// reported.
@Suite(.processes, .timeLimit(.minutes(max(15, killCount / 4)))) struct CentralKillTests {
    private static let app = """
        mynah: 1
        name: App
        app: {backgroundModes: [bluetooth-central]}
        central:
          restoreIdentifier: com.example.app
          scan: {services: [180D], until: never}
          peripherals: [{name: Strap, discover: all, read: [180D/2A38], subscribe: [180D/2A37]}]
        """
    private static let strap = """
        mynah: 1
        name: Strap
        advertising: {localName: Strap, serviceUUIDs: [180D], interval: 20 ms}
        services:
          - uuid: 180D
            characteristics:
              - {uuid: 2A37, properties: [notify], value: {hex: 00}, every: 50 ms}
              - {uuid: 2A38, properties: [read], value: {hex: 01}}
          - uuid: 180F
            characteristics: [{uuid: 2A19, properties: [read], value: {hex: 64}}]
        """
    /// So many runs share a state directory, one after the other.
    private static let chainLength = 5

    /// The events of earlier runs, and the state that the next one must have.
    private struct Reported: Sendable {
        var scans = false
        /// The identifiers of devices that were discovered.
        var found: Set<String> = []
        /// The identifiers of devices that the app waits for or has.
        var wanted: Set<String> = []
        var services: Set<String> = []
        var characteristics: Set<String> = []
        var subscriptions: Set<String> = []

        mutating func take(_ event: [String: Any]) {
            let peripheral = event["peripheral"] as? String
            switch event["event"] as? String {
            case "scan.started": scans = true
            // The strap has no bond: on the next link its attributes are discovered anew.
            case "app.restored": (services, characteristics, subscriptions) = ([], [], [])
            case "peripheral.discovered": if let peripheral { found.insert(peripheral) }
            case "peripheral.connecting", "peripheral.connected":
                if let peripheral { wanted.insert(peripheral) }
            case "peripheral.disconnected":
                if let peripheral { wanted.remove(peripheral) }
                (services, characteristics, subscriptions) = ([], [], [])
            case "services.discovered": services.formUnion(event["uuids"] as? [String] ?? [])
            case "characteristics.discovered": characteristics.formUnion(event["uuids"] as? [String] ?? [])
            case "notification.changed":
                if event["on"] as? Bool == true, let uuid = event["characteristic"] as? String {
                    subscriptions.insert(uuid)
                }
            default: break
            }
        }

        /// The parts that the event `app.restored` lacks.
        func missing(from restored: [String: Any]) -> [String] {
            var missing: [String] = []
            if scans, restored["scanServices"] as? [String] != ["180D"] { missing.append("the scan") }
            let peripherals = restored["peripherals"] as? [[String: Any]] ?? []
            let identifiers = peripherals.compactMap { $0["peripheral"] as? String }
            missing += wanted.subtracting(identifiers)
            missing += services.subtracting(peripherals.flatMap { $0["services"] as? [String] ?? [] })
            let subscribed = peripherals.flatMap { $0["subscriptions"] as? [[String: Any]] ?? [] }
                .compactMap { $0["characteristic"] as? String }
            return missing + subscriptions.subtracting(subscribed).map { "the subscription to \($0)" }
        }
    }

    @Test(arguments: 0..<2)
    func `the reported state of a central that was killed is there after the restart`(worker: Int)
        async throws
    {
        var random = SeededGenerator(seed: UInt64(worker))
        let (app, strap) = (try ProfileFile(Self.app), try ProfileFile(Self.strap))
        let air = try TemporaryDirectory()
        let accessory = try Program(
            ["run", "--radio", "virtual", "--events", "json", strap.path], air: air)
        try #require(try await accessory.output.line(containing: "\"ready\"") != nil)
        var kills = 0
        var instants: Set<String> = []
        while kills < (killCount + 1 - worker) / 2 {
            let state = try TemporaryDirectory()
            var reported = Reported()
            var history = ""
            for life in 0...Self.chainLength {
                let program = try Program(
                    ["run", "--radio", "virtual", "--events", "json", "--state-dir", state.path, app.path],
                    air: air)
                // The last life only shows what the others left.
                let isLast = life == Self.chainLength
                let lines = isLast ? 0 : Int.random(in: 0..<20, using: &random)
                let pause = Duration.milliseconds(Int.random(in: 0..<20, using: &random))
                let seen = Lock(Set<String>())
                let hasScan = reported.scans
                _ = try await program.output.line("line \(lines), and what is restored") { line in
                    seen.withLock { seen in
                        // Lines come again with each piece of the output, and each has its time.
                        seen.insert(line)
                        let isReady = line.contains(hasScan ? "\"app.restored\"" : "\"ready\"")
                        return isLast ? isReady : seen.count > lines
                    }
                }
                let instant = ContinuousClock.now + pause
                try await until("a random instant after that line") { ContinuousClock.now >= instant }
                program.child.send(SIGKILL)
                let result = try await program.end()
                #expect(result.status == .killed(SIGKILL), "\(result.error)")
                kills += isLast ? 0 : 1
                // A line that was incomplete when it was killed does not count as reported.
                let whole = result.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                let events = try whole.map { try json(String($0)) }
                if let restored = events.first(where: { $0["event"] as? String == "app.restored" }) {
                    let missing = reported.missing(from: restored)
                    #expect(missing == [], "kill \(kills): \(history)\(result.output)")
                } else if isLast, reported.scans {
                    Issue.record("nothing is restored after kill \(kills): \(result.output)")
                }
                // The directory of a run may not be watched if other programs use up what a user may watch.
                let warnings = events.filter {
                    $0["event"] as? String == "warning" && $0["code"] as? String != "airNotWatched"
                }
                #expect(warnings.isEmpty, "kill \(kills): \(result.output)")
                for event in events { reported.take(event) }
                if let last = events.last?["event"] as? String { instants.insert(last) }
                history += "-- life \(life)\n" + result.output
                try expectWhole(state, reported, "kill \(kills): \(history)")
            }
        }
        // Kills that all come at one instant show little. Fifty may on a busy machine: only many count.
        #expect(killCount < 500 || instants.count >= 5, "\(instants)")
        accessory.child.send(SIGTERM)
        #expect(try await accessory.child.end() == .exited(0))
    }

    /// Every file can be read, and holds what was reported.
    private func expectWhole(_ state: TemporaryDirectory, _ reported: Reported, _ attempt: String) throws {
        var texts: [String: String] = [:]
        for file in state.files where file.hasSuffix(".json") {
            let text = try String(contentsOfFile: "\(state.path)/\(file)", encoding: .utf8)
            #expect(throws: Never.self, "\(attempt): \(file)") { try json(text) }
            texts[file] = text
        }
        let known = texts["known-peripherals.json"] ?? ""
        #expect(reported.found.filter { !known.contains($0) } == [], "\(attempt)")
        let central = texts["central+App+com.example.app.json"] ?? ""
        #expect(reported.characteristics.filter { !central.contains($0) } == [], "\(attempt)")
    }
}
