import MynahConsole
import MynahCore
import MynahProfiles
import MynahRun

/// Machines for the checks of `mynah doctor`.
enum SampleMachine {
    /// A machine on which a run through BlueZ has no loss.
    static var fine: MachineFacts {
        MachineFacts(
            wish: .bluez,
            kernel: .found(.init(release: "6.1.0-40-amd64", bluetooth: .loaded, adapters: ["hci0"])),
            container: .found(
                .init(kind: nil, user: 1000, outsideUser: 1000, hasUserNamespace: false)),
            switches: .found([.init(name: "hci0", error: nil)]),
            controllers: .found(["hci0": .init(supportsLE: true, isLEOn: true)]),
            bluez: BlueZFacts(
                bus: "the bus", failure: nil, isInstalled: true,
                version: .init(
                    text: "5.66", oldest: "5.66", isSupported: true, offersManyChannels: true,
                    overfillsAdvertisingData: true),
                arguments: .found(["/usr/libexec/bluetooth/bluetoothd", "-E"]),
                adapter: .init(
                    name: "hci0", address: "00:AA:01:00:00:42", isPowered: true,
                    roles: ["central", "peripheral"], keepsInterval: true, activeSets: 0, freeSets: 5,
                    services: ["1800", "1801", "180A"])),
            configuration: .found(settings("ReverseServiceDiscovery = false", "Channels = 1")),
            emulator: .absent("no Android emulator is running"),
            air: .found(.init(directory: "/run/user/1000/mynah-air", error: nil)), captureTools: ["tshark"])
    }

    /// A main.conf with these lines in `[General]` and `[GATT]`.
    static func settings(_ general: String, _ gatt: String = "Channels = 1") -> MainConfiguration {
        MainConfiguration(
            path: "/etc/bluetooth/main.conf",
            text: "[General]\n#ControllerMode = dual\n\(general)\n[GATT]\n\(gatt)\n")
    }

    /// The fine machine after a change.
    static func with(_ change: (inout MachineFacts) -> Void) -> MachineFacts {
        var facts = fine
        change(&facts)
        return facts
    }

    /// The fine machine on which the way to an adapter ends at this stage.
    static func failing(_ stage: BlueZFacts.Stage, _ error: RadioError) -> MachineFacts {
        with {
            $0.bluez.failure = .init(stage, error)
            $0.bluez.adapter = nil
        }
    }

    /// A profile with a service.
    static func profile(_ services: BluetoothUUID..., setsInterval: Bool = false) -> MachineFacts.Profile {
        .init(file: "a.yaml", issues: [], services: services, setsInterval: setsInterval)
    }

    static let notRunning = RadioError(
        .unreachable, "bluetoothd is not running", remedy: "start it: sudo systemctl start bluetooth")
}
