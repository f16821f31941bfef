import Glibc
import MynahSupport
import MynahTestSupport
import Testing

/// `mynah air`, with Mynah's own host in the place of other hosts.
@Suite(.processes, .timeLimit(.minutes(15))) struct AirCommandTests {
    /// A `mynah air` beside a device, on one air.
    private final class Stage {
        let folder: TemporaryDirectory
        let air: TemporaryDirectory
        let command: Program
        let ready: JSON

        init(_ options: [String] = []) async throws {
            (folder, air) = (try TemporaryDirectory(), try TemporaryDirectory())
            let place = "unix:\(folder.path)/hci"
            command = try Program(["air", "--events", "json", "--listen", place] + options, air: air)
            let line = try #require(try await command.output.line(containing: "\"ready\""))
            ready = try JSON(parsing: Array(line.utf8))
            #expect(ready["listening"]?.arrayValue?.first == .string(place))
        }

        var socket: String { "hci:unix:\(folder.path)/hci" }

        /// Ends it as a user does; returns its events.
        func end() async throws -> [JSON] {
            command.child.send(SIGINT)
            let result = try await command.end()
            #expect(result.status == .exited(0) && result.complaint == "")
            return try result.output.split(separator: "\n").map { try JSON(parsing: Array($0.utf8)) }
        }
    }

    private static func named(_ name: String, in events: [JSON]) -> [JSON] {
        events.filter { $0["event"] == .string(name) }
    }

    @Test func `hosts on a socket hear and use the devices of the virtual radio`() async throws {
        let stage = try await Stage(["--address", "C0:DE:00:00:00:01", "--name", "rig"])
        let device = try Program(
            ["run", "--events", "json", "--radio", "virtual", AirStage.heartRate], air: stage.air)
        #expect(try await device.output.line(containing: "\"ready\"") != nil)
        for _ in 0..<2 {
            let phone = try await Program(
                [
                    "connect", "Mynah HRM", "--radio", stage.socket, "--quiet", "--command",
                    "read body-sensor-location",
                ]
            ).end()
            #expect(phone.status == .exited(0) && phone.output.contains("01  chest"), "\(phone.error)")
        }
        #expect(try await device.output.line(containing: "C0:DE:00:00:00:01") != nil)
        let events = try await stage.end()
        device.child.send(SIGINT)
        #expect(try await device.child.end() == .exited(0))
        let (joined, left) = (Self.named("host.joined", in: events), Self.named("host.left", in: events))
        #expect(joined.count >= 2 && left.count == joined.count)
        for event in joined + left {
            #expect(event["host"] == .string("rig 1") && event["address"] == .string("C0:DE:00:00:00:01"))
            #expect(event["place"] == .string("unix:\(stage.folder.path)/hci"))
        }
        #expect(left.allSatisfy { $0["reason"] == .string("Remote User Terminated Connection") })
        #expect(left.allSatisfy { $0["code"] == .integer(0x13) })
    }

    @Test func `several places are offered, of which a free port is named`() async throws {
        let stage = try await Stage(["--listen", "tcp:0"])
        let places = try #require(stage.ready["listening"]?.arrayValue).compactMap(\.stringValue)
        try #require(places.count == 2)
        let port = try #require(places[1].split(separator: ":").last)
        #expect(places.last == "tcp:127.0.0.1:\(port)" && port != "0")
        let scan = try await Program(
            ["scan", "--radio", "hci:tcp-client:127.0.0.1:\(port)", "--timeout", "100ms"]
        ).end()
        #expect(scan.status == .exited(0))
        let events = try await stage.end()
        #expect(Self.named("host.left", in: events).first?["place"] == .string(places[1]))
    }

    @Test func `hosts that are there at the end are reported, and a capture has an interface for each`()
        async throws
    {
        let folder = try TemporaryDirectory()
        let stage = try await Stage(["--capture", "\(folder.path)/air.pcapng", "--name", "guest"])
        let scan = try Program(["scan", "--radio", stage.socket])
        #expect(try await stage.command.output.line(containing: "host.joined") != nil)
        let events = try await stage.end()
        #expect(Self.named("host.left", in: events).first?["code"] == .integer(0x16))
        scan.child.send(SIGINT)
        _ = try await scan.end()
        let capture = try folder.read("air.pcapng")
        #expect(capture.contains("hci guest 1") && capture.contains("air"))
    }

    @Test func `people are told what is offered and what to type next`() async throws {
        let folder = try TemporaryDirectory()
        let command = try Program(["air", "--listen", "unix:\(folder.path)/hci"])
        let ready = try #require(try await command.output.line(containing: "ready"))
        #expect(ready.hasSuffix("hosts connect to unix:\(folder.path)/hci"))
        #expect(try await command.error.line(containing: "mynah run PROFILE --radio virtual") != nil)
        command.child.send(SIGINT)
        #expect(try await command.child.end() == .exited(0))
    }

    @Test(arguments: [
        (["--clock", "fast"], "--clock fast has a time of its own"), (["--listen", "6402"], "tcp:HOST:PORT"),
        (["--address", "C0:DE"], "C0:DE:00:00:00:01"),
        (["--capture", "-", "--events", "json"], "both write to standard output"),
    ]) func `options that make no sense are wrong usage`(options: [String], message: String) async throws {
        let result = try await Program(["air"] + options).end()
        #expect(result.status == .exited(64) && result.error.contains(message))
    }

    @Test func `a place that is in use ends the command, and says what to do`() async throws {
        let stage = try await Stage()
        let second = try await Program(["air", "--listen", "unix:\(stage.folder.path)/hci"]).end()
        #expect(second.status == .exited(1) && second.error.contains("is in use"))
        _ = try await stage.end()
    }
}
