import Glibc
import MynahSupport
import MynahTestSupport
import Testing

@Suite(.processes, .timeLimit(.minutes(15))) struct OutputTests {
    static let commands = [
        ["--help"], ["--version"], ["help", "run"], ["run", "--help"],
        ["--generate-completion-script", "bash"],
        ["new"], ["show", AirStage.heartRate], ["show", AirStage.heartRate, "--format", "json"],
        ["check", AirStage.heartRate],
    ]

    @Test(arguments: commands)
    func `an output that takes nothing is an error of every command`(arguments: [String]) async throws {
        let full = try #require(OutputReader(writingTo: "/dev/full"))
        let result = try await Program(arguments, output: full).end()
        #expect(result.status == .exited(1))
        #expect(result.error == "error: standard output cannot be written: No space left on device\n")
    }

    @Test(arguments: [
        "check \"$1\"", "doctor", "run --radio virtual --timeout 1s \"$1\"",
        "scan --radio virtual --timeout 1s",
        "serve --radio virtual --control 127.0.0.1:0", "ctl devices", "connect Nobody --timeout 1s",
        "record Nobody", "new", "show \"$1\"", "import \"$1\"",
    ])
    func `too few open files are an error of every command`(command: String) async throws {
        let path = try #require(Program.path)
        for limit in [8, 12, 21] {
            let errors = try #require(OutputReader())
            let shell = try #require(
                ChildProcess(
                    "bash", ["-c", "ulimit -n \(limit); exec \"$0\" \(command)", path, AirStage.heartRate],
                    passing: [errors.writer: 2]))
            errors.start()
            #expect(try await shell.end() == .exited(1))
            let text = try await errors.text()
            let start = "error: the program needs a limit of at least "
            let end = " open files, and it is \(limit); allow more open files, as with ulimit -n 1024\n"
            #expect(text.hasPrefix(start) && text.hasSuffix(end), "\(text)")
            // Standard input, output and errors are open at least.
            let needed = Int(text.dropFirst(start.count).dropLast(end.count)) ?? 0
            #expect(needed >= OpenFiles.needed + 3, "\(text)")
        }
    }

    @Test(arguments: ["serve", "run \"$2\" --state-dir \"$3\""])
    func `a control API answers, or its run says what limit of open files it needs`(
        verb: String
    ) async throws {
        let path = try #require(Program.path)
        let folder = try TemporaryDirectory()
        var answered = 0
        // From what every command needs to what is enough.
        for limit in Array(OpenFiles.needed + 3...OpenFiles.needed + 10) + [60, 90] {
            let (output, errors) = (try #require(OutputReader()), try #require(OutputReader()))
            let address = "unix:\(folder.path)/\(limit)"
            let command = #""$0" \#(verb) --radio virtual --events json --control "$1" --capture "$4""#
            let words = [
                path, address, AirStage.heartRate, folder.path + "/state", folder.path + "/a.pcapng",
            ]
            let server = try #require(
                ChildProcess(
                    "bash", ["-c", "ulimit -n \(limit); exec \(command)"] + words,
                    passing: [output.writer: 1, errors.writer: 2], environment: ["MYNAH_AIR": folder.path]))
            output.start()
            errors.start()
            if try await output.line(containing: "\"ready\"") != nil,
                try await Program.run("ctl", "--control", address, "devices").status == .exited(0)
            {
                answered += 1
                server.send(SIGTERM)
                #expect(try await server.end() == .exited(0))
                continue
            }
            #expect(try await server.end() == .exited(1))
            let text = try await errors.text()
            #expect(text.contains(" needs a limit of at least "), "\(text)")
            #expect(text.hasSuffix(", and it is \(limit); allow more open files, as with ulimit -n 1024\n"))
        }
        #expect(answered > 0)
    }

    @Test func `an output that is closed is an error too`() async throws {
        let path = try #require(Program.path)
        let errors = try #require(OutputReader())
        let shell = try #require(
            ChildProcess("sh", ["-c", "exec \"$0\" new >&-", path], passing: [errors.writer: 2]))
        errors.start()
        #expect(try await shell.end() == .exited(1))
        #expect(try await errors.text() == "error: standard output cannot be written: Bad file descriptor\n")
    }

    @Test func `a reader that has seen enough is no error`() async throws {
        let path = try #require(Program.path)
        var ends: [Int32] = [-1, -1]
        #expect(makePipe(&ends) == 0)
        close(ends[0])
        defer { close(ends[1]) }
        for (launcher, status) in [
            (["env"], .killed(SIGPIPE)), (["env", "--ignore-signal=PIPE"], .exited(0)),
        ] as [([String], ChildProcess.Status)] {
            let errors = try #require(OutputReader())
            let program = try #require(
                ChildProcess(
                    launcher[0], launcher.dropFirst() + [path, "new"],
                    passing: [ends[1]: 1, errors.writer: 2]))
            errors.start()
            #expect(try await program.end() == status)
            #expect(try await errors.text() == "")
        }
    }

    @Test func `log lines have times with microseconds, and carry what they are about`() async throws {
        let program = try Program(["run", "--radio", "virtual", "--log-level", "trace", AirStage.heartRate])
        let line = try #require(try await program.error.line(containing: " trace mynah.host: "))
        let time = try #require(line.split(separator: " ").first)
        #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z/) != nil)
        #expect(line.contains(" body=030C00 "))
        program.child.send(SIGINT)
        #expect(try await program.child.end() == .exited(0))
    }

    @Test func `log lines that nobody reads stop neither the device nor its end`() async throws {
        let stalled = try #require(OutputReader())
        defer { stalled.abandon() }
        // Full from the start.
        _ = fcntl(stalled.writer, F_SETFL, O_NONBLOCK)
        let bytes = [UInt8](repeating: 0x2E, count: 4096)
        while write(stalled.writer, bytes, bytes.count) > 0 {}
        _ = fcntl(stalled.writer, F_SETFL, 0)
        let air = try TemporaryDirectory()
        let device = try Program(
            ["run", "--radio", "virtual", "--log-level", "trace", AirStage.heartRate], errors: stalled,
            air: air)
        #expect(try await device.output.line(containing: "ready") != nil)
        let reads = [[String]](repeating: ["--command", "read 2A38"], count: 20).flatMap { $0 }
        let phone = try await Program(["connect", "Mynah HRM"] + reads, air: air).end()
        #expect(phone.status == .exited(0))
        #expect(phone.output.split(separator: "\n").count { $0 == "body-sensor-location  01  chest" } == 20)
        device.child.send(SIGINT)
        #expect(try await device.child.end() == .exited(0))
    }
}
