import MynahConsole
import MynahCore
import MynahProfiles
import MynahRun
import Testing

/// The verdict of each check on the facts.
@Suite struct DoctorTests {
    /// A machine with one fault, and what its check says.
    struct Case: CustomTestStringConvertible, Sendable {
        var id: String
        var verdict: Finding.Verdict
        /// A part of the remedy.
        var remedy: String?
        var facts: MachineFacts

        init(_ id: String, _ verdict: Finding.Verdict, _ remedy: String?, _ facts: MachineFacts) {
            self.id = id
            self.verdict = verdict
            self.remedy = remedy
            self.facts = facts
        }

        init(
            _ id: String, _ verdict: Finding.Verdict, _ remedy: String?,
            change: (inout MachineFacts) -> Void
        ) {
            self.init(id, verdict, remedy, SampleMachine.with(change))
        }

        var testDescription: String { "\(id): \(verdict)" }
    }

    private func finding(_ id: String, _ facts: MachineFacts) -> Finding? {
        Doctor(facts).findings.first { $0.id == id }
    }

    @Test func `a fine machine has nothing but fine findings, each once and without a remedy`() {
        let findings = Doctor(SampleMachine.with { $0.profile = SampleMachine.profile("180D") }).findings
        #expect(Set(findings.map(\.id)).count == findings.count)
        #expect(findings.count == 23)
        for finding in findings {
            #expect(finding.verdict == .fine, "\(finding)")
            #expect(finding.remedy == nil && finding.meaning == nil)
        }
        #expect(Finding.Verdict.of(findings) == .fine)
    }

