import Foundation
import Glibc
import MynahTestSupport
import Testing

/// The commands that `mynah --help` shows a newcomer.
@Suite(.processes, .timeLimit(.minutes(15))) struct WalkThroughTests {
    /// A command as a shell runs it.
    private struct Command {
        let child: ChildProcess
        let output: OutputReader
        let error: OutputReader

        init(_ line: String, in directory: String, air: TemporaryDirectory, input: Int32) throws {
            output = try #require(OutputReader())
            error = try #require(OutputReader())
            let program = try #require(Program.path, "the program is in the directory of the tests")
            let folder = URL(fileURLWithPath: program).deletingLastPathComponent().path
            let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
            child = try #require(
                ChildProcess(
                    "sh", ["-c", "cd \"$0\" && exec \(line)", directory],
                    passing: [input: 0, output.writer: 1, error.writer: 2],
                    environment: [
                        "PATH": "\(folder):\(path)", "MYNAH_AIR": air.path, "TZ": "UTC",
                        "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent/mynah/bus",
                    ]))
            output.start()
            error.start()
            close(input)
        }
    }

    @Test func `the commands of the help work as they are printed, one after the other`() async throws {
        let commands = try await Program.run("--help").output.components(separatedBy: "\n")
            .filter { $0.hasPrefix("  mynah ") }
            .compactMap { $0.dropFirst(2).components(separatedBy: "  ").first }
        let words = commands.compactMap { $0.split(separator: " ").dropFirst().first }
        #expect(words == ["new", "check", "show", "run", "scan", "connect", "doctor"])
        let (directory, air) = (try TemporaryDirectory(), try TemporaryDirectory())
        var device: Command?
        for (word, line) in zip(words, commands) {
            let input = try Program.pipe(holding: word == "connect" ? "read body-sensor-location\n" : "")
            let command = try Command(line, in: directory.path, air: air, input: input)
            switch word {
            case "run":
                #expect(try await command.output.line(containing: "ready") != nil)
                device = command
                continue
            case "scan":
                #expect(try await command.output.line(containing: "Mynah HRM") != nil)
                command.child.send(SIGINT)
            case "connect":
                #expect(try await command.output.line(containing: "body-sensor-location  01") != nil)
            default: break
            }
            let status = try await command.child.end()
            let error = try await command.error.text()
            // Without an adapter a run is one with loss.
            let isGood = status == .exited(0) || word == "doctor" && status == .exited(2)
            #expect(isGood, "\(line): \(status), \(error)")
        }
        device?.child.send(SIGINT)
        #expect(try await device?.child.end() == .exited(0))
    }
}
