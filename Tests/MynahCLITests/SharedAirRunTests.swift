import Glibc
import MynahTestSupport
import Testing

/// Programs that share an air, and the directory in which they find each other.
@Suite(.processes, .timeLimit(.minutes(15))) struct SharedAirRunTests {
    @Test func `twelve that start at once find each other`() async throws {
        let air = try TemporaryDirectory()
        let names = (1...6).map { "Twelfth \($0)" }
        let profiles = try names.map { name in
            try ProfileFile(
                """
                mynah: 1
                name: \(name)
                advertising: {localName: \(name)}
                services: [{uuid: 180F, characteristics: [{uuid: 2A19, properties: [read], value: {hex: \
                01}}]}]

                """)
        }
        var devices: [Program] = []
        var scans: [Program] = []
        for profile in profiles {
            devices.append(
                try Program(["run", "--events", "json", "--radio", "virtual", profile.path], air: air))
            scans.append(try Program(["scan", "--format", "json", "--radio", "virtual"], air: air))
        }
        for scan in scans {
            for name in names { #expect(try await scan.output.line(containing: "\"\(name)\"") != nil) }
        }
        #expect(air.files.count == 12)
        for program in devices + scans { program.child.send(SIGINT) }
        for program in devices + scans {
            let result = try await program.end()
            #expect(result.status == .exited(0))
            #expect(!result.error.contains("refused") && !result.output.contains("refused"))
        }
        #expect(air.files == [])
    }

    @Test func `a run whose socket is deleted says so, makes it again and is heard`() async throws {
        let stage = try await AirStage()
        let device = stage.devices[0]
        let begun = try await device.output.line("the event ready") {
            $0.contains("airNotWatched") || $0.contains("\"ready\"")
        }
        // The kernel grants each user a limited number of inotify instances.
        guard begun?.contains("ready") == true else { return try await stage.end() }
        let socket = try #require(stage.air.files.first)
        unlink("\(stage.air.path)/\(socket)")
        let warning = try #require(try await device.output.line(containing: "\"airSocketDeleted\""))
        #expect(warning.contains(stage.air.path) && warning.contains("it was created again"))
        #expect(stage.air.files == [socket])
        let scan = try stage.phone(["scan", "--format", "json"])
        #expect(try await scan.output.line(containing: "Mynah HRM") != nil)
        scan.child.send(SIGINT)
        #expect(try await scan.child.end() == .exited(0))
        try await stage.end()
    }

    @Test func `a file that is named like a socket outlives every program of the air`() async throws {
        let air = try TemporaryDirectory()
        try air.write("diary", to: "0123456789ABCDEF")
        let result = try await Program(["scan", "--timeout", "1 ms"], air: air).end()
        #expect(result.status == .exited(0))
        #expect(try air.read("0123456789ABCDEF") == "diary")
        #expect(air.files == ["0123456789ABCDEF"])
    }

    @Test(arguments: [
        ([], "no device was heard on the air in "),
        (["--service", "heart-rate"], "no device with that service was heard on the air in "),
    ])
    func `a scan that hears nothing says which air it listened to`(options: [String], text: String)
        async throws
    {
        let air = try TemporaryDirectory()
        let timed = try await Program(["scan", "--timeout", "10 ms"] + options, air: air).end()
        #expect(timed.status == .exited(0))
        #expect(timed.output == "")
        #expect(timed.error.contains("\(text)\(air.path)\n"))
        #expect(timed.error.contains("MYNAH_AIR"))
        let stopped = try Program(["scan", "--format", "json", "--log-level", "trace"] + options, air: air)
        // The controller has answered LE Set Extended Scan Enable. Before that there is no scan to stop.
        #expect(try await stopped.error.line(containing: " body=0E0401422000 ") != nil)
        stopped.child.send(SIGINT)
        let result = try await stopped.end()
        #expect(result.status == .exited(0))
        #expect(result.output == "")
        #expect(result.error.contains("\(text)\(air.path)\n"))
    }

    @Test func `a phone that hears nothing names a run that has an air of its own`() async throws {
        let air = try TemporaryDirectory()
        let profile = "\(repository)/profiles/heart-rate.yaml"
        // Nobody reads its events, so it waits in the middle of its hour.
        let run = try Program(
            ["run", profile, "--clock", "fast", "--timeout", "8000h", "--events", "json"], air: air)
        #expect(try await run.output.line(containing: "ready") != nil)
        let process = "process \(run.child.identifier)"
        let hint = """
            the run of Heart rate monitor (\(process)) has --clock fast, and so a time and an air \
            of its own, and nobody can join it
            """
        let scan = try await Program(["scan", "--timeout", "10 ms"], air: air).end()
        #expect(scan.error.contains("hint: \(hint)"))
        let phone = try await Program(["connect", "Mynah HRM", "--timeout", "10 ms"], air: air).end()
        #expect(phone.status == .exited(1))
        #expect(phone.error.contains("error: no device \"Mynah HRM\" was heard; \(hint)"))
        run.child.send(SIGINT)
        #expect(try await run.child.end() == .exited(0))
        #expect(air.files.isEmpty)
    }

    @Test func `a scan that heard only what it does not show does not say that nothing was heard`()
        async throws
    {
        let stage = try await AirStage()
        let seen = try stage.phone(["scan"])
        #expect(try await seen.output.line(containing: "Mynah HRM") != nil)
        seen.child.send(SIGINT)
        #expect(try await !seen.error.text().contains("was heard"))
        try await stage.end()
    }

    /// Runs a program that finds the directory of its air by these variables.
    private func play(
        _ arguments: [String], _ variables: [String: String?], until line: String
    ) async throws -> String {
        let output = try #require(OutputReader())
        let path = try #require(Program.path)
        var environment = variables
        environment.updateValue(nil, forKey: "MYNAH_AIR")
        let child = try #require(
            ChildProcess(
                path, arguments, passing: [output.writer: 1, output.writer: 2], environment: environment))
        output.start()
        _ = try await output.line(containing: line)
        child.send(SIGINT)
        #expect(try await child.end() == .exited(0))
        return try await output.text()
    }

    @Test func `a session's directory that is gone is replaced by another, and a warning says so`()
        async throws
    {
        let temporary = try TemporaryDirectory()
        let air = "\(temporary.path)/mynah-air-\(geteuid())"
        let variables: [String: String?] = ["XDG_RUNTIME_DIR": "/nonexistent/run", "TMPDIR": temporary.path]
        let scan = try await play(["scan", "--timeout", "10 ms"], variables, until: "no device was heard")
        #expect(
            scan.contains(
                """
                warning: XDG_RUNTIME_DIR is /nonexistent/run, which cannot be read (No such file or \
                directory)
                """
            ))
        #expect(scan.contains("no device was heard on the air in \(air)\n"))
        let run = try await play(
            ["run", "--radio", "virtual", "--events", "json", AirStage.heartRate], variables, until: "ready")
        #expect(run.contains("\"code\":\"airDirectory\",\"message\":\"XDG_RUNTIME_DIR is"))
        rmdir(air)
    }

    @Test(.enabled(if: geteuid() == 0)) func `root does not use a user's session`() async throws {
        let temporary = try TemporaryDirectory()
        let session = "\(temporary.path)/session"
        try #require(mkdir(session, 0o700) == 0 && chown(session, 4711, 4711) == 0)
        let text = try await play(
            ["scan", "--timeout", "10 ms"], ["XDG_RUNTIME_DIR": session, "TMPDIR": temporary.path],
            until: "no device was heard")
        #expect(text.contains("which belongs to user 4711, and this is user 0"))
        #expect(access("\(session)/mynah-air", F_OK) != 0)
        rmdir("\(temporary.path)/mynah-air-0")
        rmdir(session)
    }
}
