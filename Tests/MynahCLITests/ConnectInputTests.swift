import Glibc
import MynahTestSupport
import Testing

@Suite(.processes, .timeLimit(.minutes(15))) struct ConnectInputTests {
    @Test func `a pipe is read only as far as its commands are carried out`() async throws {
        let stage = try await AirStage()
        var ends: [Int32] = [-1, -1]
        #expect(makePipe(&ends) == 0)
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        defer { for end in ends { close(end) } }
        let commands = Array("rssi\nwait 1 min\n".utf8)
        #expect(write(ends[1], commands, commands.count) == commands.count)
        let lines = [UInt8](repeating: UInt8(ascii: "\n"), count: 4096)
        while write(ends[1], lines, lines.count) > 0 {}
        func waiting() -> Int {
            var count: Int32 = -1
            _ = ioctl(ends[0], UInt(FIONREAD), &count)
            return Int(count)
        }
        let before = waiting()
        #expect(before > 32768)
        let phone = try stage.phone(["connect", "Mynah HRM", "--format", "json"], input: ends[0])
        // The input is not read for a minute.
        #expect(try await phone.output.line(containing: "\"rssi\"") != nil)
        #expect(waiting() >= before - 4096)
        phone.child.send(SIGINT)
        #expect(try await phone.child.end() == .exited(0))
        try await stage.end()
    }

    @Test func `a line without an end is refused, and ends it`() async throws {
        let stage = try await AirStage()
        let input = try Program.pipe(holding: "read 2A38\n" + String(repeating: "x", count: 20_000))
        let result = try await stage.phone(["connect", "Mynah HRM"], input: input).end()
        #expect(result.status == .exited(1))
        #expect(result.output.contains("body-sensor-location  01"))
        #expect(
            result.complaint
                == """
                error: line 2 of standard input is longer than 16384 bytes; write each command on \
                its own line\n
                """
        )
        try await stage.end()
    }

    @Test func `an input that cannot be read is an error`() async throws {
        let stage = try await AirStage()
        let folder = open("/", O_RDONLY | O_CLOEXEC)
        defer { close(folder) }
        let result = try await stage.phone(["connect", "Mynah HRM"], input: folder).end()
        #expect(result.status == .exited(1))
        #expect(result.complaint == "error: standard input cannot be read: Is a directory\n")
        try await stage.end()
    }

    private static func lock(_ capability: String) throws -> ProfileFile {
        try ProfileFile(
            """
            mynah: 1
            name: Lock
            device: {name: Lock}
            security: {io: \(capability)}
            advertising: {}
            services:
              - uuid: 180F
                characteristics:
                  - {uuid: 2A19, properties: [read], permissions: {read: authenticated}, value: {hex: 64}}
            """)
    }

    @Test func `a question of a pairing is asked again until it is answered`() async throws {
        let profile = try Self.lock("displayYesNo")
        let stage = try await AirStage([profile.path])
        let terminal = try Terminal()
        let phone = try stage.phone(["connect", "lock"], terminal: terminal)
        terminal.type("read 2A19\n")
        #expect(try await terminal.output.line(containing: "yes or no:") != nil)
        terminal.type("maybe\n")
        #expect(
            try await terminal.output.line(containing: "type yes if the numbers are the same, else no") != nil
        )
        terminal.type("YES\n")
        #expect(try await terminal.output.line(containing: "battery-level  64") != nil)
        terminal.type("quit\n")
        #expect(try await phone.child.end() == .exited(0))
        try await stage.end()
    }

    /// A phone at the question for the number of a lock; `answer` types what follows, and ends the phone.
    private func asked(_ answer: (Terminal) async throws -> Void) async throws {
        let profile = try Self.lock("displayOnly")
        let stage = try await AirStage([profile.path])
        let terminal = try Terminal()
        let phone = try stage.phone(["connect", "lock"], terminal: terminal)
        terminal.type("read 2A19\n")
        #expect(try await terminal.output.line(containing: "type the number that the device shows:") != nil)
        try await answer(terminal)
        #expect(try await phone.child.end() == .exited(0))
        try await stage.end()
    }

    @Test func `the end of the input is a no`() async throws {
        try await asked { (terminal) async throws in
            terminal.type("\u{04}")
            #expect(try await terminal.output.line(containing: "Passkey Entry Failed") != nil)
        }
    }

    @Test func `a number is asked for again until one is typed, and a no refuses`() async throws {
        try await asked { (terminal) async throws in
            terminal.type("what number\n")
            #expect(try await terminal.output.line(containing: "up to six digits, or no") != nil)
            terminal.type("no\n")
            #expect(try await terminal.output.line(containing: "error: ") != nil)
            // A command again.
            terminal.type("mtu\n")
            #expect(
                try await terminal.output.line("a line with MTU 517") {
                    $0.contains("MTU 517") && $0.contains("mtu") == false
                } != nil)
            terminal.type("quit\n")
        }
    }
}