    static let machine = [
        Case("kernel", .stop, "modprobe bluetooth") {
            $0.bluez.adapter = nil
            $0.kernel = .found(.init(release: "6.1.0", bluetooth: .loadable, adapters: []))
        },
        Case("kernel", .stop, "apt install linux-image-amd64") {
            $0.bluez.adapter = nil
            $0.kernel = .found(.init(release: "6.1.0", bluetooth: .absent, adapters: []))
        },
        Case("kernel", .stop, "docker run --network host IMAGE") {
            $0.wish = .controller("hci0", isUserChannel: true)
            $0.kernel = .found(.init(release: "6.1.0", bluetooth: .hidden("not supported"), adapters: []))
        },
        Case("kernel", .stop, "as root, outside the container: modprobe bluetooth") {
            $0.bluez.adapter = nil
            $0.container = .found(docker)
            $0.kernel = .found(.init(release: "6.1.0", bluetooth: .loadable, adapters: []))
        },
        Case("kernel", .stop, "as root, outside the container: modprobe bluetooth") {
            $0.bluez.adapter = nil
            $0.container = .found(docker)
            $0.kernel = .found(.init(release: "6.1.0", bluetooth: .absent, adapters: []))
        },
        // BlueZ is asked over the bus, and needs no Bluetooth socket here.
        Case("kernel", .fine, nil) {
            $0.bluez.adapter = nil
            $0.kernel = .found(.init(release: "6.1.0", bluetooth: .hidden("not supported"), adapters: []))
        },
        Case("kernel", .loss, "BlueZ 5.87") {
            $0.kernel = .found(.init(release: "6.12.93+rpt", bluetooth: .loaded, adapters: ["hci0"]))
        },
        Case("kernel", .loss, "BlueZ 5.87") {
            $0.kernel = .found(.init(release: "6.18.34", bluetooth: .loaded, adapters: ["hci0"]))
        },
        Case("kernel", .fine, nil) {
            $0.kernel = .found(.init(release: "6.12.107+deb13", bluetooth: .loaded, adapters: ["hci0"]))
        },
        Case("kernel", .fine, nil) {
            $0.kernel = .found(.init(release: "6.12.93", bluetooth: .loaded, adapters: ["hci0"]))
            $0.bluez.version?.overfillsAdvertisingData = false
        },
        Case("kernel", .unknown, nil) { $0.kernel = .unknown("no /proc") },
        Case("container", .unknown, nil) { $0.container = .unknown("no /proc") },
        Case("container", .stop, "--userns=keep-id") {
            $0.container = .found(
                .init(kind: "podman", user: 0, outsideUser: 1000, hasUserNamespace: true))
        },
        Case("container", .stop, "--userns=keep-id") {
            $0.container = .found(
                .init(kind: nil, user: 65534, outsideUser: nil, hasUserNamespace: true))
        },
        Case("container", .fine, nil) {
            $0.container = .found(
                .init(kind: "podman", user: 1000, outsideUser: 1000, hasUserNamespace: true))
        },
        Case("container", .stop, "outside") {
            $0.wish = .controller("hci0", isUserChannel: true)
            $0.container = .found(.init(kind: nil, user: 0, outsideUser: 0, hasUserNamespace: true))
        },
        Case("rfkill", .stop, "sudo rfkill unblock bluetooth") {
            $0.switches = .found([.init(name: "hci0", error: blocked)])
        },
        Case("rfkill", .stop, "sudo apt install rfkill && sudo rfkill unblock bluetooth") {
            $0.switches = .found([.init(name: "hci0", error: blocked)])
            $0.hasRFKill = false
        },
        // Root needs no sudo.
        Case("rfkill", .stop, "apt install rfkill && rfkill unblock bluetooth") {
            $0.switches = .found([.init(name: "hci0", error: blocked)])
            $0.hasRFKill = false
            $0.container = .found(.init(kind: nil, user: 0, outsideUser: 0, hasUserNamespace: false))
        },
        Case("rfkill", .stop, "wireless switch") {
            $0.switches = .found([
                .init(name: "hci0", error: RadioError(.blocked, "off", remedy: "turn the wireless switch on"))
            ])
            $0.hasRFKill = false
        },
        // A switch of the machine turns every adapter off.
        Case("rfkill", .stop, "rfkill unblock bluetooth") {
            $0.switches = .found([.init(name: "tpacpi_bluetooth_sw", error: blocked)])
        },
        Case("rfkill", .fine, nil) { $0.switches = .found([.init(name: "hci1", error: blocked)]) },
        Case("rfkill", .unknown, nil) { $0.switches = .unknown("no rfkill") },
        Case("lowEnergy", .stop, "another adapter") {
            $0.controllers = .found(["hci0": .init(supportsLE: false, isLEOn: false)])
        },
        Case("lowEnergy", .stop, "sudo sed -i -E 's/^[# ]*ControllerMode *=.*/ControllerMode = dual/'") {
            $0.configuration = .found(SampleMachine.settings("ControllerMode = bredr"))
        },
        Case("lowEnergy", .stop, "sudo btmgmt --index hci0 le on") {
            $0.controllers = .found(["hci0": .init(supportsLE: true, isLEOn: false)])
        },
        Case("lowEnergy", .unknown, nil) { $0.controllers = .unknown("no socket") },
        Case("lowEnergy", .unknown, nil) { $0.controllers = .found([:]) },
    ]

    private static let docker = MachineFacts.Container(
        kind: "docker", user: 0, outsideUser: 0, hasUserNamespace: false)
    private static let blocked = RadioError(
        .blocked, "the adapter hci0 is blocked by rfkill", remedy: "sudo rfkill unblock bluetooth")

    @Test(arguments: machine)
    func `a fault of the machine is found, with its remedy`(fault: Case) { expect(fault) }

