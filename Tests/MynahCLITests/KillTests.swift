import Foundation
import Glibc
import MynahCore
import MynahHCI
import MynahHost
import MynahSupport
import MynahTestSupport
import Testing

/// How often each event is tried.
private let killTries = ProcessInfo.processInfo.environment["MYNAH_KILL_TRIES"].flatMap { Int($0) } ?? 8

/// `mynah run` is killed the moment it has reported something: what it reported is in its state directory.
@Suite(.processes, .serialized, .timeLimit(.minutes(max(15, killTries / 5)))) struct KillTests {
    static let accessory = """
        mynah: 1
        name: Killed
        advertising: {localName: Killed, interval: 20 ms}
        services:
          - uuid: 180D
            characteristics:
              - {uuid: 2A37, properties: [read, notify], value: {hex: 00}}
        """

    /// A run with a state directory on an air of its own.
    private struct Stage {
        let air: TemporaryDirectory
        let state: TemporaryDirectory
        let program: Program

        init(_ profile: String, _ options: [String] = []) throws {
            air = try TemporaryDirectory()
            state = try TemporaryDirectory()
            program = try Program(
                ["run", "--events", "json", "--radio", "virtual", "--state-dir", state.path, profile]
                    + options,
                air: air)
        }

        /// Connects a phone to it.
        func phone() async throws -> (HostRadio, Peer.ID) {
            try #require(await program.output.line(containing: "\"ready\"") != nil)
            let shared = try SharedAir(directory: air.path)
            let phone = HostRadio(transport: shared.transport(cipher: ControllerConfiguration.aes))
            let heard = Mailbox<DeviceAddress>("addresses of devices")
            try await phone.start(DeviceIdentity(name: "Phone"), central: Listener(heard: heard))
            try await phone.scan(ScanOptions())
            let address = try await heard.take()[0]
            await phone.stopScan()
            return (phone, try await phone.connect(address, timeout: .seconds(60)).id)
        }

        /// Kills it as soon as it has reported this, and returns what the file holds.
        func kill(after event: String, _ file: String) async throws -> [String: Any] {
            try #require(await program.output.line(containing: "\"event\":\"\(event)\"") != nil)
            program.child.send(SIGKILL)
            _ = try await program.child.end()
            return try json(try state.read(file))
        }
    }

    private struct Listener: CentralSink {
        let heard: Mailbox<DeviceAddress>

        func handle(_ event: CentralEvent) -> RadioAnswer {
            if case .heard(let report) = event { heard.put(report.address) }
            return .none
        }
    }

    @Test func `a bond that was reported is kept`() async throws {
        let profile = try ProfileFile(Self.accessory)
        for attempt in 1...killTries {
            let stage = try Stage(profile.path)
            let (phone, peer) = try await stage.phone()
            try? await phone.pair(peer)
            let kept = try await stage.kill(after: "paired", "bonds+Killed.json")
            #expect((kept["bonds"] as? [Any])?.count == 1, "try \(attempt)")
            await phone.stop()
        }
    }

    @Test func `a subscription that was reported is kept`() async throws {
        let profile = try ProfileFile(Self.accessory)
        for attempt in 1...killTries {
            let stage = try Stage(profile.path)
            let (phone, peer) = try await stage.phone()
            try await phone.pair(peer)
            let services = try await phone.discoverServices("180D", of: peer)
            let service = try #require(services.first)
            let characteristics = try await phone.discoverCharacteristics(in: service, of: peer)
            let rate = try #require(characteristics.first)
            try? await phone.write([1, 0], to: rate.handle + 1, of: peer)
            let kept = try await stage.kill(after: "subscribed", "bonds+Killed.json")
            let bond = try #require((kept["bonds"] as? [[String: Any]])?.first)
            // Beside the phone's own, to Service Changed.
            let configurations = bond["configurations"] as? [[String: Int]] ?? []
            let isKept = configurations.contains {
                $0["handle"] == Int((rate.handle + 1).rawValue) && $0["value"] == 1
            }
            #expect(isKept, "try \(attempt)")
            await phone.stop()
        }
    }

    @Test func `an advertisement that was reported is kept`() async throws {
        let profile = try ProfileFile(AppRunTests.app)
        for attempt in 1...killTries {
            let stage = try Stage(profile.path)
            let kept = try await stage.kill(
                after: "advertising.started", "peripheral+App+com.example.hrm.json")
            #expect(kept["advertisement"] is [String: Any], "try \(attempt)")
        }
    }
}
