import Glibc
import MynahBlueZStandIn
import MynahTestSupport
import Testing

/// Runs without an adapter, on the virtual radio.
@Suite(.processes, .timeLimit(.minutes(15))) struct VirtualRunTests {
    /// Waits for an event, and then ends it as a user does.
    private func play(_ arguments: [String], bus: String? = nil) async throws -> Program.Result {
        let program = try Program(["run", "--events", "json"] + arguments, bus: bus)
        _ = try await program.output.line(containing: "\"ready\"")
        program.child.send(SIGINT)
        return try await program.end()
    }

    @Test func `without an adapter auto plays on the virtual radio, and says why`() async throws {
        let result = try await play([RunTests.profile])
        #expect(result.status == .exited(0))
        #expect(result.error == "")
        let lines = result.output.split(separator: "\n")
        #expect(lines.first?.contains("\"code\":\"virtualRadio\",\"message\":\"there is no D-Bus") == true)
        #expect(lines.contains { $0.contains("\"ready\"") && $0.contains("\"radio\":\"virtual radio\"") })
        #expect(lines.last?.contains("advertising.stopped") == true)
    }

    @Test func `a daemon without an adapter is a reason too`() async throws {
        let bus = try PrivateBus()
        let standIn = try await BlueZStandIn.start(on: bus.address, StandInConfiguration(adapters: []))
        let result = try await play([RunTests.profile], bus: bus.address)
        #expect(result.status == .exited(0))
        #expect(result.output.contains("virtualRadio"))
        #expect(await standIn.violations == [])
        await standIn.stop()
    }

    @Test func `accessories of one run have a virtual radio each, and apps share one`() async throws {
        let names = ["heart-rate", "battery", "everything-app"].map { "\(repository)/profiles/\($0).yaml" }
        let devices = ["Heart rate monitor", "Battery", "Everything an app can do"]
        let result = try await VirtualStage.run(
            ["--events", "json"] + names + devices.flatMap { ["--until", "ready device=\($0)"] })
        #expect(result.status == .exited(0))
        let ready = try result.output.split(separator: "\n").map { try json(String($0)) }
            .filter { $0["event"] as? String == "ready" }
        #expect(ready.compactMap { $0["device"] as? String } == devices)
        #expect(ready.allSatisfy { $0["radio"] as? String == "virtual radio" })
        #expect(!result.output.contains("virtualRadio"))
    }

    @Test
    func `devices of one name have labels and addresses of their own, and a phone hears those addresses`()
        async throws
    {
        let labels = ["Heart rate monitor", "Heart rate monitor~2", "Heart rate monitor~3"]
        try await VirtualStage.play { stage in
            let program = try await stage.run([String](repeating: RunTests.profile, count: 3), radios: 3)
            let events = try program.output.lines.map { try json($0) }
            let ready = events.filter { $0["event"] as? String == "ready" }
            #expect(ready.compactMap { $0["device"] as? String } == labels)
            #expect(ready.allSatisfy { $0["profile"] as? String == "Heart rate monitor" })
            let addresses = ready.compactMap { $0["address"] as? String }
            #expect(Set(addresses).count == 3)
            let scan = stage.start(phone: ["scan", "--format", "json"])
            for address in addresses {
                #expect(try await scan.output.line(containing: "\"address\":\"\(address)\"") != nil)
            }
            let started = events.filter { $0["event"] as? String == "advertising.started" }
            #expect(started.compactMap { $0["address"] as? String } == addresses)
            #expect(started.compactMap { $0["device"] as? String } == labels)
        }
    }

    @Test func `a device alone has no label, and its address is in its text`() async throws {
        let end = try await VirtualStage.run([RunTests.profile, "--until", "ready"])
        #expect(end.status == .exited(0))
        let pattern = /Heart rate monitor plays on virtual radio as ([0-9A-F:]{17})/
        let address = try #require(try pattern.firstMatch(in: end.output)?.1)
        #expect(end.output.contains("  from \(address)"))
        let result = try await VirtualStage.run(["--events", "json", RunTests.profile, "--until", "ready"])
        #expect(!result.output.contains("\"device\""))
    }

    @Test func `two runs cannot share a state directory, though they play accessories`() async throws {
        let folder = try TemporaryDirectory()
        let arguments = [
            "run", "--events", "json", "--radio", "virtual", "--state-dir", folder.path, RunTests.profile,
        ]
        let first = try Program(arguments)
        try #require(try await first.output.line(containing: "\"ready\"") != nil)
        let second = try await Program(arguments).end()
        #expect(second.status == .exited(1))
        #expect(second.error.contains("another process uses it"))
        first.child.send(SIGINT)
        #expect(try await first.end().status == .exited(0))
    }

    @Test(arguments: ["run", "connect"])
    func `a state directory that others can write to is refused by every command that takes one`(
        command: String
    ) async throws {
        let folder = try TemporaryDirectory()
        #expect(chmod(folder.path, 0o777) == 0)
        let target = command == "run" ? RunTests.profile : "Mynah HRM"
        let result = try await VirtualStage.play([
            command, target, "--radio", "virtual", "--state-dir", folder.path,
        ])
        #expect(result.status == .exited(1))
        #expect(
            result.error.contains(
                """
                error: other users can write to the state directory \(folder.path) (its mode is 777); \
                run `chmod 700
                """
            ))
        #expect(folder.files == [])
    }

    @Test(arguments: [
        (["--radio", "virtual", "--adapter", "hci0", RunTests.profile], "--adapter is for BlueZ"),
        (["--radio", "bluez", "--address", "private", RunTests.profile], "--address is for --radio virtual"),
        (["--radio", "virtual", "--address", "random", RunTests.profile], "identity"),
        (
            [
                "--radio", "hci:tcp-client:127.0.0.1:1", RunTests.profile,
                "\(repository)/profiles/battery.yaml",
            ],
            "--radio hci: is one"
        ),
        (["--radio", "hci:tcp:1", RunTests.profile], "tcp-client"),
    ]) func `a radio that cannot do what is asked is wrong usage`(_ arguments: [String], _ word: String)
        async throws
    {
        let result = try await VirtualStage.play(["run"] + arguments)
        #expect(result.status == .exited(64))
        #expect(result.error.contains(word))
    }

    @Test func `a controller that is not there is told, with where it was looked for`() async throws {
        let result = try await Program.run(
            "run", RunTests.profile, "--events", "json", "--radio", "hci:tcp-client:127.0.0.1:1")
        #expect(result.status == .exited(1))
        #expect(result.error.contains("127.0.0.1:1"))
        #expect(!result.output.contains("ready"))
    }

    @Test
    func `an air outlives a device that is killed, a socket without an owner, and one who talks nonsense`()
        async throws
    {
        let air = try TemporaryDirectory()
        func device(_ profile: String) async throws -> Program {
            let program = try Program(
                ["run", "--events", "json", "--radio", "virtual", "\(repository)/profiles/\(profile).yaml"],
                air: air)
            try #require(try await program.output.line(containing: "\"ready\"") != nil)
            return program
        }
        let first = try await device("heart-rate")
        let dead = air.files
        let second = try await device("battery")
        let scan = try Program(["scan", "--format", "json"], air: air)
        #expect(try await scan.output.line(containing: "\"Mynah HRM\"") != nil)
        first.child.send(SIGKILL)
        #expect(try await first.child.end() == .killed(SIGKILL))
        #expect(air.files.contains(dead[0]))

        for name in air.files where name != dead[0] {
            let other = try Intruder(air, name)
            #expect(other.send([UInt8](repeating: 0xA5, count: 300)))
            other.waitUntilRefused()
        }

        // The next to join removes the dead socket if it is not so young that somebody may be about to listen
        // on it.
        let times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, "\(air.path)/\(dead[0])", times, AT_SYMLINK_NOFOLLOW) == 0)
        let phone = try Program(
            ["connect", "Mynah Battery", "--radio", "virtual", "--command", "read battery-level"], air: air)
        let read = try await phone.end()
        #expect(read.status == .exited(0), "\(read.error)")
        #expect(!air.files.contains(dead[0]))
        let third = try await device("health-thermometer")
        #expect(try await scan.output.line(containing: "\"Mynah Thermometer\"") != nil)
        for program in [scan, third, second] {
            program.child.send(SIGINT)
            let result = try await program.end()
            #expect(result.status == .exited(0))
        }
        #expect(air.files == [])
    }

    @Test(arguments: ["/proc/mynah-air", "/dev/null", "/dev/null/air"])
    func `an air that cannot be is told, with what to set`(path: String) async throws {
        for command in [["run", RunTests.profile], ["scan"], ["connect", "x"]] {
            let output = try #require(OutputReader())
            let program = try #require(Program.path)
            let child = try #require(
                ChildProcess(
                    program, command + ["--radio", "virtual"], passing: [output.writer: 2],
                    environment: ["MYNAH_AIR": path]))
            output.start()
            #expect(try await child.end() == .exited(1))
            let text = try await output.text()
            #expect(text.hasPrefix("error: ") && text.contains(path))
            #expect(text.contains("set MYNAH_AIR to a directory of your own"))
        }
    }
}
