import Glibc
import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHCI

/// `mynah run` on controllers that are ill, or none.
@Suite(.processes, .timeLimit(.minutes(15))) struct BadControllerTests {
    @Test(arguments: [
        (
            IllController.Conduct.silent, "did not answer within 5 s while resetting it",
            "speaks H4 there"
        ),
        (.late, "did not answer within 5 s while resetting it", "speaks H4 there"),
        (.foreignEvents, "did not answer within 5 s while resetting it", "speaks H4 there"),
        (.nonsense, "sent 0x77 at the beginning of a packet", "speaks H4 there"),
        (.closing, "closed the connection", "speaks H4 there"),
        (.closingAmid, "closed the connection in the middle of a packet", "speaks H4 there"),
        (.withoutLE, "does not support LE: it lacks LE commands", "Bluetooth 4.0"),
        (.empty, "does not support LE: it reports no LE features", "Bluetooth 4.0"),
        (.refusing, "refused resetting it: status 0x0C", "speaks H4 there"),
    ])
    func `an invalid controller is reported: where, what, and what to do`(
        conduct: IllController.Conduct, what: String, remedy: String
    ) async throws {
        let controller = IllController([conduct])
        let radio = try await controller.listen()
        let result = try await Program.run("run", RunTests.profile, "--events", "json", "--radio", radio)
        #expect(result.status == .exited(1))
        #expect(result.error.hasPrefix("error: the controller at \(radio.dropFirst(4)) "))
        #expect(result.error.contains(what))
        #expect(result.error.contains(remedy))
        #expect(result.error.split(separator: "\n").count == 1)
        #expect(!result.output.contains("\"ready\""))
        controller.close()
    }

    @Test func `a port and a path that are in use are reported, and left alone`() async throws {
        let controller = IllController([.silent])
        let port = try #require(try await controller.listen().split(separator: ":").last)
        let result = try await Program.run("run", RunTests.profile, "--radio", "hci:tcp-server:\(port)")
        #expect(result.status == .exited(1))
        #expect(result.error.hasPrefix("error: the port \(port) is in use; "))
        let directory = try TemporaryDirectory()
        let other = IllController([.silent])
        _ = try await other.listen(path: directory.path + "/hci")
        try directory.write("text", to: "file")
        for (name, problem) in [("hci", "is in use"), ("file", "exists and is not a socket")] {
            let path = "\(directory.path)/\(name)"
            let result = try await Program.run("run", RunTests.profile, "--radio", "hci:unix-server:\(path)")
            #expect(result.status == .exited(1))
            #expect(result.error.hasPrefix("error: \(path) \(problem); choose another path"))
            #expect(!result.error.contains("remove"))
        }
        #expect(directory.files == ["file", "hci"])
    }

    @Test(arguments: [
        "hci:", "hci:tcp-client:", "hci:tcp-client:127.0.0.1", "hci:tcp-client:127.0.0.1:99999",
        "hci:tcp-client:127.0.0.1:0", "hci:tcp-client:::1:9000", "hci:unix:", "hci:pty:",
        "hci:serial:/dev/null,12", "hci:user:x", "hci:usb:0",
    ])
    func `an invalid address is wrong usage, reported with the valid forms`(radio: String) async throws {
        let result = try await Program.run("run", RunTests.profile, "--radio", radio)
        #expect(result.status == .exited(64))
        #expect(result.error.contains("; write one of tcp-client:HOST:PORT, "))
    }

    @Test(arguments: [
        (
            "hci:unix:/nonexistent/hci", "cannot connect to a controller at /nonexistent/hci: ",
            "start the controller first"
        ),
        ("hci:unix-server:/nonexistent/hci", "cannot listen on /nonexistent/hci: ", ""),
        ("hci:pty:/dev/null", "/dev/null is not a serial device or terminal", ""),
        ("hci:pty:/nonexistent/tty", "/nonexistent/tty cannot be opened: ", ""),
        ("hci:tcp-server:192.0.2.1:0", "cannot listen on 192.0.2.1:0: ", ""),
        ("hci:user:65000", "", ""),
    ])
    func `a place where no controller is or can be is told`(radio: String, what: String, remedy: String)
        async throws
    {
        for command in [["run", RunTests.profile], ["scan"], ["connect", "x"]] {
            let result = try await Program(command + ["--radio", radio]).end()
            #expect(result.status == .exited(1))
            #expect(result.complaint.hasPrefix("error: "))
            #expect(result.error.contains(what))
            #expect(result.error.contains(remedy))
        }
    }

    @Test func `a wait for a controller, or for its answer, ends at a signal, and leaves no socket`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/hci"
        let waiting = try Program(["run", RunTests.profile, "--radio", "hci:unix-server:\(path)"])
        try await until("only the socket is in the directory") { directory.files == ["hci"] }
        waiting.child.send(SIGINT)
        #expect(try await waiting.child.end() == .exited(0))
        #expect(directory.files == [])

        let controller = IllController([.silent])
        let radio = try await controller.listen()
        let asking = try Program(["run", RunTests.profile, "--radio", radio])
        controller.whenAsked { asking.child.send(SIGTERM) }
        #expect(try await asking.child.end() == .exited(0))
    }

    @Test func `a late answer is dropped, and not taken for the answer to a later request`() async throws {
        let controller = IllController([.good])
        let program = try Program([
            "run", RunTests.profile, "--events", "json", "--radio", try await controller.listen(),
        ])
        #expect(try await program.output.line(containing: "\"ready\"") != nil)
        controller.say([0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00])
        controller.say([0x04, 0x0F, 0x04, 0x0C, 0x01, 0x0A, 0x20])
        controller.say([
            0x04, 0x3E, 0x01, 0x01, 0x04, 0x05, 0x04, 0x00, 0x40, 0x00, 0x13, 0x02, 0, 0x20, 0, 0,
        ])
        program.child.send(SIGINT)
        let result = try await program.end()
        #expect(result.status == .exited(0))
        #expect(!result.output.contains("radio.lost"))
    }

    @Test func `a central that connects while the advertisement changes does not keep the old bytes`()
        async throws
    {
        let controller = IllController([.connectingAmid])
        let profile = try ProfileFile(AppRunTests.app)
        let program = try Program([
            "run", profile.path, "--events", "json", "--address", "identity", "--at", "100 ms=background",
            "--until", "central.connected", "--until", "advertising.changed", "--timeout", "1 min", "--radio",
            try await controller.listen(),
        ])
        let result = try await program.end()
        #expect(result.status == .exited(0), "\(result.error)")
        #expect(!result.output.contains("advertisingLost"))
        // In the background an app has neither name nor UUIDs in its advertising data.
        let commands = controller.advertisingCommands
        let enabled = try #require(
            commands.lastIndex { $0.opcode == .leSetAdvertisingEnable && $0.parameters == [1] })
        let data = try #require(commands[..<enabled].last { $0.opcode == .leSetAdvertisingData }?.parameters)
        let first = try #require(commands.first { $0.opcode == .leSetAdvertisingData }?.parameters)
        #expect(data != first)
        #expect(!Hex.encode(data).contains(Hex.encode(Array("Fred".utf8))))
        #expect(Hex.encode(first).contains(Hex.encode(Array("Fred".utf8))))
    }

    static let kept = """
        mynah: 1
        name: Kept
        device: {name: Kept}
        advertising: {serviceUUIDs: [FFF0]}
        services:
          - uuid: FFF0
            characteristics:
              - uuid: FFF1
                properties: [read, write, notify]
                permissions: {write: encrypted}
        """

    @Test
    func
        `after a controller that ended amid a packet, and bad ones, a good one has everything as before`()
        async throws
    {
        let air = LiveAir()
        let controller = IllController(
            [.good, .closingAmid, .nonsense, .withoutLE, .good], air: air)
        let other = IllController([.good], air: air, number: 2)
        let profile = try ProfileFile(Self.kept)
        let program = try Program([
            "run", profile.path, "--events", "json", "--radio", try await controller.listen(),
        ])
        #expect(try await program.output.line(containing: "\"ready\"") != nil)
        let keys = try TemporaryDirectory()
        let radio = try await other.listen()
        func phone(_ commands: [String]) throws -> Program {
            try Program(
                ["connect", "Kept", "--radio", radio, "--state-dir", keys.path]
                    + commands.flatMap { ["--command", $0] })
        }
        let first = try phone(["write FFF1 2A", "subscribe FFF1", "wait 1 min"])
        #expect(try await first.output.line(containing: "FFF1 is subscribed") != nil)
        controller.say([0x04, 0x3E, 0x13, 0x01])
        controller.hangUp()
        let lost = try await program.output.line(containing: "\"radio.lost\"")
        #expect(lost?.contains("closed the connection in the middle of a packet") == true)
        #expect(try await first.output.line(containing: "disconnected") != nil)
        first.child.send(SIGINT)
        let interrupted = try await first.end()
        #expect(interrupted.status == .exited(0), "\(interrupted.error)")
        #expect(try await program.output.line(containing: "\"radio.recovered\"") != nil)
        let second = try await phone(["read FFF1", "read FFF1/2902"]).end()
        #expect(second.status == .exited(0))
        #expect(second.complaint == "")
        #expect(second.output.contains("FFF1  2A\n"))
        #expect(second.output.contains("0100\n"))
        program.child.send(SIGINT)
        let result = try await program.end()
        #expect(result.status == .exited(0))
        #expect(result.output.contains("\"central.disconnected\""))
        #expect(result.output.split(separator: "\n").filter { $0.contains("\"radio.recovered\"") }.count == 1)
    }

    @Test
    func `a controller that connects to a socket may go, and the next is served; the socket goes with us`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/hci"
        let program = try Program([
            "run", RunTests.profile, "--events", "json", "--radio", "hci:unix-server:\(path)",
        ])
        let controller = IllController([.good, .nonsense, .good])
        try await until("the program listens on its socket") { controller.connect(path: path) }
        #expect(try await program.output.line(containing: "\"ready\"") != nil)
        controller.hangUp()
        #expect(try await program.output.line(containing: "\"radio.lost\"") != nil)
        try await until("the program listens on its socket") { controller.connect(path: path) }
        // Nonsense, so that it is left; before, the socket may still take others.
        try await until("the controller has no connection") { controller.count == 0 }
        try await until("the program listens on its socket") { controller.connect(path: path) }
        #expect(try await program.output.line(containing: "\"radio.recovered\"") != nil)
        #expect(directory.files == [])
        controller.hangUp()
        try await until("only the socket is in the directory") { directory.files == ["hci"] }
        program.child.send(SIGTERM)
        #expect(try await program.child.end() == .exited(0))
        #expect(directory.files == [])
    }

    @Test func `a terminal that hangs up is lost, and found again under its name`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/tty"
        let controller = IllController([.good])
        symlink(try #require(controller.openTerminal()), path)
        let program = try Program(["run", RunTests.profile, "--events", "json", "--radio", "hci:pty:\(path)"])
        #expect(try await program.output.line(containing: "\"ready\"") != nil)
        unlink(path)
        controller.hangUp()
        #expect(try await program.output.line(containing: "\"radio.lost\"") != nil)
        symlink(try #require(controller.openTerminal()), path)
        #expect(try await program.output.line(containing: "\"radio.recovered\"") != nil)
        program.child.send(SIGINT)
        #expect(try await program.child.end() == .exited(0))
    }

    @Test func `while a controller is lost a signal ends the run`() async throws {
        let controller = IllController([.good])
        let program = try Program([
            "run", RunTests.profile, "--events", "json", "--radio", try await controller.listen(),
        ])
        #expect(try await program.output.line(containing: "\"ready\"") != nil)
        controller.close()
        #expect(try await program.output.line(containing: "\"radio.lost\"") != nil)
        program.child.send(SIGINT)
        let result = try await program.end()
        #expect(result.status == .exited(0))
        #expect(result.error == "")
    }
}