    static let daemon = [
        Case(
            "bus", .stop, "systemctl start dbus",
            SampleMachine.failing(
                .bus,
                RadioError(
                    .unreachable, "there is no D-Bus system bus", remedy: "start it: systemctl start dbus"))),
        Case(
            "daemon", .stop, "systemctl start bluetooth",
            SampleMachine.failing(.daemon, SampleMachine.notRunning)),
        Case(
            "daemon", .stop, "systemctl restart bluetooth",
            SampleMachine.failing(
                .daemon,
                RadioError(.timedOut, "it did not answer", remedy: "restart it: systemctl restart bluetooth"))
        ),
        Case(
            "busPolicy", .stop, "as root",
            SampleMachine.failing(
                .policy, RadioError(.notPermitted, "this user may not", remedy: "run it as root"))),
        Case(
            "adapter", .stop, "plug one in",
            SampleMachine.failing(.adapter, RadioError(.noAdapter, "no adapter", remedy: "plug one in"))),
        Case("daemon", .loss, "install BlueZ 5.66") {
            $0.bluez.version?.isSupported = false
        },
        Case("daemon", .fine, nil) { $0.bluez.version = nil },
        Case("adapter", .fine, nil) { $0.bluez.adapter?.isPowered = false },
        Case("peripheralRole", .stop, "another adapter") { $0.bluez.adapter?.roles = ["central"] },
        Case("peripheralRole", .stop, "another adapter") { $0.bluez.adapter?.roles = [] },
        Case("peripheralRole", .unknown, nil) { $0.bluez.adapter?.roles = nil },
        Case("advertisingSets", .stop, "end one") {
            $0.bluez.adapter?.activeSets = 5
            $0.bluez.adapter?.freeSets = 0
            $0.bluez.adapter?.setsError = RadioError(.noAdvertisingSet, "all taken", remedy: "end one")
        },
        Case("advertisingSets", .unknown, nil) { $0.bluez.adapter?.freeSets = nil },
        Case("otherAdvertisers", .loss, "bluetoothctl show") { $0.bluez.adapter?.activeSets = 1 },
        Case("otherAdvertisers", .unknown, nil) { $0.bluez.adapter?.activeSets = nil },
    ]

    @Test(arguments: daemon)
    func `a fault on the way to an adapter is found, with its remedy`(fault: Case) { expect(fault) }

    static let settings = [
        Case("experimental", .loss, "Experimental = true") { $0.bluez.adapter?.keepsInterval = false },
        Case("experimental", .loss, "Experimental = true") {
            $0.bluez.adapter?.keepsInterval = false
            $0.profile = SampleMachine.profile("180D", setsInterval: true)
        },
        Case("experimental", .fine, nil) {
            $0.bluez.adapter?.keepsInterval = false
            $0.profile = SampleMachine.profile("180D")
        },
        Case("reverseDiscovery", .loss, "ReverseServiceDiscovery = false") {
            $0.configuration = .found(SampleMachine.settings("#ReverseServiceDiscovery = true"))
        },
        Case("reverseDiscovery", .loss, "ReverseServiceDiscovery = false") {
            $0.configuration = .found(MainConfiguration(path: "/etc/bluetooth/main.conf", text: ""))
        },
        Case("reverseDiscovery", .fine, nil) {
            $0.configuration = .found(SampleMachine.settings("", "Client = false"))
        },
        Case("reverseDiscovery", .fine, nil) {
            $0.configuration = .found(SampleMachine.settings(""))
            $0.bluez.arguments = .found(["bluetoothd", "-P", "vcp,battery"])
        },
        Case("reverseDiscovery", .fine, nil) {
            $0.configuration = .found(SampleMachine.settings(""))
            $0.bluez.arguments = .found(["bluetoothd", "--noplugin=battery"])
        },
        Case("reverseDiscovery", .unknown, nil) { $0.configuration = .unknown("not readable") },
        Case("attributeChannels", .loss, "Channels = 1") {
            $0.configuration = .found(SampleMachine.settings("", "Channels = 3"))
        },
        Case("attributeChannels", .loss, "Channels = 1") {
            $0.configuration = .found(SampleMachine.settings("", "#Channels = 3"))
        },
        Case("attributeChannels", .fine, nil) {
            $0.configuration = .found(SampleMachine.settings("", "#Channels = 3"))
            $0.bluez.version?.offersManyChannels = false
        },
        Case("exchangeMTU", .loss, "ExchangeMTU = 517") {
            $0.configuration = .found(SampleMachine.settings("", "ExchangeMTU = 100"))
        },
        Case("exchangeMTU", .fine, nil) {
            $0.configuration = .found(SampleMachine.settings("", "ExchangeMTU = \(Int.min)"))
        },
        Case("exchangeMTU", .fine, nil) {
            $0.configuration = .found(SampleMachine.settings("", "ExchangeMTU = many"))
        },
        Case("mainConfiguration", .loss, "sudo sed -i '3s/^/#/' /etc/bluetooth/main.conf") {
            $0.configuration = .found(SampleMachine.settings("Privacy"))
        },
        Case("mainConfiguration", .unknown, nil) { $0.configuration = .unknown("not readable") },
        // bluetoothd does not read these.
        Case("reverseDiscovery", .loss, "ReverseServiceDiscovery = false") {
            $0.configuration = .found(SampleMachine.settings("ReverseServiceDiscovery = false\njunk"))
        },
        Case("privacy", .fine, nil) {
            $0.configuration = .found(SampleMachine.settings("Privacy = device\njunk"))
        },
        Case("privacy", .loss, "Privacy = off") {
            $0.configuration = .found(SampleMachine.settings("Privacy = device"))
        },
        Case("services", .loss, "DeviceID = false") { $0.profile = SampleMachine.profile("180A") },
        Case("services", .loss, "-P vcp") {
            $0.bluez.adapter?.services = ["1844"]
            $0.profile = SampleMachine.profile("1844")
        },
        Case("services", .loss, "-P micp,battery") {
            $0.bluez.adapter?.services = ["184D"]
            $0.bluez.arguments = .found(["bluetoothd", "-Pbattery"])
            $0.profile = SampleMachine.profile("184D")
        },
        Case("services", .loss, "end the other program") {
            $0.bluez.adapter?.services = ["180D"]
            $0.profile = SampleMachine.profile("180D")
        },
        Case("services", .skipped, nil) { $0.profile = nil },
    ]

