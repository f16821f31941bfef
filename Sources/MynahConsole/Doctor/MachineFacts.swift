package import MynahCore
package import MynahProfiles
package import MynahRun

/// The result of a probe of the machine.
package enum Fact<Value: Hashable & Sendable>: Hashable, Sendable {
    case found(Value)
    /// The probe failed, for this reason.
    case unknown(String)

    /// The value, or `nil` if the probe failed.
    package var value: Value? {
        if case .found(let value) = self { value } else { nil }
    }

    /// The reason why the probe failed, or `nil` if it succeeded.
    package var reason: String? {
        if case .unknown(let reason) = self { reason } else { nil }
    }
}

/// The facts that `mynah doctor` has found about a machine.
package struct MachineFacts: Hashable, Sendable {
    /// The radio that the user has chosen.
    package enum Wish: Hashable, Sendable {
        case auto, bluez, virtual, netsim
        /// A controller at a transport address, with a name for messages.
        case controller(String, isUserChannel: Bool)
    }

    package struct Kernel: Hashable, Sendable {
        /// The state of the kernel's Bluetooth module.
        package enum Bluetooth: Hashable, Sendable {
            case loaded
            /// The module is installed but not loaded.
            case loadable
            case absent
            /// The module is loaded, but this process cannot open a Bluetooth socket, for this reason.
            case hidden(String)
        }

        /// The kernel's release, such as `6.1.0-18-amd64`.
        package var release: String
        package var bluetooth: Bluetooth
        /// The names of the adapters in sysfs, such as `hci0`.
        package var adapters: [String]

        package init(release: String, bluetooth: Bluetooth, adapters: [String]) {
            self.release = release
            self.bluetooth = bluetooth
            self.adapters = adapters
        }
    }

    package struct Container: Hashable, Sendable {
        /// The kind of container, such as `docker` or `podman`, or `nil` if there is none.
        package var kind: String?
        /// The user ID in this namespace.
        package var user: UInt32
        /// The user ID outside of this user namespace, or `nil` if there is none.
        package var outsideUser: UInt32?
        /// Whether this process is in a user namespace other than the machine's own.
        package var hasUserNamespace: Bool

        package init(kind: String?, user: UInt32, outsideUser: UInt32?, hasUserNamespace: Bool) {
            self.kind = kind
            self.user = user
            self.outsideUser = outsideUser
            self.hasUserNamespace = hasUserNamespace
        }
    }

    /// An rfkill switch that affects Bluetooth.
    package struct Switch: Hashable, Sendable {
        /// The name of the adapter, such as `hci0`, or of a switch of the whole machine.
        package var name: String
        /// The error that a run would report, or `nil` if the switch does not block.
        package var error: RadioError?

        package init(name: String, error: RadioError?) {
            self.name = name
            self.error = error
        }
    }

    /// The LE settings that the kernel reports for an adapter.
    package struct Controller: Hashable, Sendable {
        package var supportsLE: Bool
        package var isLEOn: Bool

        package init(supportsLE: Bool, isLEOn: Bool) {
            self.supportsLE = supportsLE
            self.isLEOn = isLEOn
        }
    }

    package struct Air: Hashable, Sendable {
        package var directory: String
        /// The error that a run would report, or `nil` if the directory can be used.
        package var error: RadioError?

        package init(directory: String, error: RadioError?) {
            self.directory = directory
            self.error = error
        }
    }

    /// The device file by which `mynah air --vhci` makes adapters.
    package enum AdapterFile: Hashable, Sendable {
        case ready
        /// Only another user may open it.
        case notPermitted
        /// The module is installed but not loaded.
        case loadable
        /// The module is not installed.
        case absent
    }

    /// A profile and its issues on the radios.
    package struct Profile: Hashable, Sendable {
        package var file: String
        /// The errors of the profile on any radio, and its warnings.
        package var issues: [ProfileIssue]
        /// The issues on the installed version of BlueZ.
        package var bluezIssues: [ProfileIssue]
        /// The issues on Mynah's own host.
        package var hostIssues: [ProfileIssue]
        package var services: [BluetoothUUID]
        /// `true` if the profile sets an advertising interval.
        package var setsInterval: Bool
        /// `true` if the profile has `central:`, which BlueZ cannot play.
        package var playsCentrals: Bool

        package init(
            file: String, issues: [ProfileIssue], bluezIssues: [ProfileIssue] = [],
            hostIssues: [ProfileIssue] = [], services: [BluetoothUUID] = [], setsInterval: Bool = false,
            playsCentrals: Bool = false
        ) {
            self.file = file
            self.issues = issues
            self.bluezIssues = bluezIssues
            self.hostIssues = hostIssues
            self.services = services
            self.setsInterval = setsInterval
            self.playsCentrals = playsCentrals
        }
    }

    package var wish: Wish
    /// The adapter that the user has chosen, by its name or address.
    package var wantedAdapter: String?
    package var kernel: Fact<Kernel>
    package var container: Fact<Container>
    package var switches: Fact<[Switch]>
    /// The LE settings of adapters, by name, such as `hci0`.
    package var controllers: Fact<[String: Controller]>
    package var bluez: BlueZFacts
    package var configuration: Fact<MainConfiguration>
    package var emulator: AutoRadio.Emulator
    package var air: Fact<Air>
    /// The error that a run would report about the controller of `--radio hci:`, or `nil` if none was found.
    package var controllerError: Fact<RadioError?>
    package var profile: Profile?
    package var adapterFile: Fact<AdapterFile>
    /// The installed programs that read captures.
    package var captureTools: [String]
    /// The limit of open files of this process, or `nil` for no limit.
    package var fileLimit: Int?
    /// Whether the program rfkill is installed.
    package var hasRFKill: Bool

    package init(
        wish: Wish, wantedAdapter: String? = nil, kernel: Fact<Kernel>, container: Fact<Container>,
        switches: Fact<[Switch]>, controllers: Fact<[String: Controller]>, bluez: BlueZFacts,
        configuration: Fact<MainConfiguration>, emulator: AutoRadio.Emulator, air: Fact<Air>,
        controllerError: Fact<RadioError?> = .found(nil), profile: Profile? = nil,
        adapterFile: Fact<AdapterFile> = .found(.loadable), captureTools: [String],
        fileLimit: Int? = nil, hasRFKill: Bool = true
    ) {
        self.wish = wish
        self.wantedAdapter = wantedAdapter
        self.kernel = kernel
        self.container = container
        self.switches = switches
        self.controllers = controllers
        self.bluez = bluez
        self.configuration = configuration
        self.emulator = emulator
        self.air = air
        self.controllerError = controllerError
        self.profile = profile
        self.adapterFile = adapterFile
        self.captureTools = captureTools
        self.fileLimit = fileLimit
        self.hasRFKill = hasRFKill
    }
}

