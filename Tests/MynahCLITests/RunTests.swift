import Glibc
import MynahBlueZStandIn
import MynahDBus
import MynahTestSupport
import Testing

@Suite(.processes, .timeLimit(.minutes(15))) struct RunTests {
    static let profile = "\(repository)/profiles/heart-rate.yaml"

    /// A stand-in bluetoothd on a bus of its own, with `mynah run` playing on it.
    struct Stage {
        let bus: PrivateBus
        let standIn: BlueZStandIn
        let program: Program

        init(
            _ arguments: [String] = ["--events", "json"], profiles: [String] = [RunTests.profile],
            on configuration: StandInConfiguration = StandInConfiguration(), output: OutputReader? = nil,
            terminal: Terminal? = nil
        ) async throws {
            bus = try PrivateBus()
            standIn = try await BlueZStandIn.start(on: bus.address, configuration)
            // On a busy machine the stand-in may answer later than `auto` waits for it.
            let radio = arguments.contains("--radio") ? [] : ["--radio", "bluez"]
            program = try Program(
                ["run"] + profiles + radio + arguments, bus: bus.address, output: output, terminal: terminal)
        }

        /// Everything is registered and on the air, as the daemon has it.
        func waitUntilItPlays() async throws {
            try await standIn.wait("an application and an advertisement are registered") {
                $0.applicationCount() == 1 && $0.advertisementCount() == 1
            }
        }

        /// Nothing is left of it, and it has done nothing against the contract.
        func expectNothingIsLeft() async {
            #expect(await standIn.applicationCount() == 0)
            #expect(await standIn.advertisementCount() == 0)
            #expect(await standIn.agentCapability == nil)
            #expect(await standIn.alias() == "stand-in")
            #expect(await standIn.violations == [])
            await standIn.stop()
        }
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a signal ends a run with 0, and nothing is left of it`(signal: Int32) async throws {
        let stage = try await Stage()
        #expect(try await stage.program.output.line(containing: "\"ready\"") != nil)
        stage.program.child.send(signal)
        let result = try await stage.program.end()
        #expect(result.status == .exited(0))
        #expect(!result.error.contains("error"))
        await stage.expectNothingIsLeft()
    }

    @Test func `each event is an object on a line, and ready comes once`() async throws {
        let stage = try await Stage(["--events", "json", "--seed", "1"])
        #expect(try await stage.program.output.line(containing: "\"ready\"") != nil)
        let phone = await stage.standIn.central()
        try await phone.connect(mtu: 100)
        #expect(try await phone.read("2a38") == [1])
        try await phone.write("2a39", [1])
        try await phone.subscribe("2a37")
        _ = try await phone.notifications(1)
        #expect(try await stage.program.output.line(containing: "\"notified\"") != nil)
        await phone.disconnect()
        #expect(try await stage.program.output.line(containing: "\"central.disconnected\"") != nil)
        stage.program.child.send(SIGTERM)
        let result = try await stage.program.end()
        let events = try result.output.split(separator: "\n").map { try json(String($0)) }
        let names = events.compactMap { $0["event"] as? String }
        #expect(names.count == events.count)
        #expect(names.filter { $0 == "ready" }.count == 1)
        let expected = [
            "state.changed", "advertising.started", "ready", "central.connected", "mtu.changed", "read",
            "write",
            "subscribed", "notified", "unsubscribed", "central.disconnected", "advertising.stopped",
        ]
        #expect(Set(expected).subtracting(names) == [])
        #expect(events.allSatisfy { ($0["time"] as? String)?.hasSuffix("Z") == true })
        for name in ["ready", "advertising.started"] {
            let event = try #require(events.first { $0["event"] as? String == name })
            #expect(event["address"] as? String == StandInConfiguration().adapters.first?.address)
        }
        let read = try #require(events.first { $0["event"] as? String == "read" })
        #expect(read["central"] as? String == "F0:F1:F2:F3:F4:F5")
        #expect(read["service"] as? String == "180D")
        #expect(read["characteristic"] as? String == "2A38")
        #expect(read["value"] as? String == "01")
        #expect(!result.error.contains("error"))
        await stage.expectNothingIsLeft()
    }

    @Test func `without a terminal events are lines of text, and off writes nothing`() async throws {
        let stage = try await Stage([])
        let line = try await stage.program.output.line(containing: "ready")
        #expect(line?.contains("Heart rate monitor plays on BlueZ") == true)
        stage.program.child.send(SIGTERM)
        #expect(try await stage.program.end().status == .exited(0))
        await stage.expectNothingIsLeft()

        let silent = try await Stage(["--events", "off"])
        try await silent.waitUntilItPlays()
        silent.program.child.send(SIGTERM)
        let result = try await silent.program.end()
        #expect(result.status == .exited(0))
        #expect(result.output.isEmpty)
        await silent.expectNothingIsLeft()
    }

    @Test func `a reader that goes away ends the run, and nothing is left of it`() async throws {
        let gone = try #require(OutputReader())
        let stage = try await Stage(output: gone)
        gone.abandon()
        #expect(try await stage.program.child.end() == .exited(0))
        await stage.expectNothingIsLeft()
    }

    @Test func `a reader that reads nothing stops neither the radio nor the end`() async throws {
        let stalled = try #require(OutputReader())
        defer { stalled.abandon() }
        // Full from the start.
        _ = fcntl(stalled.writer, F_SETFL, O_NONBLOCK)
        let bytes = [UInt8](repeating: 0x2E, count: 4096)
        while write(stalled.writer, bytes, bytes.count) > 0 {}
        _ = fcntl(stalled.writer, F_SETFL, 0)
        let stage = try await Stage(output: stalled)
        try await stage.waitUntilItPlays()
        let phone = await stage.standIn.central()
        try await phone.connect()
        for _ in 0..<50 { #expect(try await phone.read("2a38") == [1]) }
        stage.program.child.send(SIGTERM)
        #expect(try await stage.program.child.end() == .exited(0))
        await stage.expectNothingIsLeft()
    }

    @Test func `an output that takes nothing is an error, and nothing is left of the run`() async throws {
        let full = try #require(OutputReader(writingTo: "/dev/full"))
        let stage = try await Stage(output: full)
        let status = try await stage.program.child.end()
        #expect(status == .exited(1))
        #expect(try await stage.program.error.text().contains("No space left on device"))
        await stage.expectNothingIsLeft()
    }

    @Test(arguments: [[0], [1], [0, 1], [0, 1, 2]] as [[Int32]])
    func `descriptors that are closed from the start are no harm`(closed: [Int32]) async throws {
        let bus = try PrivateBus()
        let standIn = try await BlueZStandIn.start(on: bus.address)
        let redirections = closed.map { $0 == 0 ? "<&-" : "\($0)>&-" }.joined(separator: " ")
        let path = try #require(Program.path)
        let shell = try #require(
            ChildProcess(
                "sh",
                [
                    "-c", "exec \"$0\" run \"$1\" --radio bluez --events json \(redirections)", path,
                    Self.profile,
                ],
                environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]))
        try await standIn.wait("an advertisement is registered") { $0.advertisementCount() == 1 }
        let phone = await standIn.central()
        try await phone.connect()
        #expect(try await phone.read("2a38") == [1])
        shell.send(SIGTERM)
        #expect(try await shell.end() == .exited(0))
        #expect(await standIn.applicationCount() == 0)
        #expect(await standIn.violations == [])
        await standIn.stop()
    }

    @Test func `a second signal ends it at once, also while services are being withdrawn`() async throws {
        let stage = try await Stage()
        #expect(try await stage.program.output.line(containing: "\"ready\"") != nil)
        stage.bus.freeze()
        for signal in [SIGTERM, SIGINT] { stage.program.child.send(signal) }
        let status = try await stage.program.child.end()
        // Two that come together come in either order.
        #expect([.exited(128 + SIGINT), .exited(128 + SIGTERM)].contains(status))
    }

    @Test func `two accessories play on an adapter each, and each event says whose it is`() async throws {
        let stage = try await Stage(
            ["--events", "json", "--adapter", "hci0", "--adapter", "00:aa:01:00:00:43"],
            profiles: [Self.profile, "\(repository)/profiles/battery.yaml"],
            on: StandInConfiguration(adapters: [.init(), .init("hci1", address: "00:AA:01:00:00:43")]))
        let output = stage.program.output
        for device in ["Heart rate monitor", "Battery"] {
            let line = try await output.line("the event ready") {
                $0.contains("\"ready\"") && $0.contains("\"device\":\"\(device)")
            }
            #expect(line != nil)
        }
        #expect(await stage.standIn.applicationCount(on: "hci1") == 1)
        stage.program.child.send(SIGTERM)
        #expect(try await stage.program.end().status == .exited(0))
        #expect(await stage.standIn.applicationCount(on: "hci1") == 0)
        await stage.expectNothingIsLeft()
    }
}
