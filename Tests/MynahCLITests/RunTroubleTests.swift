import MynahBlueZStandIn
import MynahTestSupport
import Testing

@Suite(.processes, .timeLimit(.minutes(15))) struct RunTroubleTests {
    private func expectRefusal(
        _ result: Program.Result, _ words: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(result.status == .exited(1), sourceLocation: sourceLocation)
        for word in words {
            #expect(result.error.contains(word), sourceLocation: sourceLocation)
        }
        #expect(result.error.contains("error: "), sourceLocation: sourceLocation)
        #expect(!result.output.contains("\"ready\""), sourceLocation: sourceLocation)
    }

    @Test func `no bus is told, with what to do`() async throws {
        let result = try await Program.run("run", RunTests.profile, "--events", "json", "--radio", "bluez")
        expectRefusal(
            result, "no D-Bus system bus", "systemctl start dbus", "--radio virtual", "`mynah doctor`")
    }

    @Test func `a bus without bluetoothd is told, with what to do`() async throws {
        let bus = try PrivateBus()
        let program = try Program(
            ["run", RunTests.profile, "--events", "json", "--radio", "bluez"], bus: bus.address)
        expectRefusal(try await program.end(), "bluetoothd is not running", "systemctl start bluetooth")
    }

    @Test func `a daemon without an adapter is told`() async throws {
        let stage = try await RunTests.Stage(
            ["--events", "json", "--radio", "bluez"], on: StandInConfiguration(adapters: []))
        expectRefusal(try await stage.program.end(), "no Bluetooth adapter", "--radio virtual")
        #expect(await stage.standIn.violations == [])
        await stage.standIn.stop()
    }

    @Test func `an adapter that is not there is told with those that are`() async throws {
        let stage = try await RunTests.Stage(["--events", "json", "--adapter", "hci7"])
        expectRefusal(try await stage.program.end(), "no adapter hci7", "hci0 (00:AA:01:00:00:42)")
        await stage.expectNothingIsLeft()
    }

    @Test func `BlueZ's adapter is not turned off, also if auto chose it`() async throws {
        let stage = try await RunTests.Stage(["--radio", "auto", "--events", "json", "--at", "1s=poweredOff"])
        expectRefusal(
            try await stage.program.end(), "other programs use it too", "--radio virtual",
            "hci:TRANSPORT")
        await stage.expectNothingIsLeft()
    }

    @Test func `advertising sets that are all taken are told, and nothing is left behind`() async throws {
        var configuration = StandInConfiguration()
        configuration.maximumAdvertisements = 0
        let stage = try await RunTests.Stage(on: configuration)
        expectRefusal(try await stage.program.end(), "advertising set")
        await stage.expectNothingIsLeft()
    }

    @Test func `an adapter that rfkill blocks is told with the command`() async throws {
        var configuration = StandInConfiguration()
        configuration.isBlocked = true
        let stage = try await RunTests.Stage(on: configuration)
        expectRefusal(try await stage.program.end(), "rfkill unblock bluetooth")
        await stage.expectNothingIsLeft()
    }

    @Test func `the radio's limits are reported before anything is registered`() async throws {
        let file = try ProfileFile(
            """
            mynah: 1
            name: x
            services:
              - uuid: 180F
                characteristics:
                  - {uuid: 2A19, properties: [read], errors: {read: 0x05}}
            """)
        let stage = try await RunTests.Stage(profiles: [file.path])
        expectRefusal(try await stage.program.end(), "\(file.path):6:57: error: ", "cannot play")
        await stage.expectNothingIsLeft()
    }

    @Test func `a profile with problems is told as check tells it, before the radio is asked`() async throws {
        let file = try ProfileFile("mynah: 1\nname: x\nservices:\n  - uuid: hart-rate\n")
        let result = try await Program.run(
            "run", file.path, RunTests.profile, "--adapter", "a", "--adapter", "b")
        #expect(result.status == .exited(1))
        #expect(result.error.contains("\(file.path):4:11: error: "))
        #expect(!result.error.contains(" bus"))
    }

    @Test func `a second device that cannot start takes the first along`() async throws {
        let stage = try await RunTests.Stage(
            ["--events", "json", "--adapter", "hci0", "--adapter", "hci7"],
            profiles: [RunTests.profile, "\(repository)/profiles/battery.yaml"])
        let result = try await stage.program.end()
        #expect(result.status == .exited(1))
        #expect(result.error.contains("no adapter hci7"))
        await stage.expectNothingIsLeft()
    }
}
