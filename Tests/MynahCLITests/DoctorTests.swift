import Glibc
import MynahBlueZStandIn
import MynahTestSupport
import Testing

/// `mynah doctor`, as a user runs it.
@Suite(.processes, .timeLimit(.minutes(15))) struct DoctorTests {
    /// Its findings, with the other parts of its report.
    private struct Report {
        var status: ChildProcess.Status
        var verdict: String
        var exitCode: Int
        var checks: [[String: Any]]

        init(_ result: Program.Result) throws {
            let fields = try json(result.output)
            status = result.status
            verdict = fields["verdict"] as? String ?? ""
            exitCode = fields["exitCode"] as? Int ?? -1
            checks = fields["checks"] as? [[String: Any]] ?? []
        }

        func verdict(_ id: String) -> String? { check(id)?["verdict"] as? String }
        func found(_ id: String) -> String? { check(id)?["found"] as? String }
        func remedy(_ id: String) -> String? { check(id)?["remedy"] as? String }

        private func check(_ id: String) -> [String: Any]? { checks.first { $0["id"] as? String == id } }
    }

    private func report(
        _ arguments: [String], bus: String? = nil, launcher: [String] = []
    ) async throws -> Report {
        try Report(
            try await Program(["doctor", "--format", "json"] + arguments, bus: bus, launcher: launcher).end())
    }

    /// The report about a daemon.
    private func report(
        on configuration: StandInConfiguration, _ arguments: [String] = ["--radio", "bluez"]
    ) async throws -> Report {
        let bus = try PrivateBus()
        let standIn = try await BlueZStandIn.start(on: bus.address, configuration)
        let report = try await report(arguments, bus: bus.address)
        #expect(await standIn.violations == [])
        #expect(await standIn.alias() ?? "stand-in" == "stand-in")
        #expect(await standIn.agentCapability == nil)
        #expect(await standIn.applicationCount() == 0)
        await standIn.stop()
        return report
    }

    private static var experimental: StandInConfiguration {
        var configuration = StandInConfiguration()
        configuration.isExperimental = true
        return configuration
    }

    // MARK: - BlueZ

    @Test func `a bluetoothd that works is fine`() async throws {
        let report = try await report(on: Self.experimental)
        let ids = [
            "bus", "busPolicy", "daemon", "adapter", "peripheralRole", "advertisingSets",
            "otherAdvertisers", "experimental",
        ]
        for id in ids { #expect(report.verdict(id) == "fine", "\(id): \(report.found(id) ?? "")") }
        #expect(report.found("adapter") == "hci0 (00:AA:01:00:00:42) is on")
        #expect(report.found("radio")?.hasPrefix("BlueZ 5.66 on hci0") == true)
        #expect(report.verdict("kernel") == "fine")
        #expect(report.verdict != "stop")
    }

    @Test func `an adapter that is off stays off`() async throws {
        let bus = try PrivateBus()
        var configuration = Self.experimental
        configuration.powersUp = false
        let standIn = try await BlueZStandIn.start(on: bus.address, configuration)
        let report = try await report(["--radio", "bluez"], bus: bus.address)
        #expect(report.verdict("adapter") == "fine")
        #expect(await !standIn.isPowered())
        await standIn.stop()
    }

    @Test func `a profile is checked on the radio, and loses its interval without --experimental`()
        async throws
    {
        let profile = "\(repository)/profiles/battery.yaml"
        let stock = try await report(on: StandInConfiguration(), ["--radio", "bluez", profile])
        #expect(stock.verdict("experimental") == "loss")
        #expect(stock.remedy("experimental")?.contains("Experimental = true") == true)
        #expect(stock.verdict("profile") == "loss")
        #expect(stock.remedy("profile") == "mynah check --radio bluez \(profile)")
        let experimental = try await report(on: Self.experimental, ["--radio", "bluez", profile])
        #expect(experimental.verdict("experimental") == "fine")
        #expect(experimental.verdict("profile") == "fine")
    }

    @Test func `sets that are taken, a role that is missing and a service that is there are found`()
        async throws
    {
        var adapter = StandInConfiguration.Adapter()
        adapter.roles = ["central"]
        adapter.services = ["0000180f-0000-1000-8000-00805f9b34fb"]
        var configuration = Self.experimental
        configuration.adapters = [adapter]
        configuration.maximumAdvertisements = 0
        let report = try await report(
            on: configuration, ["--radio", "bluez", "\(repository)/profiles/battery.yaml"])
        #expect(report.verdict("peripheralRole") == "stop")
        #expect(report.verdict("advertisingSets") == "stop")
        #expect(report.verdict("services") == "loss")
        #expect(report.found("services")?.contains("180F") == true)
        #expect(report.status == .exited(1) && report.exitCode == 1)
    }

    @Test func `a run that plays already is another advertiser`() async throws {
        let bus = try PrivateBus()
        let standIn = try await BlueZStandIn.start(on: bus.address, Self.experimental)
        let run = try Program(
            ["run", "--events", "json", "--radio", "bluez", RunTests.profile], bus: bus.address)
        #expect(try await run.output.line(containing: "advertising.started") != nil)
        let report = try await report(["--radio", "bluez"], bus: bus.address)
        #expect(report.verdict("otherAdvertisers") == "loss")
        run.child.send(SIGINT)
        _ = try await run.end()
        await standIn.stop()
    }

    @Test func `no adapter, no daemon and no bus are found, each with the remedy that a run has`()
        async throws
    {
        let noAdapter = try await report(on: StandInConfiguration(adapters: []))
        #expect(noAdapter.verdict("adapter") == "stop")
        #expect(noAdapter.remedy("adapter")?.contains("dmesg") == true)
        let bus = try PrivateBus()
        let noDaemon = try await report(["--radio", "bluez"], bus: bus.address)
        #expect(noDaemon.verdict("daemon") == "stop")
        #expect(noDaemon.verdict("adapter") == "skipped")
        let noBus = try await report(["--radio", "bluez"])
        #expect(noBus.verdict("bus") == "stop")
        #expect(noBus.remedy("bus") != nil)
        #expect(noBus.status == .exited(1))
    }

    @Test func `a bus that never answers ends no check with a hang`() async throws {
        let bus = try PrivateBus()
        bus.freeze()
        let report = try await report(["--radio", "bluez"], bus: bus.address)
        #expect(report.verdict("bus") == "stop")
        #expect(report.found("bus")?.contains("did not answer within 5 s") == true)
        #expect(report.status == .exited(1))
    }

    @Test func `an adapter that was named is the one that counts`() async throws {
        let report = try await report(on: Self.experimental, ["--adapter", "hci7"])
        #expect(report.verdict("radio") == "stop")
        #expect(report.verdict("adapter") == "stop")
        #expect(report.found("adapter") == "there is no adapter hci7")
    }

    // MARK: - Containers

    @Test(
        .enabled("the kernel makes user namespaces") {
            try await ChildProcess("unshare", ["-U", "true"])?.end() == .exited(0)
        })
    func `in a user namespace without its users the bus refuses, and the container check says why`()
        async throws
    {
        let bus = try PrivateBus()
        let standIn = try await BlueZStandIn.start(on: bus.address)
        let inside = try await report(["--radio", "bluez"], bus: bus.address, launcher: ["unshare", "-U"])
        #expect(inside.verdict("container") == "stop")
        #expect(inside.found("container")?.contains("user 65534 here is another user outside") == true)
        #expect(inside.remedy("container")?.contains("--userns=keep-id") == true)
        #expect(inside.verdict("bus") == "stop")
        // With the user's own number, as the remedy says, the bus lets it in.
        let number = "\(geteuid())"
        let kept = try await report(
            ["--radio", "bluez"], bus: bus.address,
            launcher: ["unshare", "--map-user=\(number)", "--map-group=\(getegid())"])
        #expect(kept.verdict("container") == "fine")
        #expect(kept.verdict("bus") == "fine")
        await standIn.stop()
    }

    // MARK: - Other radios

    @Test func `the virtual radio is fine everywhere`() async throws {
        let report = try await report(["--radio", "virtual", RunTests.profile])
        #expect(report.status == .exited(0))
        #expect(report.checks.count == 6)
        #expect(report.checks.allSatisfy { $0["verdict"] as? String == "fine" })
    }

    @Test func `auto without an adapter plays on the virtual radio, with a loss`() async throws {
        let report = try await report([])
        // A machine whose kernel has an adapter wants BlueZ mended.
        if report.verdict("radio") == "stop" { return }
        #expect(report.verdict("radio") == "loss")
        #expect(report.found("radio")?.contains("the device plays on the virtual radio") == true)
        #expect(report.status == .exited(2) && report.exitCode == 2)
    }

    @Test func `an emulator and a controller that are not there stop a run on them`() async throws {
        let emulator = try await report(["--radio", "netsim:instance=7"])
        #expect(emulator.verdict("emulator") == "stop")
        let controller = try await report(["--radio", "hci:tcp-client:127.0.0.1:1"])
        #expect(controller.verdict("controller") == "stop")
        #expect(controller.remedy("controller") == "start the controller first")
        for address in ["unix-server:/nonexistent/hci", "serial:/dev/null", "unix:/tmp"] {
            let report = try await report(["--radio", "hci:\(address)"])
            #expect(report.verdict("controller") == "stop", "\(address)")
            #expect(report.status == .exited(1), "\(address)")
        }
    }

    @Test func `a profile with problems stops a run`() async throws {
        let bad = try ProfileFile("mynah: 1\nname: A\nservces: []\n")
        for path in [bad.path, "/nonexistent/a.yaml", "/tmp"] {
            let report = try await report(["--radio", "virtual", path])
            #expect(report.verdict("profile") == "stop")
            #expect(report.remedy("profile") == "mynah check \(path)")
            #expect(report.status == .exited(1))
        }
    }

    // MARK: - The interface

    @Test func `text has a line for each check, and a summary`() async throws {
        let result = try await Program.run("doctor", "--radio", "virtual")
        let lines = result.output.split(separator: "\n")
        #expect(lines.first == "fine     radio         virtual radio")
        #expect(lines.count == 6)
        #expect(lines.last == "A run works.")
        #expect(result.error.isEmpty)
    }

    @Test(arguments: [
        (["--radio", "bluz"], "bluez"), (["--format", "jsn"], "json"), (["a", "b"], "'b'"),
        (["--radio", "virtual", "--adapter", "hci0"], "--adapter is for BlueZ"),
        (["--radio", "hci:no"], "write one of"),
    ])
    func `wrong usage is told`(arguments: [String], word: String) async throws {
        let result = try await Program(["doctor"] + arguments).end()
        #expect(result.status == .exited(64))
        #expect(result.error.contains(word), "\(result.error)")
    }
}
