import Glibc
import MynahBlueZStandIn
import MynahTestSupport
import Testing

/// Devices of the built program that come and go over the control API.
@Suite(.processes, .timeLimit(.minutes(15))) struct ControlledRunTests {
    private let folder: TemporaryDirectory
    private var address: String { "unix:\(folder.path)/control" }

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func ctl(_ words: String...) async throws -> Program.Result {
        try await Program(["ctl", "--control", address] + words).end()
    }

    private func stop(_ program: Program) async throws {
        program.child.send(SIGTERM)
        #expect(try await program.child.end() == .exited(0))
    }

    /// A profile that BlueZ cannot play: it does not answer reads with this error.
    private static func refused(_ text: String) -> String {
        text.replacing("properties: [read, write]", with: "properties: [read, write], errors: {read: 0x05}")
    }

    private static let accessory = """
        mynah: 1
        name: Lock
        services:
          - {uuid: 180F, characteristics: [{uuid: 2A39, properties: [read, write], value: {hex: 64}}]}
        """

    // MARK: The radio's limits

    @Test func `an app that the phone's radio cannot play is refused with the reason`() async throws {
        try folder.write(AppProfile.text("One", "180F"), to: "one.yaml")
        try folder.write(Self.refused(AppProfile.text("Two", "180D")), to: "two.yaml")
        let stage = try await RunTests.Stage(
            ["--events", "json", "--control", address], profiles: ["\(folder.path)/one.yaml"])
        try #require(try await stage.program.output.line(containing: "\"ready\"") != nil)
        let added = try await ctl("add", "\(folder.path)/two.yaml")
        #expect(added.status == .exited(1))
        #expect(added.error.contains("cannot answer a read with 0x05"), "\(added.error)")
        let lines = added.error.split(separator: "\n")
        #expect(lines.allSatisfy { $0.hasPrefix("\(folder.path)/two.yaml:7:") }, "\(added.error)")
        let devices = try await ctl("devices").output.split(separator: "\n")
        #expect(devices.count == 1 && devices.first?.hasPrefix("One  ") == true)
        try await stop(stage.program)
        await stage.standIn.stop()
    }

    @Test func `a device that its own radio cannot play is refused with the reason`() async throws {
        let bus = try PrivateBus()
        let standIn = try await BlueZStandIn.start(on: bus.address)
        let server = try Program(
            ["serve", "--radio", "bluez", "--events", "json", "--control", address], bus: bus.address)
        try #require(try await server.output.line(containing: "\"ready\"") != nil)
        try folder.write(Self.refused(Self.accessory), to: "lock.yaml")
        let refused = try await ctl("add", "\(folder.path)/lock.yaml", "--format", "json")
        #expect(refused.status == .exited(1))
        let problem = try json(refused.output)
        #expect(problem["status"] as? Int == 409)
        #expect((problem["detail"] as? String)?.contains("cannot answer a read with 0x05") == true)
        #expect((problem["issues"] as? [Any])?.isEmpty == false)
        try folder.write(Self.accessory, to: "lock.yaml")
        #expect(try await ctl("add", "\(folder.path)/lock.yaml").output == "Lock\n")
        try await stop(server)
        await standIn.stop()
    }

    // MARK: Starts

    @Test func `a device that is removed while it starts does not end the run`() async throws {
        let run = try Program([
            "run", RunTests.profile, "--radio", "hci:unix-server:\(folder.path)/hci", "--events", "json",
            "--control", address,
        ])
        try #require(try await run.output.line(containing: "\"waitingForController\"") != nil)
        #expect(try await ctl("devices").status == .exited(0))
        let removed = try await ctl("remove", "Heart rate monitor")
        #expect(removed.status == .exited(0), "\(removed.error)")
        let devices = try await ctl("devices")
        #expect(devices.status == .exited(0) && devices.output == "")
        try await stop(run)
        #expect(!(try await run.error.text()).contains("error"))
    }

    // MARK: Events

    @Test func `a reset empties the journal although its events waited for files`() async throws {
        try folder.write(
            AppProfile.text("One", "180F").replacing(
                "[bluetooth-peripheral]", with: "[bluetooth-peripheral], restoreIdentifier: one"),
            to: "one.yaml")
        let state = try TemporaryDirectory()
        let server = try Program([
            "serve", "--radio", "virtual", "--events", "json", "--control", address, "--state-dir",
            state.path,
        ])
        try #require(try await server.output.line(containing: "\"ready\"") != nil)
        #expect(try await ctl("add", "\(folder.path)/one.yaml").status == .exited(0))
        for _ in 0..<5 {
            // A launch writes the state anew.
            #expect(try await ctl("app", "One", "quit").status == .exited(0))
            #expect(try await ctl("reset").status == .exited(0))
            let events = try await ctl("events").output.split(separator: "\n")
            // The radio's use is reported each minute.
            #expect(events.filter { !$0.contains("radio.used") } == [])
        }
        try await stop(server)
    }

    @Test func `a line of text begins with the app of its event, whichever came first`() async throws {
        let server = try Program(["serve", "--radio", "virtual", "--control", address])
        try #require(try await server.output.line(containing: "control") != nil)
        for name in ["One", "Two"] {
            try folder.write(AppProfile.text(name, "180F"), to: "\(name).yaml")
            #expect(try await ctl("add", "\(folder.path)/\(name).yaml").status == .exited(0))
        }
        #expect(try await ctl("app", "Two", "background").status == .exited(0))
        try #require(try await server.output.line(containing: "app.background") != nil)
        try await stop(server)
        let lines = try await server.output.text().split(separator: "\n")
        // One leaves the screen when Two is opened.
        #expect(lines.filter { $0.contains("app.background") }.map { $0.prefix(5) } == ["One: ", "Two: "])
        #expect(!lines.contains { $0.contains("device ") })
    }

    // MARK: Files

    @Test func `a pipe that is named as a profile is refused at once`() async throws {
        let path = "\(folder.path)/pipe"
        let isMade = mkfifo(path, 0o600) == 0
        try #require(isMade)
        // Somebody writes to it, but nothing yet.
        let writer = open(path, O_RDWR | O_CLOEXEC)
        defer { close(writer) }
        let server = try Program(["serve", "--radio", "virtual", "--events", "json", "--control", address])
        try #require(try await server.output.line(containing: "\"ready\"") != nil)
        let result = try await ctl("add", path)
        #expect(result.status == .exited(1))
        #expect(result.error.contains("is not a regular file"), "\(result.error)")
        try await stop(server)
    }
}
