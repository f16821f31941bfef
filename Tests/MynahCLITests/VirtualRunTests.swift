import Glibc
import MynahBlueZStandIn
import MynahTestSupport
import Testing

/// Runs without an adapter, on the virtual radio.
@Suite(.timeLimit(.minutes(1))) struct VirtualRunTests {
    /// Waits for an event, and then ends it as a user does.
    private func play(_ arguments: [String], bus: String? = nil) async throws -> Program.Result {
        let program = try Program(["run", "--events", "json"] + arguments, bus: bus)
        _ = await program.output.line(containing: "\"ready\"")
        program.child.send(SIGINT)
        return await program.end()
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
        let program = try Program(["run", "--events", "json", "--radio", "virtual"] + names)
        for device in ["Heart rate monitor", "Battery", "Everything an app can do"] {
            let ready = await program.output.line {
                $0.contains("\"ready\"") && $0.contains("\"device\":\"\(device)\"")
            }
            #expect(ready?.contains("virtual radio") == true)
        }
        program.child.send(SIGTERM)
        let result = await program.end()
        #expect(result.status == .exited(0))
        #expect(!result.output.contains("virtualRadio"))
    }

    @Test(arguments: [
        (["--radio", "virtual", "--adapter", "hci0", RunTests.profile], "--adapter names BlueZ's adapters"),
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
        let result = try await Program(["run"] + arguments).end()
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
}
