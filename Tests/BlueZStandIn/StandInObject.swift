import MynahDBus

/// An object of the daemon, which asks the stand-in for everything.
final class StandInObject: DBusObject {
    private let list: @Sendable () -> [DBusInterface]
    private let value: @Sendable (String, String) -> DBusValue?
    private let set: @Sendable (String, String, DBusValue) -> DBusError?
    private let call: @Sendable (MethodCall) -> Void

    init(
        interfaces: @escaping @Sendable () -> [DBusInterface],
        property: @escaping @Sendable (_ interface: String, _ name: String) -> DBusValue? = { _, _ in nil },
        set: @escaping @Sendable (_ interface: String, _ name: String, DBusValue) -> DBusError? = { _, _, _ in
            nil
        },
        call: @escaping @Sendable (MethodCall) -> Void
    ) {
        list = interfaces
        value = property
        self.set = set
        self.call = call
    }

    var interfaces: [DBusInterface] { list() }

    func handle(_ call: MethodCall, _ method: DBusInterface.Method) { self.call(call) }

    func property(_ name: String, of interface: String) -> DBusValue? { value(interface, name) }

    func setProperty(_ name: String, of interface: String, to value: DBusValue) throws(DBusError) {
        if let error = set(interface, name, value) { throw error }
    }
}

/// The interfaces of the daemon's objects.
enum Interfaces {
    static let agentManager = DBusInterface(
        "org.bluez.AgentManager1",
        methods: [
            .init("RegisterAgent", "os"), .init("UnregisterAgent", "o"), .init("RequestDefaultAgent", "o"),
        ])

    static let adapter = DBusInterface(
        "org.bluez.Adapter1",
        methods: [.init("RemoveDevice", "o"), .init("StartDiscovery"), .init("StopDiscovery")],
        properties: [
            .init("Address", "s"), .init("AddressType", "s"), .init("Name", "s"),
            .init("Alias", "s", writable: true),
            .init("Class", "u"), .init("Powered", "b", writable: true),
            .init("Discoverable", "b", writable: true),
            .init("DiscoverableTimeout", "u", writable: true), .init("Pairable", "b", writable: true),
            .init("PairableTimeout", "u", writable: true), .init("Discovering", "b"), .init("UUIDs", "as"),
            .init("Modalias", "s"), .init("Roles", "as"),
        ])

    static let gattManager = DBusInterface(
        "org.bluez.GattManager1",
        methods: [.init("RegisterApplication", "oa{sv}"), .init("UnregisterApplication", "o")])

    static let advertisingManager = DBusInterface(
        "org.bluez.LEAdvertisingManager1",
        methods: [.init("RegisterAdvertisement", "oa{sv}"), .init("UnregisterAdvertisement", "o")],
        properties: [
            .init("ActiveInstances", "y"), .init("SupportedInstances", "y"), .init("SupportedIncludes", "as"),
            .init("SupportedSecondaryChannels", "as"), .init("SupportedFeatures", "as"),
            .init("SupportedCapabilities", "a{sv}"),
        ])

    static let device = DBusInterface(
        "org.bluez.Device1",
        methods: [.init("Disconnect"), .init("CancelPairing")],
        properties: [
            .init("Address", "s"), .init("AddressType", "s"), .init("Name", "s"), .init("Alias", "s"),
            .init("Paired", "b"), .init("Bonded", "b"), .init("Trusted", "b", writable: true),
            .init("Blocked", "b", writable: true), .init("LegacyPairing", "b"), .init("Connected", "b"),
            .init("UUIDs", "as"), .init("Adapter", "o"), .init("ServicesResolved", "b"),
        ])
}
