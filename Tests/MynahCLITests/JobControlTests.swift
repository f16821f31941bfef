import Glibc
import MynahTestSupport
import Testing

/// A run as a job of a shell that has a terminal of its own.
@Suite(.timeLimit(.minutes(1))) struct JobControlTests {
    @Test func `a run in the background plays on while the shell is used, and ends by a signal`() async throws
    {
        let terminal = try Terminal()
        let path = try #require(Program.path)
        let air = try TemporaryDirectory()
        let shell = try #require(
            ChildProcess(
                "setsid", ["--ctty", "bash", "--norc", "--noprofile", "-i"],
                passing: [terminal.device: 0, terminal.device: 1, terminal.device: 2],
                environment: ["TERM": "xterm", "PS1": "$ ", "MYNAH_AIR": air.path, "HISTFILE": nil]))
        terminal.type("'\(path)' run --radio virtual '\(AirStage.heartRate)'\n")
        #expect(await terminal.output.line(containing: "virtual radio  running") != nil)
        terminal.type("\u{1A}")
        #expect(await terminal.output.line(containing: "Stopped") != nil)
        terminal.type("bg\n")
        // What is typed now is the shell's: reading it would stop the run.
        terminal.type("echo mark$((40+2))\n")
        #expect(await terminal.output.line { $0.hasPrefix("mark42") || $0.hasSuffix("mark42\r") } != nil)
        let phone = try await Program(["connect", "Mynah HRM", "--command", "read 2A38"], air: air).end()
        #expect(phone.output.contains("body-sensor-location  01"))
        terminal.type("jobs\n")
        #expect(await terminal.output.line(containing: "Running") != nil)
        terminal.type("kill -TERM %1; wait %1; echo status$((40+$?))\n")
        #expect(await terminal.output.line(containing: "status40") != nil)
        #expect(await terminal.output.line(containing: "1 reads, 0 writes") != nil)
        terminal.type("exit\n")
        #expect(await shell.end() == .exited(0))
        let shown = await terminal.end()
        // The screen was entered and left once: nothing was drawn after it was given back.
        #expect(shown.split(separator: "\u{1B}[?1049h", omittingEmptySubsequences: false).count == 2)
        #expect(shown.split(separator: "\u{1B}[?1049l").last?.contains("\u{1B}[H") == false)
    }
}
