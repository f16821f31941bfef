import MynahTestSupport
import Testing

/// The services that a phone has by itself, as programs see them.
@Suite(.timeLimit(.minutes(15))) struct PhoneServicesTests {
    /// An app with a value that only a pairing leads to.
    private static func app(_ phone: String) -> String {
        """
        mynah: 1
        name: Companion
        app: {}
        \(phone)
        advertising: {serviceUUIDs: [FFE0]}
        services:
          - uuid: FFE0
            characteristics:
              - {uuid: FFE1, properties: [read], permissions: {read: encrypted}, value: {hex: "01"}}
        """
    }

    private static let accessory = """
        mynah: 1
        name: Accessory
        app: {}
        central:
          scan: {services: [FFE0]}
          peripherals: [{name: Phone, match: {services: [FFE0]}, read: [FFE0/FFE1]}]
        """

    @Test func `a bonded central hears that a phone has other services than in the run before`() async throws
    {
        let directory = try TemporaryDirectory()
        try directory.write(Self.app(""), to: "before.yaml")
        try directory.write(Self.app("phone: {services: [battery, ancs]}"), to: "after.yaml")
        try directory.write(Self.accessory, to: "accessory.yaml")
        let state = directory.path + "/state"
        try await VirtualStage.play { stage in
            let accessory = try await stage.run([directory.path + "/accessory.yaml"])
            for file in ["before", "before", "after", "after"] {
                let isRead = "\"event\":\"value.read\""
                let before = accessory.output.lines.count { $0.contains(isRead) }
                let phone = try await stage.run(["--state-dir", state, "\(directory.path)/\(file).yaml"])
                #expect(try await accessory.output.has(before + 1, linesContaining: isRead))
                await stage.pause(.seconds(2))
                phone.terminate()
                #expect(await phone.end().status == .exited(0))
            }
            let changes = accessory.output.lines.filter { $0.contains("\"event\":\"services.changed\"") }
            #expect(changes.count == 1, "\(accessory.output.text)")
        }
    }

    @Test func `a notification that is planned goes to those who want it`() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(Self.app("phone: {name: Anna, services: [ancs]}"), to: "app.yaml")
        try await VirtualStage.play { stage in
            let run = try await stage.run([
                directory.path + "/app.yaml", "--at", "3s=Anna:alert At 18:00: dinner", "--at",
                "3s=Companion:alert Bye",
            ])
            let phone = await stage.phone([
                "connect", "Companion", "--quiet", "--command", "pair", "--command",
                "subscribe 9FBF120D-6301-42D9-8C58-25E699A21DBD", "--command",
                "subscribe 22EAC6E9-24D6-4BB5-BE44-B36ACE7C7BFB", "--command", "wait 5s", "--command",
                "write 69D1D8F3-45E1-49A8-9821-9BBDFDAAD9D9 00 01000000 03FFFF", "--command", "wait 1s",
            ])
            #expect(phone.status == .exited(0), "\(phone.error)")
            #expect(phone.output.contains("0000000101000000") && phone.output.contains("0000000202000000"))
            // At 18:00: dinner
            #expect(phone.output.contains("41742031383A30303A2064696E6E6572"))
            #expect(run.output.lines.contains { $0.contains(#""device":"Anna""#) && $0.contains("notified") })
        }
    }

    @Test func `a run can wait for an event of a phone by its name`() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(Self.app("phone: {services: [battery]}"), to: "app.yaml")
        try directory.write(
            Self.accessory.replacing("[FFE0/FFE1]", with: "[180F/2A19]")
                .replacing("app: {}", with: "app: {}\nphone: {name: Watch}"), to: "accessory.yaml")
        let result = try await VirtualStage.run([
            "--until", "read device=phone", directory.path + "/app.yaml", directory.path + "/accessory.yaml",
        ])
        #expect(result.status == .exited(0), "\(result.error)")
        #expect(result.output.contains("read                 battery-level"))
    }

    @Test func `an alert without notifications is a warning`() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(Self.app("phone: {name: Anna, services: [battery]}"), to: "app.yaml")
        let result = try await VirtualStage.run([
            "--at", "1s=alert Hello", "--until", "warning", directory.path + "/app.yaml",
        ])
        #expect(result.output.contains("the phone has no notification center: add phone: {services: [ancs]}"))
    }
}
