import Glibc
import MynahCore
import MynahHCI
import MynahTestSupport
import Testing

/// Commands on the radio of an Android emulator, which our controllers on a port of their own replace.
@Suite(.processes, .timeLimit(.minutes(15))) struct NetsimRunTests {
    /// netsim as it is seen from outside: a file with its ports, and a port for H4.
    private final class Emulator: Sendable {
        let directory: TemporaryDirectory
        let port: UInt16
        private let server: ControllerServer

        /// Its controllers; the file is written by `publish`.
        init(port: UInt16 = 0) async throws {
            directory = try TemporaryDirectory()
            server = ControllerServer(air: LiveAir()) { number in
                ControllerConfiguration(
                    address: DeviceAddress(value: 0xC000_0000_0000 + UInt64(number), kind: .public),
                    cipher: nil)
            }
            let chosen = try await server.listen(on: .tcpServer(host: "127.0.0.1", port: port))
            self.port = try #require(chosen)
        }

        func publish() throws {
            try directory.write("grpc.port = 127.0.0.1:8877\nweb.port=7681\n", to: "netsim.ini")
        }

        var environment: [String: String] {
            ["XDG_RUNTIME_DIR": directory.path, "NETSIM_HCI_PORT": "\(port)"]
        }

        var connections: Int { server.count }

        func end() { server.close() }
    }

    @Test func `auto takes a live emulator, says so, and a phone finds the device there`() async throws {
        let emulator = try await Emulator()
        try emulator.publish()
        let device = try Program(
            ["run", "--events", "json", RunTests.profile], environment: emulator.environment)
        let ready = try await device.output.line(containing: "\"ready\"")
        let place = "(netsim instance 1, 127.0.0.1:\(emulator.port))"
        #expect(ready?.contains("\"radio\":\"own host on the Android emulator's radio \(place)\"") == true)
        let scan = try Program(["scan", "--format", "json"], environment: emulator.environment)
        #expect(try await scan.output.line(containing: "Mynah HRM") != nil)
        scan.child.send(SIGINT)
        let heard = try await scan.end()
        #expect(heard.status == .exited(0))
        #expect(heard.error == "scan never uses BlueZ; it uses the Android emulator's radio \(place)\n")
        let phone = try Program(
            ["connect", "Mynah HRM", "--command", "read 2A38"], environment: emulator.environment)
        let read = try await phone.end()
        #expect(read.status == .exited(0))
        #expect(read.error.contains("it uses the Android emulator's radio \(place)"))
        device.child.send(SIGINT)
        let result = try await device.end()
        #expect(result.status == .exited(0))
        let first = result.output.split(separator: "\n").first
        #expect(first?.contains("\"code\":\"netsimRadio\",\"message\":\"there is no D-Bus") == true)
        #expect(first?.contains("plays on the Android emulator's radio \(place)\"") == true)
        #expect(result.error == "")
        emulator.end()
    }

    @Test func `auto never waits for an emulator, and a stale file is a reason for the virtual radio`()
        async throws
    {
        let emulator = try await Emulator()
        try emulator.publish()
        emulator.end()
        let device = try Program(
            ["run", "--events", "json", RunTests.profile], environment: emulator.environment)
        let warning = try await device.output.line(containing: "\"virtualRadio\"")
        let stale =
            """
            the emulator of \(emulator.directory.path)/netsim.ini does not listen on \
            127.0.0.1:\(emulator.port)
            """
        #expect(warning?.contains(stale) == true)
        #expect(try await device.output.line(containing: "\"ready\"")?.contains("virtual radio") == true)
        device.child.send(SIGINT)
        #expect(try await !device.end().output.contains("waitingForEmulator"))
        let scan = try await Program(["scan", "--timeout", "100 ms"], environment: emulator.environment).end()
        #expect(scan.status == .exited(0))
        #expect(scan.error.contains("it uses the virtual radio, because \(stale)"))
    }

    @Test func `an open port without a file is no emulator to auto, but one to netsim`() async throws {
        let emulator = try await Emulator()
        let device = try Program(
            ["run", "--events", "json", RunTests.profile], environment: emulator.environment)
        #expect(try await device.output.line(containing: "\"ready\"")?.contains("virtual radio") == true)
        device.child.send(SIGINT)
        #expect(try await device.end().output.contains("no Android emulator is running"))
        #expect(emulator.connections == 0)
        let named = try Program(
            ["run", "--events", "json", "--radio", "netsim", RunTests.profile],
            environment: emulator.environment)
        #expect(try await named.output.line(containing: "\"ready\"")?.contains("netsim instance 1") == true)
        named.child.send(SIGINT)
        #expect(try await named.child.end() == .exited(0))
        emulator.end()
    }

    @Test func `netsim waits for an emulator, says where it looks, and plays when there is one`() async throws
    {
        let before = try await Emulator()
        before.end()
        let device = try Program(
            ["run", "--events", "json", "--radio", "netsim:instance=2", RunTests.profile],
            environment: before.environment)
        let waiting = try #require(try await device.output.line(containing: "\"waitingForEmulator\""))
        #expect(waiting.contains("netsim instance 2, 127.0.0.1:\(before.port)"))
        #expect(waiting.contains("netsim_2.ini in \(before.directory.path), "))
        let emulator = try await Emulator(port: before.port)
        #expect(try await device.output.line(containing: "\"ready\"") != nil)
        let scan = try Program(["scan", "--radio", "netsim"], environment: before.environment)
        #expect(try await scan.output.line(containing: "Mynah HRM") != nil)
        scan.child.send(SIGINT)
        #expect(try await scan.child.end() == .exited(0))
        device.child.send(SIGINT)
        #expect(try await device.child.end() == .exited(0))
        emulator.end()
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal ends the waiting for an emulator`(signal: Int32) async throws {
        let emulator = try await Emulator()
        emulator.end()
        let device = try Program(
            ["run", "--events", "json", "--radio", "netsim", RunTests.profile],
            environment: emulator.environment)
        #expect(try await device.output.line(containing: "\"waitingForEmulator\"") != nil)
        let scan = try Program(["scan", "--radio", "netsim"], environment: emulator.environment)
        #expect(try await scan.error.line(containing: "waiting up to 30 s for an Android emulator") != nil)
        let phone = try Program(["connect", "x", "--radio", "netsim"], environment: emulator.environment)
        #expect(try await phone.error.line(containing: "waiting up to 30 s for an Android emulator") != nil)
        for program in [device, scan, phone] {
            program.child.send(signal)
            let result = try await program.end()
            #expect(result.status == .exited(0))
            #expect(!result.error.contains("error"))
        }
    }

    @Test func `accessories of one run have a controller each, and an emulator that restarts is found again`()
        async throws
    {
        let emulator = try await Emulator()
        let device = try Program(
            [
                "run", "--events", "json", "--radio", "netsim", RunTests.profile,
                "\(repository)/profiles/battery.yaml",
            ], environment: emulator.environment)
        for name in ["Heart rate monitor", "Battery"] {
            let ready = try await device.output.line("the event ready") {
                $0.contains("\"ready\"") && $0.contains("\"device\":\"\(name)\"")
            }
            #expect(ready != nil)
        }
        #expect(emulator.connections == 2)
        emulator.end()
        #expect(try await device.output.line(containing: "\"radio.lost\"") != nil)
        let again = try await Emulator(port: emulator.port)
        for name in ["Heart rate monitor", "Battery"] {
            let recovered = try await device.output.line("the event radio.recovered") {
                $0.contains("\"radio.recovered\"") && $0.contains("\"device\":\"\(name)\"")
            }
            #expect(recovered != nil)
        }
        device.child.send(SIGINT)
        #expect(try await device.child.end() == .exited(0))
        again.end()
    }

    @Test(arguments: [
        ["--radio", "netsim:"], ["--radio", "netsim:instance=0"], ["--radio", "netsim:instance=59135"],
        ["--radio", "netsim:instance=+"], ["--radio", "netsim:port=1"], ["--radio", "netsim1"],
    ])
    func `a wrong instance is wrong usage, in each command`(radio: [String]) async throws {
        for command in [["run", RunTests.profile], ["scan"], ["connect", "x"]] {
            let result = try await Program(command + radio).end()
            #expect(result.status == .exited(64))
            #expect(result.error.contains("netsim"))
        }
    }

    @Test func `a variable that makes no sense is an error that names it`() async throws {
        for (name, value) in [("NETSIM_INSTANCE", "two"), ("NETSIM_HCI_PORT", "none")] {
            for command in [["run", RunTests.profile], ["scan"], ["connect", "x"]] {
                let result = try await Program(command + ["--radio", "netsim"], environment: [name: value])
                    .end()
                #expect(result.status == .exited(1))
                #expect(result.error.contains("error: \(name) is \"\(value)\""))
                #expect(result.error.contains("unset it"))
            }
        }
    }
}
