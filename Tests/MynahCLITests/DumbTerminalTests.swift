import Glibc
import MynahTestSupport
import Testing

/// Terminals that move no cursor, or have no room.
@Suite(.processes, .timeLimit(.minutes(15))) struct DumbTerminalTests {
    @Test(arguments: ["dumb", "", nil] as [String?])
    func `a terminal without escapes gets lines`(term: String?) async throws {
        let stage = try await AirStage()
        for (arguments, words) in [
            (["run", "--radio", "virtual", "\(repository)/profiles/battery.yaml"], "ready"),
            (["scan"], "Mynah HRM"),
        ] {
            let terminal = try Terminal()
            let program = try Program(
                arguments, terminal: terminal, hasErrorsOnTerminal: true, air: stage.air, term: term)
            #expect(try await terminal.output.line(containing: words) != nil)
            try Intruder.disturb(stage.air)
            #expect(try await terminal.output.line(containing: "warning") != nil)
            program.child.send(SIGINT)
            #expect(try await program.child.end() == .exited(0))
            #expect(terminal.isAsUsual)
            let shown = try await terminal.end()
            #expect(!shown.contains("\u{1B}"))
        }
        try await stage.end()
    }

    @Test func `a prompt on a terminal without escapes takes the lines that the terminal edits`() async throws
    {
        let stage = try await AirStage()
        let terminal = try Terminal()
        let phone = try Program(["connect", "mynah"], terminal: terminal, air: stage.air, term: "dumb")
        #expect(try await terminal.output.line(containing: "180F Battery") != nil)
        #expect(terminal.isAsUsual)
        #expect(try await terminal.output.line(containing: "help lists commands\r") != nil)
        terminal.type("read 2A39\u{7F}8\n")
        #expect(try await terminal.output.line(containing: "body-sensor-location  01") != nil)
        terminal.type("nonsense\n")
        #expect(try await terminal.output.line(containing: "there is no command \"nonsense\"") != nil)
        terminal.type("\u{04}")
        #expect(try await phone.child.end() == .exited(0))
        let shown = try await terminal.end()
        // The terminal echoes what is typed at once, before the prompt if that comes later.
        #expect(shown.contains("Mynah HRM> ") && shown.contains("nonsense\r\n"))
        #expect(!shown.contains("\u{1B}"))
        try await stage.end()
    }

    @Test(arguments: [(1, 1), (1, 0), (0, 1), (2, 3), (3, 200)] as [(UInt16, UInt16)])
    func `a screen without room does no harm`(rows: UInt16, columns: UInt16) async throws {
        let air = try TemporaryDirectory()
        let screen = try Terminal(rows: rows, columns: columns)
        let device = try Program(
            ["run", "--radio", "virtual", AirStage.heartRate], terminal: screen, air: air)
        let phone = try await Program(["connect", "Mynah HRM", "--command", "read 2A38"], air: air).end()
        #expect(phone.status == .exited(0))
        let table = try Terminal(rows: rows, columns: columns)
        let scan = try Program(["scan", "--timeout", "1 s"], terminal: table, air: air)
        #expect(try await scan.child.end() == .exited(0))
        let prompt = try Terminal(rows: rows, columns: columns)
        let connected = try Program(["connect", "Mynah HRM"], terminal: prompt, air: air)
        prompt.type("read 2A38\nquit\n")
        #expect(try await connected.child.end() == .exited(0))
        device.child.send(SIGINT)
        #expect(try await device.child.end() == .exited(0))
        // The lines that remain on a terminal are cut to its width.
        guard columns > 100 else { return }
        #expect(try await table.output.line(containing: "Mynah HRM") != nil)
        #expect(try await screen.output.line(containing: "2 reads, 0 writes") != nil)
    }
}
