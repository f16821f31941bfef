import Foundation
import Glibc
import MynahBlueZStandIn
import MynahTestSupport
import Testing

@Suite(.processes, .timeLimit(.minutes(15))) struct TerminalTests {
    @Test func `a screen shows what happens, and the terminal is given back as it was`() async throws {
        let terminal = try Terminal()
        #expect(terminal.isAsUsual)
        let stage = try await RunTests.Stage([], terminal: terminal)
        #expect(try await terminal.output.line(containing: "running") != nil)
        #expect(!terminal.isAsUsual)
        let phone = await stage.standIn.central()
        try await phone.connect()
        #expect(try await phone.read("2a38") == [1])
        #expect(try await terminal.output.line(containing: "F0:F1:F2:F3:F4:F5") != nil)
        stage.program.child.send(SIGINT)
        #expect(try await stage.program.child.end() == .exited(0))
        #expect(terminal.isAsUsual)
        #expect(try await terminal.output.line(containing: "1 read, 0 writes, 0 notifications") != nil)
        await stage.expectNothingIsLeft()
    }

    @Test func `of two devices the screen shows what each has on the air`() async throws {
        let terminal = try Terminal()
        let profiles = ["heart-rate", "battery"].map { "\(repository)/profiles/\($0).yaml" }
        let program = try Program(["run", "--radio", "virtual"] + profiles, terminal: terminal)
        #expect(try await terminal.output.line(containing: "05030D180F18") != nil)
        #expect(try await terminal.output.line(containing: "03030F1804160F185F") != nil)
        #expect(try await terminal.output.line(containing: "every 100 ms") != nil)
        #expect(try await terminal.output.line(containing: "every 200 ms") != nil)
        program.child.send(SIGINT)
        #expect(try await program.child.end() == .exited(0))
        #expect(terminal.isAsUsual)
    }

    @Test func `a screen without room for its devices says how many are hidden, and no line is too long`()
        async throws
    {
        let terminal = try Terminal(rows: 8, columns: 40)
        let files = try (1...12).map { number in
            try ProfileFile("mynah: 1\nname: Strap with a name \(number)\nadvertising: {}\n")
        }
        let program = try Program(["run", "--radio", "virtual"] + files.map(\.path), terminal: terminal)
        // Of eight rows the last line, the keys and the centrals have one each.
        #expect(try await terminal.output.line(containing: "and 7 more devices") != nil)
        program.child.send(SIGINT)
        #expect(try await program.child.end() == .exited(0))
        #expect(try await terminal.output.line(containing: "Strap with a name 1 and 11 more:\r") != nil)
        #expect(try await terminal.output.line(containing: "  0 reads, 0 writes, 0 notifications\r") != nil)
    }

    @Test func `keys lead an app through its life, and arrows and function keys do not`() async throws {
        let terminal = try Terminal()
        let stage = try await RunTests.Stage(
            ["--state", "foreground"], profiles: [PreservedRunTests.profile], terminal: terminal)
        #expect(try await terminal.output.line(containing: "running") != nil)
        terminal.type("\u{1B}q\u{1B}Oq\u{1B}[1;2q")
        for (key, event) in [
            ("b", "app.background"), ("s", "app.suspended"), ("f", "app.foreground"), ("t", "app.terminated"),
            ("f", "app.launched"), ("q", "app.quit"),
        ] {
            terminal.type(key)
            #expect(try await terminal.output.line(containing: event) != nil)
        }
        stage.program.child.send(SIGINT)
        #expect(try await stage.program.child.end() == .exited(0))
        await stage.expectNothingIsLeft()
    }

    @Test func `a number that the phone shows is typed and mended, and they are paired`() async throws {
        let file = try ProfileFile(
            """
            mynah: 1\nname: Lock\nadvertising: {}\nsecurity: {io: keyboardOnly}\nservices: [{uuid: \
            battery}]\n
            """
        )
        let terminal = try Terminal()
        let stage = try await RunTests.Stage([], profiles: [file.path], terminal: terminal)
        try await stage.waitUntilItPlays()
        let phone = await stage.standIn.central()
        try await phone.connect()
        async let pairing: Void = phone.pair(passkey: 12345)
        #expect(try await terminal.output.line(containing: "type the number") != nil)
        terminal.type("0123\u{1B}[15~46\u{7F}5\n")
        try await pairing
        #expect(try await terminal.output.line(containing: "paired") != nil)
        stage.program.child.send(SIGINT)
        #expect(try await stage.program.child.end() == .exited(0))
        await stage.expectNothingIsLeft()
    }

    @Test func `a second signal gives the terminal back too`() async throws {
        let terminal = try Terminal()
        let stage = try await RunTests.Stage([], terminal: terminal)
        #expect(try await terminal.output.line(containing: "running") != nil)
        stage.bus.freeze()
        for signal in [SIGTERM, SIGINT] { stage.program.child.send(signal) }
        #expect(try await stage.program.child.end() != .exited(0))
        #expect(terminal.isAsUsual)
    }

    @Test func `a run that cannot start gives the terminal back`() async throws {
        let terminal = try Terminal()
        let stage = try await RunTests.Stage(["--adapter", "hci7"], terminal: terminal)
        let result = try await stage.program.end()
        #expect(result.status == .exited(1))
        #expect(result.error.contains("no adapter hci7"))
        #expect(terminal.isAsUsual)
    }

    @Test func `a phone's name does nothing to the terminal`() async throws {
        let terminal = try Terminal()
        let stage = try await RunTests.Stage([], terminal: terminal)
        let lines = try await RunTests.Stage([])
        for (stage, output) in [(stage, terminal.output), (lines, lines.program.output)] {
            try await stage.waitUntilItPlays()
            let phone = await stage.standIn.central(named: "e\u{1B}]0;vil\u{9B}2J\r\n\u{202E}name")
            try await phone.connect()
            let line = try #require(try await output.line(containing: "vil"))
            #expect(line.contains("e\u{FFFD}]0;vil\u{FFFD}2J\u{FFFD}\u{FFFD}\u{FFFD}name"))
            stage.program.child.send(SIGINT)
            #expect(try await stage.program.child.end() == .exited(0))
        }
    }

    @Test func `a warning of the air is an event of the run, in every format of events`() async throws {
        for format in ["screen", "text", "json", "off"] {
            let air = try TemporaryDirectory()
            let terminal = try format == "screen" ? Terminal() : nil
            let program = try Program(
                [
                    "run", "--radio", "virtual", "--events", format == "screen" ? "text" : format,
                    AirStage.heartRate,
                ],
                terminal: terminal, hasErrorsOnTerminal: terminal != nil, air: air)
            try await until("a process is on the air") { !air.files.isEmpty }
            // Where events are off, that it plays is seen on the air.
            let phone = try await Program(["connect", "Mynah HRM", "--command", "read 2A38"], air: air).end()
            #expect(phone.status == .exited(0))
            try Intruder.disturb(air)
            let words = "a process on this air"
            switch format {
            case "off":
                #expect(try await program.error.line(containing: words)?.hasPrefix("warning: ") == true)
            case "json":
                let line = try #require(try await program.output.line(containing: words))
                #expect(try json(line)["code"] as? String == "airNonsense")
            case "text":
                #expect(try await program.output.line(containing: words)?.contains("warning") == true)
            default:
                let line = try await terminal?.output.line(containing: words)
                #expect(line?.contains("warning") == true && line?.contains("\u{1B}[K\r") == true)
            }
            program.child.send(SIGINT)
            let result = try await program.end()
            #expect(result.status == .exited(0))
            #expect(result.error.contains(words) == (format == "off"))
        }
    }

    @Test func `a warning is not written over a table or a prompt`() async throws {
        let stage = try await AirStage()
        let table = try Terminal()
        let scan = try Program(["scan"], terminal: table, hasErrorsOnTerminal: true, air: stage.air)
        #expect(try await table.output.line(containing: "Mynah HRM") != nil)
        let prompt = try Terminal()
        let phone = try Program(
            ["connect", "mynah"], terminal: prompt, hasErrorsOnTerminal: true, air: stage.air)
        #expect(try await prompt.output.line(containing: "180F Battery") != nil)
        try Intruder.disturb(stage.air)
        #expect(
            try await table.output.line("a warning beside the table") {
                $0.hasPrefix("warning: ") && $0.contains("\u{1B}[K\r")
            } != nil)
        // It clears the prompt's line first.
        #expect(
            try await prompt.output.line("a warning beside the prompt") { $0.contains("\r\u{1B}[Kwarning: ") }
                != nil)
        for program in [scan, phone] {
            program.child.send(SIGINT)
            #expect(try await program.child.end() == .exited(0))
        }
        // The notes at the bottom of the screen remain.
        let left = try #require(try await table.end().components(separatedBy: "\u{1B}[?1049l").last)
        #expect(left.contains("\nwarning: "))
        try await stage.end()
    }
}