    @Test(arguments: settings)
    func `a setting of bluetoothd that costs something is found, with its remedy`(fault: Case) {
        expect(fault)
    }

    static let others = [
        Case("emulator", .stop, "emulator -avd") { $0.wish = .netsim },
        Case("emulator", .fine, nil) {
            $0.wish = .netsim
            $0.emulator = .alive("netsim instance 1")
        },
        Case("emulator", .fine, nil) { $0.wish = .auto },
        Case("virtualAir", .stop, "chmod") {
            $0.wish = .virtual
            $0.air = .found(
                .init(
                    directory: "/tmp/air",
                    error: RadioError(.notPermitted, "writable by others", remedy: "chmod go-w")))
        },
        Case("virtualAir", .unknown, nil) {
            $0.wish = .virtual
            $0.air = .unknown("slow")
        },
        Case("controller", .stop, "start the controller") {
            $0.wish = .controller("c", isUserChannel: false)
            $0.controllerError = .found(RadioError(.unreachable, "no", remedy: "start the controller first"))
        },
        Case("controller", .unknown, nil) {
            $0.wish = .controller("c", isUserChannel: false)
            $0.controllerError = .unknown("another machine")
        },
        // Errors of the profile itself need no radio.
        Case("profile", .stop, "mynah check a.yaml") {
            $0.profile = .init(file: "a.yaml", issues: [ProfileIssue(file: "a.yaml", message: "no")])
        },
        // auto takes the virtual radio.
        Case("profile", .loss, "mynah check a.yaml") {
            $0 = SampleMachine.failing(.adapter, noAdapter)
            $0.wish = .auto
            $0.kernel = .found(.init(release: "6.1.0", bluetooth: .absent, adapters: []))
            $0.profile = .init(
                file: "a.yaml", issues: [],
                hostIssues: [ProfileIssue(severity: .warning, file: "a.yaml", message: "less")])
        },
        Case("profile", .stop, "mynah check --radio bluez a.yaml") {
            $0.profile = .init(
                file: "a.yaml", issues: [], bluezIssues: [ProfileIssue(file: "a.yaml", message: "no")])
        },
        Case("profile", .loss, "mynah check --radio bluez a.yaml") {
            $0.profile = .init(
                file: "a.yaml", issues: [],
                bluezIssues: [ProfileIssue(severity: .warning, file: "a.yaml", message: "less")])
        },
        Case("profile", .stop, "mynah check --radio bluez 'my $HOME.yaml'") {
            $0.profile = .init(
                file: "my $HOME.yaml", issues: [],
                bluezIssues: [ProfileIssue(file: "my $HOME.yaml", message: "no")])
        },
        // The issues of another radio do not count.
        Case("profile", .fine, nil) {
            $0.wish = .virtual
            $0.profile = .init(
                file: "a.yaml", issues: [], bluezIssues: [ProfileIssue(file: "a.yaml", message: "no")])
        },
        Case("vhci", .fine, nil) { $0.adapterFile = .found(.ready) },
        Case("vhci", .fine, nil) { $0.adapterFile = .found(.notPermitted) },
        Case("vhci", .fine, nil) { $0.adapterFile = .found(.absent) },
        Case("vhci", .unknown, nil) { $0.adapterFile = .unknown("no") },
        Case("captureTools", .fine, nil) { $0.captureTools = [] },
        Case("openFiles", .loss, "ulimit -n 1024") { $0.fileLimit = 255 },
        Case("openFiles", .fine, nil) { $0.fileLimit = 256 },
        Case("openFiles", .fine, nil) { $0.fileLimit = nil },
    ]

