import Glibc
import MynahBlueZStandIn
import MynahTestSupport
import Testing

/// Which radio a command takes, and what it says of it.
@Suite(.processes, .timeLimit(.minutes(15))) struct RadioChoiceTests {
    static let app = "\(repository)/profiles/everything-app.yaml"

    private func count(_ event: String, in output: String) -> Int {
        output.split(separator: "\n").count { $0.contains("\"event\":\"\(event)\"") }
    }

    /// Plays an app on the virtual radio because there is no BlueZ, and ends it by a signal.
    private func play(_ options: [String], _ signal: Int32) async throws -> String {
        let program = try Program(["run", "--events", "json", Self.app] + options)
        #expect(try await program.output.line(containing: "\"ready\"") != nil)
        program.child.send(signal)
        let result = try await program.end()
        #expect(result.status == .exited(0))
        return result.output
    }

    @Test func `an app is launched and restored once, though auto finds no BlueZ`() async throws {
        let directory = try TemporaryDirectory()
        let options = ["--state-dir", directory.path]
        let first = try await play(options, SIGTERM)
        #expect(count("app.launched", in: first) == 1)
        #expect(count("app.restored", in: first) == 0)
        // The radio is chosen before.
        #expect(first.split(separator: "\n").first?.contains("\"virtualRadio\"") == true)
        let second = try await play(options, SIGINT)
        #expect(count("app.launched", in: second) == 1)
        #expect(count("app.restored", in: second) == 1)
    }

    @Test func `auto takes BlueZ if it has an adapter`() async throws {
        let bus = try PrivateBus()
        let standIn = try await BlueZStandIn.start(on: bus.address)
        let program = try Program(["run", "--events", "json", RunTests.profile], bus: bus.address)
        let ready = try await program.output.line(containing: "\"ready\"")
        program.child.send(SIGINT)
        let result = try await program.end()
        #expect(result.status == .exited(0))
        // A stand-in on a busy machine may answer too late.
        if !result.output.contains("did not answer within 5 s") {
            #expect(ready?.contains("\"radio\":\"BlueZ ") == true)
        }
        #expect(await standIn.applicationCount() == 0)
        #expect(await standIn.violations == [])
        await standIn.stop()
    }

    @Test func `a bus that never answers is waited for 5 s, which is said, and then given up`() async throws {
        let bus = try PrivateBus()
        bus.freeze()
        let program = try Program(["run", "--events", "json", Self.app], bus: bus.address)
        #expect(try await program.output.line(containing: "\"ready\"")?.contains("virtual radio") == true)
        program.child.send(SIGINT)
        let result = try await program.end()
        let lines = result.output.split(separator: "\n")
        #expect(lines.first?.contains("\"code\":\"waitingForBus\"") == true)
        #expect(lines.first?.contains("waiting up to 5 s for bluetoothd on the D-Bus system bus (") == true)
        #expect(lines.dropFirst().first?.contains("\"code\":\"virtualRadio\"") == true)
        #expect(lines.dropFirst().first?.contains("bluetoothd did not answer within 5 s") == true)
        #expect(count("app.launched", in: result.output) == 1)
    }

    @Test func `a signal ends the waiting for a bus, and no app was launched`() async throws {
        let bus = try PrivateBus()
        bus.freeze()
        let program = try Program(["run", "--events", "json", Self.app], bus: bus.address)
        #expect(try await program.output.line(containing: "\"waitingForBus\"") != nil)
        program.child.send(SIGTERM)
        let result = try await program.end()
        #expect(result.status == .exited(0))
        #expect(result.error == "")
        // Unless the signal came too late, on a busy machine.
        #expect(count("app.launched", in: result.output) == 0 || result.output.contains("\"virtualRadio\""))
    }

    @Test func `an adapter that was named is not replaced when its bus does not answer`() async throws {
        let bus = try PrivateBus()
        bus.freeze()
        let program = try Program(
            ["run", "--events", "json", RunTests.profile, "--adapter", "hci0"], bus: bus.address)
        let result = try await program.end()
        #expect(result.status == .exited(1))
        #expect(result.error.contains("error: bluetoothd did not answer within 5 s"))
        #expect(!result.output.contains("virtualRadio"))
    }

    @Test func `scan and connect say which radio auto takes, and that they skip BlueZ`() async throws {
        let bus = try PrivateBus()
        let standIn = try await BlueZStandIn.start(on: bus.address)
        let scan = try await Program(["scan", "--timeout", "100 ms"], bus: bus.address).end()
        #expect(scan.status == .exited(0))
        #expect(scan.error.hasPrefix("scan never uses BlueZ; it uses the virtual radio, because "))
        let phone = try await Program(["connect", "x", "--timeout", "100 ms"], bus: bus.address).end()
        #expect(phone.status == .exited(1))
        #expect(phone.error.hasPrefix("connect never uses BlueZ; it uses the virtual radio, because "))
        await standIn.stop()
    }

    @Test func `scan, connect and record neither offer nor take BlueZ`() async throws {
        for command in [["scan"], ["connect", "x"], ["record", "x"]] {
            let unknown = try await Program(command + ["--radio", "foo"]).end()
            #expect(unknown.status == .exited(64))
            #expect(unknown.error.contains("expected one of auto, virtual, netsim and hci:TRANSPORT"))
            let refused = try await Program(command + ["--radio", "bluez"]).end()
            #expect(refused.status == .exited(64))
            #expect(refused.error.contains("scan, connect and record do not use BlueZ"))
        }
        let script = try await Program.run("--generate-completion-script", "bash").output
        let offers = script.split(separator: "\n").filter { $0.contains("netsim:instance=N") }
        // run, doctor, serve, scan, connect and record; of them run, doctor and serve may use BlueZ.
        #expect(offers.count == 6)
        #expect(offers.count { $0.contains("bluez") } == 3)
    }

    @Test(arguments: ["virtual", "netsim", "hci:tcp-client:127.0.0.1:1"])
    func `an option that BlueZ alone follows is wrong usage on another radio`(radio: String) async throws {
        for options in [["--name-subscribers"], ["--notification-rate", "0"]] {
            let result = try await Program(["run", RunTests.profile, "--radio", radio] + options).end()
            #expect(result.status == .exited(64))
            #expect(result.error.contains("\(options[0]) is for BlueZ"))
        }
    }

    @Test(arguments: [["--name-subscribers"], ["--notification-rate", "100"]])
    func `an option that BlueZ alone follows is a warning if auto takes another radio`(options: [String])
        async throws
    {
        let output = try await play(options, SIGINT)
        #expect(output.contains("\"code\":\"optionIgnored\",\"message\":\"\(options[0]) is for BlueZ"))
        #expect(try await !play([], SIGINT).contains("optionIgnored"))
    }

    // MARK: - A controller that connects to us

    @Test func `a run that waits for a controller says where, with the port that it chose`() async throws {
        let program = try Program(
            ["run", "--events", "json", RunTests.profile, "--radio", "hci:tcp-server:0"])
        let waiting = try #require(try await program.output.line(containing: "\"waitingForController\""))
        let message = try #require(try json(waiting)["message"] as? String)
        #expect(message.hasPrefix("waiting for a controller to connect to 127.0.0.1:"))
        let port = try #require(message.split(separator: ":").last.flatMap { UInt16($0) })
        #expect(port > 0)
        let controller = IllController([.good])
        #expect(try await controller.connect(port: port))
        #expect(try await program.output.line(containing: "\"ready\"") != nil)
        program.child.send(SIGINT)
        #expect(try await program.child.end() == .exited(0))
        controller.close()
    }

    @Test func `scan and connect that wait for a controller say where`() async throws {
        let directory = try TemporaryDirectory()
        for radio in ["hci:tcp-server:0", "hci:unix-server:\(directory.path)/hci"] {
            let place = radio.hasSuffix(":0") ? "127.0.0.1:" : "\(directory.path)/hci"
            for command in [["scan"], ["scan", "--format", "json"], ["connect", "x"]] {
                let program = try Program(command + ["--radio", radio])
                let line = try await program.error.line(containing: "waiting for a controller")
                #expect(line?.hasPrefix("waiting for a controller to connect to \(place)") == true)
                #expect(line?.hasSuffix(":0") == false)
                program.child.send(SIGINT)
                #expect(try await program.child.end() == .exited(0))
            }
        }
    }

    @Test func `a scan's table says that it waits for a controller, until there is one`() async throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/hci"
        let terminal = try Terminal()
        let scan = try Program(["scan", "--radio", "hci:unix-server:\(path)"], terminal: terminal)
        #expect(
            try await terminal.output.line(containing: "waiting for a controller to connect to \(path)")
                != nil)
        let controller = IllController([.good])
        try await until("the program listens on its socket") { controller.connect(path: path) }
        #expect(try await terminal.output.line(containing: "0 heard") != nil)
        scan.child.send(SIGINT)
        #expect(try await scan.child.end() == .exited(0))
        controller.close()
    }
}
