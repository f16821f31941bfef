import Foundation
import Glibc
import MynahTestSupport
import Testing

@Suite(.processes, .timeLimit(.minutes(15))) struct SignalTests {
    private func device(
        _ launcher: [String], on air: TemporaryDirectory
    ) async throws -> Program {
        let device = try Program(
            ["run", "--events", "json", "--radio", "virtual", AirStage.heartRate], air: air,
            launcher: launcher)
        try #require(try await device.output.line(containing: "\"ready\"") != nil)
        return device
    }

    @Test func `started with nohup, a run goes on after SIGHUP`() async throws {
        let air = try TemporaryDirectory()
        let device = try await device(["nohup"], on: air)
        let status = try String(contentsOfFile: "/proc/\(device.child.identifier)/status", encoding: .utf8)
        let ignored = try #require(status.split(separator: "\n").first { $0.hasPrefix("SigIgn:") })
        let mask = try #require(UInt64(ignored.split(separator: "\t")[1], radix: 16))
        #expect(mask & 1 << (SIGHUP - 1) != 0)
        device.child.send(SIGHUP)
        let phone = try await Program(["connect", "Mynah HRM", "--command", "read 2A38"], air: air).end()
        #expect(phone.status == .exited(0))
        #expect(phone.output.contains("body-sensor-location  01"))
        device.child.send(SIGTERM)
        let result = try await device.end()
        #expect(result.status == .exited(0))
        #expect(result.output.contains("\"read\""))
    }

    @Test(
        arguments: ["--ignore-signal=INT,TERM", "--block-signal=INT,TERM"], [SIGINT, SIGTERM])
    func `a signal that was ignored or blocked at the start ends a run`(
        inheritance: String, signal: Int32
    ) async throws {
        let device = try await device(["env", inheritance], on: try TemporaryDirectory())
        device.child.send(signal)
        #expect(try await device.child.end() == .exited(0))
    }
}
