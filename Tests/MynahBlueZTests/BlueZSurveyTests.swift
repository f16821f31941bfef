import Glibc
import MynahBlueZStandIn
import MynahCore
import MynahDBus
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahBlueZ

/// The questions of `mynah doctor` to the bus and bluetoothd.
@Suite(.timeLimit(.minutes(15))) struct BlueZSurveyTests {
    private func survey(_ address: String, limit: Duration = .seconds(50)) -> BlueZSurvey {
        var survey = BlueZSurvey()
        survey.bus = .address(address)
        // A busy machine is no daemon that never answers.
        survey.limit = limit
        return survey
    }

    @Test func `an adapter is described, and nothing of it is changed`() async throws {
        let bus = try PrivateBus()
        var adapter = StandInConfiguration.Adapter()
        adapter.services = ["0000180a-0000-1000-8000-00805f9b34fb", "no UUID"]
        var configuration = StandInConfiguration(adapters: [adapter])
        configuration.powersUp = false
        let standIn = try await BlueZStandIn.start(on: bus.address, configuration)
        let found = await survey(bus.address).run()
        #expect(found.failure == nil)
        #expect(found.process == UInt32(getpid()))
        #expect(found.version == .oldest)
        #expect(found.adapter?.name == "hci0")
        #expect(found.adapter?.address == "00:AA:01:00:00:42")
        #expect(found.adapter?.isPowered == false)
        #expect(found.adapter?.roles == ["central", "peripheral"])
        #expect(found.adapter?.keepsInterval == false)
        #expect(found.adapter?.activeSets == 0)
        #expect(found.adapter?.freeSets == 5)
        #expect(found.adapter?.setsError == nil)
        #expect(found.adapter?.services == ["180A"])
        #expect(await !standIn.isPowered())
        #expect(await standIn.alias() == "stand-in")
        #expect(await standIn.agentCapability == nil)
        #expect(await standIn.violations == [])
        await standIn.stop()
    }

    @Test func `a daemon that is experimental keeps intervals, and one without sets says what a run says`()
        async throws
    {
        let bus = try PrivateBus()
        var configuration = StandInConfiguration()
        configuration.isExperimental = true
        configuration.maximumAdvertisements = 0
        let standIn = try await BlueZStandIn.start(on: bus.address, configuration)
        let found = await survey(bus.address).run()
        #expect(found.adapter?.keepsInterval == true)
        #expect(found.adapter?.freeSets == 0)
        #expect(found.adapter?.setsError?.code == .noAdvertisingSet)
        await standIn.stop()
    }

    @Test func `each stage ends with the error of a run`() async throws {
        let noBus = await survey("unix:path=/nonexistent/bus").run()
        #expect(noBus.failure?.stage == .bus)
        #expect(noBus.failure?.error.remedy == "start it: sudo systemctl start dbus")
        #expect(noBus.isBusMissing)
        let bus = try PrivateBus()
        let dead = try TemporaryDirectory()
        let socket = try #require(fopen(dead.path + "/bus", "w"))
        fclose(socket)
        let refusing = await survey("unix:path=\(dead.path)/bus").run()
        #expect(refusing.failure?.stage == .bus)
        #expect(!refusing.isBusMissing)
        let noDaemon = await survey(bus.address).run()
        #expect(noDaemon.failure?.stage == .daemon)
        #expect(noDaemon.failure?.error == BlueZErrors.notRunning)
        #expect(!noDaemon.isActivatable)
        let standIn = try await BlueZStandIn.start(on: bus.address, StandInConfiguration(adapters: []))
        let noAdapter = await survey(bus.address).run()
        #expect(noAdapter.failure?.stage == .adapter)
        #expect(noAdapter.failure?.error.code == .noAdapter)
        try await standIn.plugIn(.init())
        var other = survey(bus.address)
        other.adapter = "hci7"
        #expect(await other.run().failure?.error.message == "there is no adapter hci7")
        other.adapter = "00:aa:01:00:00:42"
        #expect(await other.run().adapter?.name == "hci0")
        await standIn.stop()
    }

    @Test func `a policy that refuses is told from a daemon that does not run`() async throws {
        let refusing =
            PrivateBus.openPolicy
                + """
                <policy context="mandatory"><deny send_destination="org.bluez" \
                send_interface="org.freedesktop.DBus.ObjectManager"/></policy>
                """
        let bus = try PrivateBus(policy: refusing)
        let standIn = try await BlueZStandIn.start(on: bus.address)
        let found = await survey(bus.address).run()
        #expect(found.failure?.stage == .policy)
        #expect(found.failure?.error.code == .notPermitted)
        #expect(found.failure?.error.remedy?.contains("as root") == true)
        await standIn.stop()
    }

    @Test func `a bus that never answers is given up`() async throws {
        let bus = try PrivateBus()
        bus.freeze()
        let found = await survey(bus.address, limit: .milliseconds(50)).run()
        #expect(found.failure?.stage == .bus)
        #expect(found.failure?.error.code == .timedOut)
        #expect(found.failure?.error.message.contains(bus.address) == true)
        #expect(!found.isBusMissing)
    }

    @Test func `a daemon that never answers is given up`() async throws {
        let bus = try PrivateBus()
        let mute = try await DBusConnection.connect(to: .address(bus.address))
        let daemon = SilentDaemon()
        try await GLibExecutor.shared.perform { () throws(DBusError) in try mute.export(daemon, at: "/") }
        try await mute.requestName(BlueZ.service)
        let found = await survey(bus.address, limit: .milliseconds(300)).run()
        // On a busy machine the bus itself may not answer in time.
        #expect([.daemon, .bus].contains(found.failure?.stage))
        #expect(found.failure?.error.code == .timedOut)
        await mute.close()
    }

    @Test func `a daemon that answers nonsense is a violation of the protocol`() async throws {
        let bus = try PrivateBus()
        let odd = try await DBusConnection.connect(to: .address(bus.address))
        let daemon = OddDaemon()
        try await GLibExecutor.shared.perform { () throws(DBusError) in try odd.export(daemon, at: "/") }
        try await odd.requestName(BlueZ.service)
        let found = await survey(bus.address).run()
        #expect(found.adapter == nil)
        #expect(found.failure != nil)
        await odd.close()
    }

    // MARK: - Programs and switches

    @Test func `a bluetoothd that does not say its version in time is killed`() async throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/bluetoothd"
        func script(_ text: String) throws {
            let file = try #require(fopen(path, "we"))
            fputs("#!/bin/sh\n\(text)\n", file)
            fclose(file)
            chmod(path, 0o755)
        }
        try script("exec sleep 1000")
        #expect(await BlueZVersion.installed(programs: [path], limit: .milliseconds(100)) == nil)
        try script("echo 5.82")
        // A child of another test may have the file open for a moment, and it cannot run then.
        try await until("the version is read") {
            await BlueZVersion.installed(programs: ["/nonexistent", path], limit: .seconds(100))
                == .init(5, 82)
        }
        try script("echo many")
        #expect(await BlueZVersion.installed(programs: [path], limit: .seconds(100)) == nil)
        unlink(path)
    }

    @Test func `the switches for Bluetooth are listed, also those of the machine`() throws {
        var template = Array("/tmp/mynah-rfkill-XXXXXX".utf8CString)
        let directory = try #require(mkdtemp(&template).map { String(cString: $0) })
        let switches = [
            ("rfkill0", ["name": "hci0", "type": "bluetooth", "soft": "1", "hard": "0"]),
            ("rfkill1", ["name": "phy0", "type": "wlan", "soft": "1", "hard": "0"]),
            ("rfkill2", ["name": "acer-bluetooth", "type": "bluetooth", "soft": "0", "hard": "0"]),
            ("other", ["name": "x", "type": "bluetooth"]), ("rfkill4", [:]),
        ]
        for (entry, texts) in switches {
            mkdir("\(directory)/\(entry)", 0o700)
            for (name, text) in texts {
                let file = try #require(fopen("\(directory)/\(entry)/\(name)", "w"))
                fputs(text + "\n", file)
                fclose(file)
            }
        }
        let found = try #require(RFKill(directory: directory).bluetooth)
        #expect(found.map(\.name) == ["acer-bluetooth", "hci0"])
        #expect(found.map { $0.error?.remedy } == [nil, "sudo rfkill unblock bluetooth"])
        #expect(RFKill(directory: directory + "/none").bluetooth == nil)
        for (entry, texts) in switches {
            for name in texts.keys { unlink("\(directory)/\(entry)/\(name)") }
            rmdir("\(directory)/\(entry)")
        }
        rmdir(directory)
    }
}

/// Has bluetoothd's name, and answers with an adapter whose properties have other types.
private final class OddDaemon: DBusObject {
    let interfaces = [
        DBusInterface(
            "org.freedesktop.DBus.ObjectManager",
            methods: [.init("GetManagedObjects", returns: "a{oa{sa{sv}}}")])
    ]

    func handle(_ call: MethodCall, _ method: DBusInterface.Method) {
        call.reply { body in
            body.append(DBusValue.strings(["nonsense"]))
        }
    }
}
