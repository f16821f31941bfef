import Glibc
import MynahBlueZStandIn
import MynahSupport
import MynahTestSupport
import Testing

/// `--capture` of the built program; Tests/Interop checks what tshark says about the files.
@Suite(.processes, .timeLimit(.minutes(15))) struct CaptureTests {
    private static let heartRate = AirStage.heartRate

    /// The bytes of a file.
    private func bytes(_ path: String) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var found: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
            found += buffer[..<count]
        }
        return found
    }

    private func names(_ name: String, in file: [UInt8]) -> Bool {
        String(decoding: file, as: UTF8.self).contains(name)
    }

    /// The block types of a file, all of which is blocks.
    private func blocks(_ file: [UInt8]) -> [UInt32] {
        #expect(Pcapng.wholeBlocks(in: file[...]) == file.count)
        var reader = ByteReader(file)
        var types: [UInt32] = []
        while let type = reader.readUInt32(), let length = reader.readUInt32(),
            reader.readBytes(Int(length) - 8) != nil
        {
            types.append(type)
        }
        return types
    }

    /// Runs a device until it is ready and something of it is on the air, and then ends it as a user does.
    private func play(_ capture: String, _ ending: String = "advertising.started") async throws
        -> Program.Result
    {
        let program = try Program(
            ["run", "--events", "json", "--radio", "virtual", "--capture", capture, Self.heartRate])
        #expect(try await program.output.line(containing: "\"ready\"") != nil)
        _ = try await program.output.line(containing: ending)
        program.child.send(SIGINT)
        return try await program.end()
    }

    @Test func `a run and a phone write what they see into files`() async throws {
        let directory = try TemporaryDirectory()
        let (ours, theirs) = (directory.path + "/ours.pcapng", directory.path + "/theirs.pcapng")
        let phone = try await VirtualStage.play { stage in
            _ = try await stage.devices([Self.heartRate], ["--capture", ours])
            return await stage.phone([
                "connect", "Mynah HRM", "--capture", theirs, "--command", "read body-sensor-location",
            ])
        }
        #expect(phone.status == .exited(0))
        for path in [ours, theirs] {
            let file = try bytes(path)
            let blocks = blocks(file)
            #expect(blocks.prefix(3) == [0x0A0D_0D0A, 1, 1] && blocks.count { $0 == 6 } > 100)
            #expect(names("hci", in: file) && names("air", in: file))
        }
    }

    @Test func `several devices of a run have an interface each, with their names`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/a.pcapng"
        let program = try Program([
            "run", "--events", "json", "--radio", "virtual", "--capture", path, Self.heartRate,
            "\(repository)/profiles/battery.yaml",
        ])
        #expect(
            try await program.output.line("the event ready") {
                $0.contains("\"ready\"") && $0.contains("Battery")
            } != nil)
        program.child.send(SIGINT)
        #expect(try await program.end().status == .exited(0))
        let file = try bytes(path)
        #expect(names("hci Heart rate monitor", in: file) && names("hci Battery", in: file))
        #expect(blocks(file).count { $0 == 1 } == 3)
    }

    @Test(arguments: [["serve"], ["run", heartRate]])
    func `devices that are added over the control API are recorded with their names`(
        words: [String]
    ) async throws {
        let directory = try TemporaryDirectory()
        let (path, control) = (directory.path + "/a.pcapng", "unix:\(directory.path)/control")
        let air = try TemporaryDirectory()
        let server = try Program(
            words + ["--events", "json", "--radio", "virtual", "--capture", path, "--control", control],
            air: air)
        #expect(try await server.output.line(containing: "\"ready\"") != nil)
        let client = ["ctl", "--control", control]
        for profile in ["battery", "lock"] {
            let added = client + ["add", "\(repository)/profiles/\(profile).yaml"]
            #expect(try await Program(added).end().status == .exited(0))
        }
        // The next device has the radio of the one that is removed, and not its name.
        #expect(try await Program(client + ["remove", "Battery"]).end().status == .exited(0))
        let added = client + ["add", "\(repository)/profiles/health-thermometer.yaml"]
        #expect(try await Program(added).end().status == .exited(0))
        let phone = try Program(
            ["connect", "Mynah Thermometer", "--command", "read 2A1D"], air: air)
        #expect(try await phone.end().status == .exited(0))
        server.child.send(SIGINT)
        #expect(try await server.end().status == .exited(0))
        let file = try bytes(path)
        for name in ["Battery", "Lock", "Health thermometer"] {
            #expect(names("hci \(name)", in: file), "\(name)")
        }
        #expect(names("hci Heart rate monitor", in: file) == (words.count > 1))
        #expect(blocks(file).count { $0 == 1 } == words.count + 3)
        #expect(blocks(file).count { $0 == 6 } > 100)
    }

    @Test func `a server writes the capture to standard output, and no events`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/a.pcapng"
        try directory.write("", to: "a.pcapng")
        let output = try #require(OutputReader(writingTo: path))
        let control = "unix:\(directory.path)/control"
        let server = try Program(
            ["serve", "--radio", "virtual", "--capture", "-", "--control", control], output: output)
        var isServed = false
        while !isServed {
            isServed = try await Program(["ctl", "devices", "--control", control]).end().status == .exited(0)
        }
        let added = ["ctl", "add", Self.heartRate, "--control", control]
        #expect(try await Program(added).end().status == .exited(0))
        server.child.send(SIGINT)
        #expect(try await server.end().status == .exited(0))
        close(output.writer)
        let file = try bytes(path)
        #expect(blocks(file).first == 0x0A0D_0D0A && names("hci Heart rate monitor", in: file))
    }

    @Test func `standard output takes the capture, and there are no events`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/a.pcapng"
        try directory.write("", to: "a.pcapng")
        let output = try #require(OutputReader(writingTo: path))
        let air = try TemporaryDirectory()
        let device = try Program(
            ["run", "--radio", "virtual", "--capture", "-", Self.heartRate], output: output, air: air)
        let phone = try Program(
            ["connect", "Mynah HRM", "--command", "read body-sensor-location"], air: air)
        #expect(try await phone.end().status == .exited(0))
        device.child.send(SIGINT)
        let result = try await device.end()
        close(output.writer)
        #expect(result.status == .exited(0) && result.complaint.isEmpty)
        #expect(blocks(try bytes(path)).count { $0 == 6 } > 100)
    }

    @Test func `a reader that leaves ends the capture, and the run goes on and exits with 1`() async throws {
        let air = try TemporaryDirectory()
        let left = try #require(OutputReader())
        let device = try Program(
            ["run", "--radio", "virtual", "--capture", "-", Self.heartRate], output: left, air: air)
        left.abandon()
        #expect(try await device.error.line(containing: "warning: the capture has ended") != nil)
        let phone = try Program(
            ["connect", "Mynah HRM", "--command", "read body-sensor-location"], air: air)
        #expect(try await phone.end().status == .exited(0))
        device.child.send(SIGINT)
        let result = try await device.end()
        #expect(result.status == .exited(1))
        #expect(result.error.split(separator: "\n").count { $0.contains("the capture has ended") } == 1)
    }

    @Test func `a full disk is an error event, and the run goes on and exits with 1`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/full.pcapng"
        try #require(symlink("/dev/full", path) == 0)
        let result = try await play(path, "captureFailed")
        #expect(result.status == .exited(1))
        let line = result.output.split(separator: "\n").first { $0.contains("captureFailed") }
        #expect(line?.contains("\"event\":\"error\"") == true)
        #expect(line?.contains("full.pcapng cannot be written: No space left on device") == true)
        #expect(result.output.contains("advertising.stopped"))
    }

    @Test func `a run that is killed leaves what it has written, to be read`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/a.pcapng"
        let program = try Program([
            "run", "--events", "json", "--radio", "virtual", "--capture", path, Self.heartRate,
        ])
        #expect(try await program.output.line(containing: "\"ready\"") != nil)
        // It is written while it runs: there are more than the first blocks.
        try await until("the capture has more than 1000 bytes") { (try? bytes(path))?.count ?? 0 > 1000 }
        program.child.send(SIGKILL)
        #expect(try await program.end().status == .killed(SIGKILL))
        let file = try bytes(path)
        let whole = Pcapng.wholeBlocks(in: file[...])
        #expect(whole > 1000)
        #expect(blocks(Array(file[..<whole])).prefix(3) == [0x0A0D_0D0A, 1, 1])
    }

    @Test func `a file that has no more room holds whole blocks`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/a.pcapng"
        let program = try #require(Program.path)
        let output = try #require(OutputReader())
        // A limit of 1024 bytes, beyond which a write also raises SIGXFSZ.
        let child = try #require(
            ChildProcess(
                "bash",
                [
                    "-c",
                    "ulimit -f 1; exec \"$0\" run --radio virtual --events json --capture \"$1\" \"$2\"",
                    program, path, Self.heartRate,
                ], passing: [output.writer: 1], environment: ["MYNAH_AIR": directory.path]))
        output.start()
        let line = try await output.line(containing: "captureFailed")
        #expect(line?.contains("File too large") == true)
        child.send(SIGINT)
        #expect(try await child.end() == .exited(1))
        let file = try bytes(path)
        #expect(!blocks(file).isEmpty && file.count <= 1024)
    }

    @Test func `a file that cannot be made ends a command before it is on the air`() async throws {
        let path = "/nonexistent/mynah/a.pcapng"
        for arguments in [
            ["run", "--events", "json", "--radio", "virtual", "--capture", path, Self.heartRate],
            ["scan", "--capture", path], ["connect", "x", "--capture", path],
            [
                "serve", "--events", "json", "--radio", "virtual", "--capture", path, "--control",
                "127.0.0.1:0",
            ],
        ] {
            let result = try await Program(arguments).end()
            #expect(result.status == .exited(1))
            #expect(
                result.error.contains("the capture \(path) cannot be opened: No such file or directory"))
            #expect(!result.output.contains("ready"))
        }
    }

    @Test func `a run that auto gives to BlueZ registers nothing and names btmon`() async throws {
        let bus = try PrivateBus()
        let standIn = try await BlueZStandIn.start(on: bus.address)
        let directory = try TemporaryDirectory()
        let result = try await Program(
            ["run", "--events", "json", "--capture", directory.path + "/a.pcapng", Self.heartRate],
            bus: bus.address
        ).end()
        #expect(result.status == .exited(1))
        #expect(result.error.contains("btmon -w FILE"))
        #expect(!result.output.contains("ready") && !result.output.contains("advertising.started"))
        #expect(directory.files.isEmpty)
        #expect(await standIn.violations == [])
        await standIn.stop()
    }

    @Test(arguments: [
        (["run", "--capture", "a.pcap", heartRate], "a name that ends in .pcapng"),
        (["scan", "--capture", "a"], "a name that ends in .pcapng"),
        (["run", "--capture", "-", "--events", "json", heartRate], "both write to standard output"),
        (["run", "--capture", "-", "--events", "text", heartRate], "both write to standard output"),
        (["run", "--capture", "a.pcapng", "--radio", "bluez", heartRate], "btmon -w"),
        (["serve", "--capture", "a.pcapng", "--radio", "bluez"], "btmon -w"),
        (["serve", "--capture", "-", "--events", "json"], "both write to standard output"),
        (["scan", "--capture", "-"], "name a file"),
        (["connect", "x", "--capture", "-"], "name a file"),
    ]) func `a capture that cannot be is wrong usage`(_ arguments: [String], _ word: String) async throws {
        let result = try await VirtualStage.play(arguments)
        #expect(result.status == .exited(64))
        #expect(result.error.contains(word))
    }

    @Test func `a terminal gets no binary data`() async throws {
        let terminal = try Terminal()
        let program = try Program(["run", "--capture", "-", Self.heartRate], terminal: terminal)
        let result = try await program.end()
        #expect(result.status == .exited(64) && result.error.contains("standard output is a terminal"))
    }
}
