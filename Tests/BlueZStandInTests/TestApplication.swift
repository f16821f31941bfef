import MynahDBus
import MynahBlueZStandIn
import MynahSupport
import MynahTestSupport

/// A GATT object or advertisement whose properties and answers a test gives.
final class TestObject: DBusObject {
    typealias Handler = @Sendable (MethodCall) -> Void
    let interfaces: [DBusInterface]
    private let state: Lock<(properties: [String: DBusValue], handler: Handler)>

    init(
        _ interface: DBusInterface, _ properties: [String: DBusValue],
        _ handler: @escaping Handler = { $0.reply() }
    ) {
        interfaces = [interface]
        state = Lock((properties, handler))
    }

    func answer(_ handler: @escaping Handler) { state.withLock { $0.handler = handler } }
    func handle(_ call: MethodCall, _ method: DBusInterface.Method) { state.withLock { $0.handler }(call) }
    func property(_ name: String, of interface: String) -> DBusValue? {
        state.withLock { $0.properties[name] }
    }
    func setProperty(_ name: String, of interface: String, to value: DBusValue) throws(DBusError) {
        state.withLock { $0.properties[name] = value }
    }
}

enum AppInterfaces {
    static let service = DBusInterface(
        "org.bluez.GattService1",
        properties: [
            .init("UUID", "s"), .init("Primary", "b"), .init("Includes", "ao"),
            .init("Handle", "q", writable: true),
        ])
    static let characteristic = DBusInterface(
        "org.bluez.GattCharacteristic1",
        methods: [
            .init("ReadValue", "a{sv}", returns: "ay"), .init("WriteValue", "aya{sv}"), .init("StartNotify"),
            .init("StopNotify"), .init("Confirm"), .init("AcquireNotify", "a{sv}", returns: "hq"),
        ],
        properties: [
            .init("UUID", "s"), .init("Service", "o"), .init("Flags", "as"),
            .init("Handle", "q", writable: true),
            .init("NotifyAcquired", "b"),
        ])
    static let advertisement = DBusInterface(
        "org.bluez.LEAdvertisement1", methods: [.init("Release")],
        properties: [
            .init("Type", "s"), .init("ServiceUUIDs", "as"), .init("LocalName", "s"),
            .init("Discoverable", "b"),
            .init("ManufacturerData", "a{qv}"),
        ])
    static let agent = DBusInterface(
        "org.bluez.Agent1",
        methods: [
            .init("Release"), .init("RequestAuthorization", "o"), .init("RequestConfirmation", "ou"),
            .init("RequestPasskey", "o", returns: "u"), .init("DisplayPasskey", "ouq"), .init("Cancel"),
        ])
}

/// A stand-in on a bus of its own, and an application with one service and one characteristic.
struct Scene {
    let bus: PrivateBus
    let standIn: BlueZStandIn
    let application: DBusConnection
    let characteristic: TestObject
    let advertisement: TestObject

    static let path: ObjectPath = "/app/service0/char0"

    init(
        flags: [String] = ["read", "notify"], extra: [String: DBusValue] = [:], registers: Bool = true,
        _ configuration: StandInConfiguration = StandInConfiguration()
    ) async throws {
        bus = try PrivateBus()
        standIn = try await BlueZStandIn.start(on: bus.address, configuration)
        let application = try await DBusConnection.connect(to: .address(bus.address))
        self.application = application
        let service = TestObject(AppInterfaces.service, ["UUID": "180d", "Primary": true])
        var properties: [String: DBusValue] = [
            "UUID": "2a37", "Service": .objectPath("/app/service0"), "Flags": .strings(flags),
        ]
        properties.merge(extra) { $1 }
        let characteristic = TestObject(AppInterfaces.characteristic, properties)
        self.characteristic = characteristic
        let advertisement = TestObject(
            AppInterfaces.advertisement,
            [
                "Type": "peripheral", "ServiceUUIDs": .strings(["180d"]), "LocalName": "Test",
                "Discoverable": true,
            ])
        self.advertisement = advertisement
        try await GLibExecutor.shared.perform { () throws(DBusError) in
            try application.export(service, at: "/app/service0")
            try application.export(characteristic, at: Self.path)
            try application.export(advertisement, at: "/advert")
            application.exportObjectManager(at: "/app")
        }
        if registers {
            try await manage("GattManager1", "RegisterApplication", "/app")
            try await manage("LEAdvertisingManager1", "RegisterAdvertisement", "/advert")
        }
    }

    /// Calls a manager of the adapter.
    func manage(_ manager: String, _ member: String, _ path: ObjectPath) async throws(DBusError) {
        let isUnregistering = member.hasPrefix("Unregister")
        _ = try await application.call("org.bluez", "/org/bluez/hci0", "org.bluez." + manager, member) {
            body in
            body.append(path)
            if !isUnregistering { body.appendOptions() }
        }
    }

    /// Changes properties of the advertisement, in one signal.
    func update(_ changes: [(String, DBusValue)], invalidated: [String] = []) async throws(DBusError) {
        let application = application
        try await GLibExecutor.shared.perform { () throws(DBusError) in
            try application.emitPropertiesChanged(
                "/advert", "org.bluez.LEAdvertisement1", changes, invalidated: invalidated)
        }
        // The answer comes after the signal.
        _ = try await application.call("org.bluez", "/", "org.freedesktop.DBus.Peer", "Ping")
    }

    /// Notifies, by a property change.
    func notify(_ value: [UInt8]) async throws(DBusError) {
        let application = application
        try await GLibExecutor.shared.perform { () throws(DBusError) in
            try application.emitPropertyChanged(
                Self.path, "org.bluez.GattCharacteristic1", "Value", bytes: value)
        }
    }
}

/// Takes the ATT error out of what must throw one.
func failure(_ body: () async throws(ATTFailure) -> Void) async -> UInt8? {
    do throws(ATTFailure) {
        try await body()
        return nil
    } catch {
        return error.code
    }
}

/// Takes the D-Bus error out of what must throw one.
func busError(_ body: () async throws(DBusError) -> Void) async -> DBusError? {
    do throws(DBusError) {
        try await body()
        return nil
    } catch {
        return error
    }
}
