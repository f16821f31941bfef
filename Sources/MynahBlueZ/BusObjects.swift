import MynahCore
import MynahDBus

/// The adapters and devices that bluetoothd reports, with their properties.
///
/// bluetoothd removes a device after 30 s if it is neither connected nor paired, so the list does not grow
/// without limit.
struct BusObjects {
    struct Adapter: Hashable {
        var address = ""
        var name = ""
        var alias = ""
        var isPowered = false
        var isPairable = false
        /// The `Modalias` property, which contains bluetoothd's version unless its configuration sets another
        /// value.
        var modalias = ""
        var hasGattManager = false
        var hasAdvertisingManager = false
        /// Whether LEAdvertisingManager1 reports its features.
        ///
        /// bluetoothd does so with `--experimental`, or from 5.77 on. It then uses the requested advertising
        /// interval.
        var tellsAdvertisingFeatures = false
        /// Whether the adapter has extended advertising.
        var hasExtendedAdvertising = false
        /// The roles that the adapter can have at the same time, `central` and `peripheral`, or `nil` if
        /// bluetoothd does not report them.
        var roles: [String]?
        /// The number of advertising sets in use, or `nil` if bluetoothd does not report it.
        var activeSets: Int?
        var freeSets: Int?
        /// The UUIDs of the services that bluetoothd and its applications publish.
        var services: [String] = []

        /// `true` if the adapter has all the interfaces that a peripheral needs.
        var isComplete: Bool { hasGattManager && hasAdvertisingManager }
    }

    struct Device: Hashable {
        var address = ""
        var isRandom = false
        var name: String?
        var isConnected = false
        /// Whether the device is paired or bonded.
        ///
        /// After an incoming pairing with ReverseServiceDiscovery=false, 5.66 reports only `Bonded`.
        var isPaired: Bool { saysPaired || saysBonded }
        var isTrusted = false
        /// Whether the device may use attributes that need authorization.
        var isAuthorized: Bool { isPaired || isTrusted }
        fileprivate var saysPaired = false
        fileprivate var saysBonded = false

        init() {}

        /// Makes a connected device from its path, such as `…/dev_AA_BB_CC_DD_EE_FF`, which contains the
        /// address.
        init(path: String) {
            if let element = path.split(separator: "/").last(where: { $0.hasPrefix("dev_") }) {
                address = String(element.dropFirst(4).prefix(17).map { $0 == "_" ? ":" : $0 })
            }
            isConnected = true
        }
    }

    private(set) var adapters: [String: Adapter] = [:]
    private(set) var devices: [String: Device] = [:]
    private(set) var hasAgentManager = false

    /// Adds interfaces with their properties (`a{sa{sv}}`) to an object.
    mutating func add(_ path: String, _ interfaces: DBusValue) {
        for entry in interfaces.entries ?? [] {
            guard let interface = entry.key.stringValue else { continue }
            switch interface {
            case BlueZ.agentManager: hasAgentManager = true
            case BlueZ.adapter where adapters[path] == nil: adapters[path] = Adapter()
            case BlueZ.device where devices[path] == nil: devices[path] = Device()
            default: break
            }
        }
        for entry in interfaces.entries ?? [] {
            guard let interface = entry.key.stringValue else { continue }
            switch interface {
            // The manager interfaces appear with the adapter, or shortly after it.
            case BlueZ.gattManager: adapters[path, default: Adapter()].hasGattManager = true
            case BlueZ.advertisingManager: adapters[path, default: Adapter()].hasAdvertisingManager = true
            default: break
            }
            change(path, interface, entry.value)
        }
    }

    /// Removes interfaces from an object.
    mutating func remove(_ path: String, _ interfaces: [String]) {
        for interface in interfaces {
            switch interface {
            case BlueZ.agentManager: hasAgentManager = false
            case BlueZ.adapter: adapters[path] = nil
            case BlueZ.device: devices[path] = nil
            case BlueZ.gattManager: adapters[path]?.hasGattManager = false
            case BlueZ.advertisingManager: adapters[path]?.hasAdvertisingManager = false
            default: break
            }
        }
    }

    /// Changes properties of an interface (`a{sv}`).
    mutating func change(_ path: String, _ interface: String, _ properties: DBusValue) {
        for entry in properties.entries ?? [] {
            guard let key = entry.key.stringValue else { continue }
            let value = entry.value.unwrapped
            switch interface {
            case BlueZ.adapter: Self.set(&adapters[path], key, value)
            case BlueZ.device: Self.set(&devices[path], key, value)
            case BlueZ.advertisingManager where key == "SupportedFeatures" || key == "SupportedCapabilities":
                adapters[path]?.tellsAdvertisingFeatures = true
            case BlueZ.advertisingManager where key == "SupportedSecondaryChannels":
                adapters[path]?.hasExtendedAdvertising = value.stringsValue?.isEmpty == false
            case BlueZ.advertisingManager where key == "ActiveInstances":
                adapters[path]?.activeSets = value.integer()
            case BlueZ.advertisingManager where key == "SupportedInstances":
                adapters[path]?.freeSets = value.integer()
            default: break
            }
        }
    }

    mutating func removeAll() {
        self = BusObjects()
    }

    private static func set(_ adapter: inout Adapter?, _ key: String, _ value: DBusValue) {
        switch key {
        case "Address": adapter?.address = value.stringValue ?? ""
        case "Name": adapter?.name = value.stringValue ?? ""
        case "Alias": adapter?.alias = value.stringValue ?? ""
        case "Powered": adapter?.isPowered = value.boolValue ?? false
        case "Pairable": adapter?.isPairable = value.boolValue ?? false
        case "Modalias": adapter?.modalias = value.stringValue ?? ""
        case "Roles": adapter?.roles = value.stringsValue
        case "UUIDs": adapter?.services = value.stringsValue ?? []
        default: break
        }
    }

    private static func set(_ device: inout Device?, _ key: String, _ value: DBusValue) {
        switch key {
        case "Address": device?.address = value.stringValue ?? ""
        case "AddressType": device?.isRandom = value.stringValue == "random"
        case "Name": device?.name = value.stringValue
        case "Connected": device?.isConnected = value.boolValue ?? false
        case "Paired": device?.saysPaired = value.boolValue ?? false
        case "Bonded": device?.saysBonded = value.boolValue ?? false
        case "Trusted": device?.isTrusted = value.boolValue ?? false
        default: break
        }
    }
}