    @Test(arguments: others)
    func `a fault of another radio or of a profile is found, with its remedy`(fault: Case) {
        expect(fault)
    }

    private func expect(_ fault: Case) {
        let found = finding(fault.id, fault.facts)
        #expect(found?.verdict == fault.verdict, "\(String(describing: found))")
        if let remedy = fault.remedy {
            #expect(found?.remedy?.contains(remedy) == true, "\(String(describing: found))")
        } else {
            #expect(found?.remedy == nil, "\(String(describing: found))")
        }
    }

    // MARK: - What depends on others

    @Test func `a check that cannot be made is skipped, with the reason`() {
        let stages: [(BlueZFacts.Stage, [String], String)] = [
            (.bus, ["daemon", "busPolicy", "adapter", "advertisingSets"], "there is no D-Bus system bus"),
            (.daemon, ["busPolicy", "adapter", "experimental"], "bluetoothd does not answer"),
            (
                .policy, ["adapter", "peripheralRole", "otherAdvertisers"],
                "this user may not call bluetoothd"
            ),
            (.adapter, ["peripheralRole", "reverseDiscovery", "services"], "there is no adapter"),
        ]
        for (stage, skipped, reason) in stages {
            let facts = SampleMachine.failing(stage, SampleMachine.notRunning)
            for id in skipped {
                #expect(finding(id, facts)?.verdict == .skipped, "\(stage), \(id)")
                #expect(finding(id, facts)?.found == reason, "\(stage), \(id)")
            }
            #expect(Finding.Verdict.of(Doctor(facts).findings) == .stop)
        }
    }