/// The facts about bluetoothd and its adapter.
package struct BlueZFacts: Hashable, Sendable {
    /// A stage on the way to an adapter of BlueZ, in this order.
    package enum Stage: Int, Comparable, Sendable {
        case bus, daemon, policy, adapter

        package static func < (left: Stage, right: Stage) -> Bool { left.rawValue < right.rawValue }
    }

    package struct Failure: Hashable, Sendable {
        package var stage: Stage
        /// The error that a run would report.
        package var error: RadioError

        package init(_ stage: Stage, _ error: RadioError) {
            self.stage = stage
            self.error = error
        }
    }

    package struct Version: Hashable, Sendable {
        /// The version as text, such as `5.66`.
        package var text: String
        /// The oldest supported version.
        package var oldest: String
        package var isSupported: Bool
        /// Whether this bluetoothd offers several ATT channels by default.
        package var offersManyChannels: Bool
        /// `true` if this bluetoothd sends advertising data that some kernels refuse.
        package var overfillsAdvertisingData: Bool

        package init(
            text: String, oldest: String, isSupported: Bool, offersManyChannels: Bool,
            overfillsAdvertisingData: Bool
        ) {
            self.text = text
            self.oldest = oldest
            self.isSupported = isSupported
            self.offersManyChannels = offersManyChannels
            self.overfillsAdvertisingData = overfillsAdvertisingData
        }
    }

    package struct Adapter: Hashable, Sendable {
        /// The adapter's name, such as `hci0`.
        package var name: String
        package var address: String
        package var isPowered: Bool
        /// Adapter1's `Roles`, or `nil` if bluetoothd does not report it.
        package var roles: [String]?
        /// Whether bluetoothd uses the advertising interval of a profile.
        package var keepsInterval: Bool
        /// The numbers of advertising sets in use and free, or `nil` if bluetoothd does not report them.
        package var activeSets: Int?
        package var freeSets: Int?
        /// The error that a run would report because no advertising set is free, or `nil`.
        package var setsError: RadioError?
        /// The services that bluetoothd and other programs publish.
        package var services: [BluetoothUUID]

        package init(
            name: String, address: String, isPowered: Bool, roles: [String]?, keepsInterval: Bool,
            activeSets: Int?, freeSets: Int?, setsError: RadioError? = nil, services: [BluetoothUUID]
        ) {
            self.name = name
            self.address = address
            self.isPowered = isPowered
            self.roles = roles
            self.keepsInterval = keepsInterval
            self.activeSets = activeSets
            self.freeSets = freeSets
            self.setsError = setsError
            self.services = services
        }
    }

    /// The name of the bus in messages.
    package var bus: String
    package var failure: Failure?
    /// Whether the socket of the bus does not exist on this file system.
    package var isBusMissing: Bool
    /// Whether bluetoothd is installed on this file system.
    package var isInstalled: Bool
    /// Whether the bus starts bluetoothd on demand.
    package var startsOnDemand: Bool
    package var version: Version?
    /// The arguments of the running bluetoothd.
    package var arguments: Fact<[String]>
    package var adapter: Adapter?

    package init(
        bus: String, failure: Failure?, isBusMissing: Bool = false, isInstalled: Bool,
        startsOnDemand: Bool = false, version: Version?,
        arguments: Fact<[String]>, adapter: Adapter?
    ) {
        self.bus = bus
        self.failure = failure
        self.isBusMissing = isBusMissing
        self.isInstalled = isInstalled
        self.startsOnDemand = startsOnDemand
        self.version = version
        self.arguments = arguments
        self.adapter = adapter
    }
}
