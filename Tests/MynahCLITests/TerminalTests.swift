import Glibc
import MynahBlueZStandIn
import MynahTestSupport
import Testing

@Suite struct TerminalTests {
    @Test func `a screen shows what happens, and the terminal is given back as it was`() async throws {
        let terminal = try Terminal()
        #expect(terminal.isAsUsual)
        let stage = try await RunTests.Stage([], terminal: terminal)
        #expect(await terminal.output.line(containing: "running") != nil)
        #expect(!terminal.isAsUsual)
        let phone = await stage.standIn.central()
        try await phone.connect()
        #expect(try await phone.read("2a38") == [1])
        #expect(await terminal.output.line(containing: "F0:F1:F2:F3:F4:F5") != nil)
        stage.program.child.send(SIGINT)
        #expect(await stage.program.child.end() == .exited(0))
        #expect(terminal.isAsUsual)
        #expect(await terminal.output.line(containing: "1 reads, 0 writes, 0 notifications") != nil)
        await stage.expectNothingIsLeft()
    }

    @Test func `a second signal gives the terminal back too`() async throws {
        let terminal = try Terminal()
        let stage = try await RunTests.Stage([], terminal: terminal)
        #expect(await terminal.output.line(containing: "running") != nil)
        stage.bus.freeze()
        for signal in [SIGTERM, SIGINT] { stage.program.child.send(signal) }
        #expect(await stage.program.child.end() != .exited(0))
        #expect(terminal.isAsUsual)
    }

    @Test func `a run that cannot start gives the terminal back`() async throws {
        let terminal = try Terminal()
        let stage = try await RunTests.Stage(["--adapter", "hci7"], terminal: terminal)
        let result = await stage.program.end()
        #expect(result.status == .exited(1))
        #expect(result.error.contains("no adapter hci7"))
        #expect(terminal.isAsUsual)
    }

    @Test func `what a phone calls itself does nothing to the terminal`() async throws {
        let terminal = try Terminal()
        let stage = try await RunTests.Stage([], terminal: terminal)
        let lines = try await RunTests.Stage([])
        for (stage, output) in [(stage, terminal.output), (lines, lines.program.output)] {
            await stage.waitUntilItPlays()
            let phone = await stage.standIn.central(named: "e\u{1B}]0;vil\u{9B}2J\r\n\u{202E}name")
            try await phone.connect()
            let line = try #require(await output.line(containing: "vil"))
            #expect(line.contains("e\u{FFFD}]0;vil\u{FFFD}2J\u{FFFD}\u{FFFD}\u{FFFD}name"))
            stage.program.child.send(SIGINT)
            #expect(await stage.program.child.end() == .exited(0))
        }
    }
}