    @Test func `a bluetoothd that is not installed is to be installed, but not in a container`() {
        var facts = SampleMachine.failing(.daemon, SampleMachine.notRunning)
        facts.bluez.isInstalled = false
        #expect(finding("daemon", facts)?.remedy == "sudo apt install bluez")
        facts.container = .found(.init(kind: "docker", user: 0, outsideUser: 0, hasUserNamespace: false))
        #expect(
            finding("daemon", facts)?.remedy == "start it: systemctl start bluetooth", "root needs no sudo")
    }

    @Test func `a bluetoothd that the bus starts is a loss, because the rest was not checked`() {
        var facts = SampleMachine.failing(.daemon, SampleMachine.notRunning)
        facts.bluez.startsOnDemand = true
        #expect(finding("daemon", facts)?.verdict == .loss)
        facts.wish = .auto
        #expect(finding("radio", facts)?.verdict == .fine)
    }

    @Test(arguments: [("docker", "docker run -v"), ("podman", "podman run -v"), ("lxc", "bind /run/dbus")])
    func `a container without a bus is told how to get the machine's`(kind: String, remedy: String) {
        var facts = SampleMachine.failing(.bus, RadioError(.unreachable, "no bus", remedy: "start it"))
        facts.container = .found(.init(kind: kind, user: 0, outsideUser: 0, hasUserNamespace: false))
        // A bus that is there, and refuses or hangs, is mended as on any machine.
        #expect(finding("bus", facts)?.remedy == "start it")
        facts.bluez.isBusMissing = true
        #expect(finding("bus", facts)?.remedy?.hasPrefix(remedy) == true)
        #expect(finding("bus", facts)?.meaning == "The machine's bus is not in this container.")
    }

    // MARK: - The radio that auto takes

    private static let noAdapter = RadioError(.noAdapter, "bluetoothd has no Bluetooth adapter")

    @Test func `without an adapter auto plays on the virtual radio, and what stops BlueZ is a loss`() {
        var facts = SampleMachine.failing(.adapter, Self.noAdapter)
        facts.wish = .auto
        facts.kernel = .found(.init(release: "6.1.0", bluetooth: .absent, adapters: []))
        let findings = Doctor(facts).findings
        #expect(findings.first?.id == "radio")
        #expect(findings.first?.found.contains("the device plays on the virtual radio") == true)
        #expect(!findings.contains { $0.verdict == .stop })
        #expect(finding("adapter", facts)?.verdict == .loss)
        #expect(finding("virtualAir", facts)?.verdict == .fine)
        #expect(Finding.Verdict.of(findings).exitCode == 2)
        facts.emulator = .alive("netsim instance 1")
        #expect(finding("radio", facts)?.found.contains("the Android emulator's radio") == true)
        #expect(finding("virtualAir", facts) == nil)
    }

    @Test func `an adapter of the kernel, or one that was named, has to be mended`() {
        var facts = SampleMachine.failing(.daemon, SampleMachine.notRunning)
        facts.wish = .auto
        #expect(finding("radio", facts)?.verdict == .stop)
        #expect(finding("radio", facts)?.remedy?.contains("--radio virtual") == true)
        #expect(finding("daemon", facts)?.verdict == .stop)
        facts.kernel = .found(.init(release: "6.1.0", bluetooth: .loaded, adapters: []))
        #expect(finding("radio", facts)?.verdict == .loss)
        facts.wantedAdapter = "hci0"
        #expect(finding("radio", facts)?.verdict == .stop)
        #expect(Finding.Verdict.of(Doctor(facts).findings).exitCode == 1)
    }

    @Test func `a profile that is a central has no use for BlueZ`() {
        let facts = SampleMachine.with {
            $0.wish = .auto
            $0.profile = .init(
                file: "a.yaml", issues: [], bluezIssues: [ProfileIssue(file: "a.yaml", message: "no")],
                playsCentrals: true)
        }
        #expect(
            Doctor(facts).findings.map(\.id) == [
                "radio", "emulator", "virtualAir", "openFiles", "profile", "vhci", "captureTools",
            ])
        #expect(Finding.Verdict.of(Doctor(facts).findings) == .fine)
    }

    @Test func `each radio has the checks that concern it`() {
        let checks: [(MachineFacts.Wish, [String])] = [
            (.virtual, ["radio", "virtualAir", "openFiles", "vhci", "captureTools"]),
            (.netsim, ["radio", "emulator", "openFiles", "vhci", "captureTools"]),
            (
                .controller("c", isUserChannel: false),
                ["radio", "controller", "openFiles", "vhci", "captureTools"]
            ),
            (
                .controller("hci0", isUserChannel: true),
                [
                    "radio", "kernel", "container", "rfkill", "lowEnergy", "controller", "openFiles",
                    "vhci", "captureTools",
                ]
            ),
        ]
        for (wish, ids) in checks {
            #expect(Doctor(SampleMachine.with { $0.wish = wish }).findings.map(\.id) == ids)
        }
    }

    @Test func `the named adapter is the one whose switch and settings count`() {
        let facts = SampleMachine.with {
            $0.bluez.adapter = nil
            $0.bluez.failure = .init(.daemon, SampleMachine.notRunning)
            $0.wantedAdapter = "HCI1"
            $0.kernel = .found(.init(release: "6.1.0", bluetooth: .loaded, adapters: ["hci0", "hci1"]))
            $0.switches = .found([.init(name: "hci1", error: Self.blocked)])
        }
        #expect(finding("rfkill", facts)?.verdict == .stop)
    }
}
