import Foundation
import Glibc
import MynahTestSupport
import Testing

/// A device that plays on an air of its own, and phones beside it.
final class AirStage {
    let air: TemporaryDirectory
    let devices: [Program]

    static let heartRate = "\(repository)/profiles/heart-rate.yaml"

    init(_ profiles: [String] = [AirStage.heartRate], _ options: [String] = []) async throws {
        let air = try TemporaryDirectory()
        self.air = air
        devices = try profiles.map {
            try Program(["run", "--events", "json", "--radio", "virtual"] + options + [$0], air: air)
        }
        for device in devices { try #require(try await device.output.line(containing: "\"ready\"") != nil) }
    }

    func phone(
        _ arguments: [String], terminal: Terminal? = nil, hasErrorsOnTerminal: Bool = false,
        input: Int32? = nil
    ) throws -> Program {
        try Program(
            arguments + (arguments.contains("--radio") ? [] : ["--radio", "virtual"]), terminal: terminal,
            hasErrorsOnTerminal: hasErrorsOnTerminal, input: input, air: air)
    }

    private var sockets: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: air.path))?.count ?? -1
    }

    /// Ends the devices as a user does; they leave nothing on the air.
    func end() async throws {
        let before = sockets
        for device in devices {
            device.child.send(SIGINT)
            #expect(try await device.child.end() == .exited(0))
        }
        // A phone may end meanwhile, and take its own along.
        #expect(sockets <= before - devices.count)
    }
}
