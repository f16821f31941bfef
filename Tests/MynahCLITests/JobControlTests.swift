import Foundation
import Glibc
import MynahTestSupport
import Testing

/// A run as a job of a shell that has a terminal of its own.
@Suite(.processes, .timeLimit(.minutes(15))) struct JobControlTests {
    /// Types into an interactive shell on a terminal, on the air of a stage.
    private func shell(
        on stage: AirStage, _ body: (_ terminal: Terminal, _ program: String) async throws -> Void
    ) async throws {
        let terminal = try Terminal()
        let path = try #require(Program.path)
        let shell = try #require(
            ChildProcess(
                "setsid", ["--ctty", "bash", "--norc", "--noprofile", "-i"],
                passing: [terminal.device: 0, terminal.device: 1, terminal.device: 2],
                environment: ["TERM": "xterm", "PS1": "$ ", "MYNAH_AIR": stage.air.path, "HISTFILE": nil]))
        try await body(terminal, "'\(path)'")
        // The shell may have got the last line as a command that it does not know.
        terminal.type("exit 0\n")
        #expect(try await shell.end() == .exited(0))
    }

    @Test func `a prompt in the background is an error, with what to do`() async throws {
        let stage = try await AirStage()
        try await shell(on: stage) { terminal, mynah in
            terminal.type("\(mynah) connect 'Mynah HRM' --radio virtual & wait $!; echo status$((40+$?))\n")
            let error = try #require(await terminal.output.line(containing: "error: "))
            #expect(error.contains("a program in the background cannot read the terminal; use --command"))
            #expect(try await terminal.output.line(containing: "status41") != nil)
        }
        try await stage.end()
    }

    @Test func `a question that is open when the program is stopped is shown again`() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(PairingRunTests.lock("displayOnly"), to: "lock.yaml")
        let stage = try await AirStage([directory.path + "/lock.yaml"])
        try await shell(on: stage) { terminal, mynah in
            terminal.type("\(mynah) record Lock --radio virtual --timeout '1 ms'\n")
            let question = "type the number that the device shows:"
            #expect(try await terminal.output.line(containing: question) != nil)
            terminal.type("\u{1A}")
            #expect(try await terminal.output.line(containing: "Stopped") != nil)
            terminal.type("fg; echo status$((40+$?))\n")
            // The link of a program that is stopped for long ends, and its question with it.
            try await until("the question is shown again") {
                terminal.output.lines.count { $0.contains(question) } == 2
                    || terminal.output.lines.contains { $0.contains("are not read: ") }
            }
            terminal.type("no\n")
            #expect(try await terminal.output.line(containing: "status41") != nil)
        }
        try await stage.end()
    }

    @Test(arguments: [true, false])
    func `a run in the background plays on while the shell is used, and its screen comes back with it`(
        comesBack: Bool
    ) async throws {
        let terminal = try Terminal()
        let path = try #require(Program.path)
        let air = try TemporaryDirectory()
        let shell = try #require(
            ChildProcess(
                "setsid", ["--ctty", "bash", "--norc", "--noprofile", "-i"],
                passing: [terminal.device: 0, terminal.device: 1, terminal.device: 2],
                environment: ["TERM": "xterm", "PS1": "$ ", "MYNAH_AIR": air.path, "HISTFILE": nil]))
        terminal.type("'\(path)' run --radio virtual '\(AirStage.heartRate)'\n")
        #expect(try await terminal.output.line(containing: "running  virtual radio") != nil)
        terminal.type("\u{1A}")
        #expect(try await terminal.output.line(containing: "Stopped") != nil)
        terminal.type("bg\n")
        // Input now belongs to the shell: reading it would stop the run.
        terminal.type("echo mark$((40+2))\n")
        #expect(
            try await terminal.output.line("mark42") { $0.hasPrefix("mark42") || $0.hasSuffix("mark42\r") }
                != nil)
        let phone = try await Program(["connect", "Mynah HRM", "--command", "read 2A38"], air: air).end()
        #expect(phone.output.contains("body-sensor-location  01"))
        terminal.type("jobs\n")
        #expect(try await terminal.output.line(containing: "Running") != nil)
        if comesBack {
            // In one line, since input that is typed while the run ends may be lost.
            terminal.type("fg; echo status$((40+$?))\n")
            // An event makes it notice that the terminal is its own again: no signal says so.
            let commands = ["subscribe 2A37", "wait 1 min"].flatMap { ["--command", $0] }
            let second = try Program(["connect", "Mynah HRM"] + commands, air: air)
            #expect(try await second.output.line(containing: "is subscribed") != nil)
            #expect(try await terminal.output.line(containing: "body-sensor-location") != nil)
            second.child.send(SIGINT)
            #expect(try await second.child.end() == .exited(0))
            terminal.type("\u{03}")
        } else {
            terminal.type("kill -TERM %1; wait %1; echo status$((40+$?))\n")
        }
        #expect(try await terminal.output.line(containing: "1 read, 0 writes") != nil)
        #expect(try await terminal.output.line(containing: "status40") != nil)
        terminal.type("exit\n")
        #expect(try await shell.end() == .exited(0))
        let shown = try await terminal.end()
        // Nothing was drawn while the terminal was the shell's.
        let pieces = shown.components(separatedBy: "\u{1B}[?1049l")
        #expect(pieces.count == (comesBack ? 3 : 2))
        for piece in pieces.dropFirst() {
            #expect(!piece.components(separatedBy: "\u{1B}[?1049h")[0].contains("\u{1B}[H"))
        }
    }
}
