import Glibc
import MynahBlueZStandIn
import MynahCore
import MynahDBus
import MynahTestSupport
import Testing

@testable import MynahBlueZ

@Suite(.timeLimit(.minutes(15))) struct TroubleTests {
    private func start(_ rig: Rig) async -> RadioError? {
        await radioError { () async throws(RadioError) in
            _ = try await rig.radio.start(DeviceIdentity(name: "Mynah"), sink: rig.sink)
        }
    }

    private func start(on address: String) async -> RadioError? {
        var options = BlueZRadio.Options()
        options.bus = .address(address)
        let radio = BlueZRadio(options: options)
        return await radioError { () async throws(RadioError) in
            _ = try await radio.start(DeviceIdentity(name: "Mynah"), sink: TestSink())
        }
    }

    @Test func `no bus is said, with what to do`() async {
        let error = await start(on: "unix:path=/nonexistent/bus")
        #expect(error?.code == .unreachable)
        #expect(error?.message.contains("system bus") == true)
        #expect(error?.remedy != nil)
    }

    @Test func `channels and how often to meet are not bluetoothd's to give, and that is said ahead`()
        async throws
    {
        let radio = BlueZRadio(options: BlueZRadio.Options())
        let capabilities = BlueZCapabilities.capabilities()
        #expect(!capabilities.publishesL2CAPChannels && !capabilities.requestsConnectionLatency)
        let first = await radioError { () async throws(RadioError) in
            _ = try await radio.publishL2CAPChannel(isEncrypted: false)
        }
        let second = await radioError { () async throws(RadioError) in
            _ = try await radio.requestConnectionParameters(.init(.low), of: .init(1))
        }
        #expect(first?.code == .unsupported && second?.code == .unsupported)
    }

    @Test func `a bus without bluetoothd is said, with what to do`() async throws {
        let bus = try PrivateBus()
        let error = await start(on: bus.address)
        #expect(error?.code == .unreachable)
        #expect(error?.message.contains("bluetoothd") == true)
        #expect(error?.remedy?.contains("systemctl start bluetooth") == true)
    }

    @Test func `no adapter is said`() async throws {
        let rig = try await Rig(StandInConfiguration(.bookworm, adapters: []), identity: nil)
        #expect(await start(rig)?.code == .noAdapter)
    }

    @Test func `an adapter that is not there is said with those that are`() async throws {
        let rig = try await Rig(identity: nil) { $0.adapter = "hci7" }
        let error = await start(rig)
        #expect(error?.code == .noAdapter)
        #expect(error?.message.contains("hci7") == true)
        #expect(error?.remedy?.contains("hci0 (00:AA:01:00:00:42)") == true)
    }

    @Test(arguments: ["hci1", "00:aa:01:00:00:43"])
    func `an adapter is found by name and by address`(name: String) async throws {
        let rig = try await Rig(
            StandInConfiguration(
                .bookworm, adapters: [.init(), .init("hci1", address: "00:AA:01:00:00:43")])
        ) { $0.adapter = name }
        #expect(await rig.standIn.alias(of: "hci1") == "Mynah")
        #expect(await rig.standIn.alias(of: "hci0") == "stand-in")
        await rig.radio.stop()
    }

    @Test func `rfkill is said, with the command`() async throws {
        var configuration = StandInConfiguration()
        configuration.isBlocked = true
        let rig = try await Rig(configuration, identity: nil)
        let error = await start(rig)
        #expect(error?.code == .blocked)
        #expect(error?.remedy == "sudo rfkill unblock bluetooth")
        #expect(await rig.standIn.alias() == "stand-in")
    }

    @Test(arguments: [("0", "1", "switch"), ("1", "0", "unblock"), ("0", "0", "")])
    func `the kernel's own switches are read`(soft: String, hard: String, word: String) throws {
        var template = Array("/tmp/mynah-rfkill-XXXXXX".utf8CString)
        let directory = try #require(mkdtemp(&template).map { String(cString: $0) })
        let files = [("name", "hci0"), ("soft", soft), ("hard", hard)]
        mkdir("\(directory)/rfkill3", 0o700)
        for (name, text) in files {
            let file = try #require(fopen("\(directory)/rfkill3/\(name)", "w"))
            fputs(text + "\n", file)
            fclose(file)
        }
        let error = RFKill(directory: directory).error(for: "hci0")
        #expect(word.isEmpty ? error == nil : error?.remedy?.contains(word) == true)
        #expect(RFKill(directory: directory).error(for: "hci1") == nil)
        #expect(RFKill(directory: directory + "/none").error(for: "hci0") == nil)
        for (name, _) in files { unlink("\(directory)/rfkill3/\(name)") }
        rmdir("\(directory)/rfkill3")
        rmdir(directory)
    }

    @Test func `a user whom the bus does not let through is told so`() async throws {
        let bus = try PrivateBus(
            policy: PrivateBus.openPolicy.replacing(
                "</policy>", with: "<deny send_destination=\"org.bluez\"/></policy>"))
        let standIn = try await BlueZStandIn.start(on: bus.address)
        let error = await start(on: bus.address)
        #expect(error?.code == .notPermitted)
        await standIn.stop()
    }

    @Test func `a radio that failed to start can be started again`() async throws {
        let rig = try await Rig(StandInConfiguration(.bookworm, adapters: []), identity: nil)
        #expect(await start(rig) != nil)
        try await rig.standIn.plugIn(.init())
        #expect(await start(rig) == nil)
        #expect(await start(rig)?.code == .invalidState)
        #expect(await rig.violations() == [])
    }

    @Test func `a daemon that hangs is waited for once while the radio stops, and told the rest`()
        async throws
    {
        let rig = try await Rig()
        try await rig.radio.publish([Definitions().service])
        try await rig.radio.advertise(.named("Mynah"))
        await rig.standIn.fallSilent()
        await rig.radio.stop()
        #expect(await rig.standIn.waitingCallers == 1)
        try await rig.standIn.wait("the adapter has its own alias again") { $0.alias() == "stand-in" }
    }

    @Test func `nothing is published or advertised by a radio that is not started`() async throws {
        let rig = try await Rig(identity: nil)
        let radio = rig.radio
        let published = await radioError { () async throws(RadioError) in _ = try await radio.publish([]) }
        #expect(published?.code == .invalidState)
        let advertised = await radioError { () async throws(RadioError) in
            _ = try await radio.advertise(Advertisement())
        }
        #expect(advertised?.code == .invalidState)
    }

    @Test func `services that bluetoothd refuses are an error, and leave nothing behind`() async throws {
        let rig = try await Rig()
        let radio = rig.radio
        let error = await radioError { () async throws(RadioError) in
            _ = try await radio.publish([ServiceDefinition(uuid: "1800")])
        }
        #expect(error?.code == .servicesRefused)
        #expect(await rig.standIn.applicationCount() == 0)
        try await rig.radio.publish([Definitions().service])
        await rig.radio.stop()
    }
}
