import MynahCore
import MynahDBus

/// A service as bluetoothd sees it.
final class ServiceObject: DBusObject {
    static let interface = DBusInterface(
        "org.bluez.GattService1",
        properties: [
            .init("UUID", "s"), .init("Primary", "b"), .init("Includes", "ao"), .init("Handle", "q"),
        ])

    private let uuid: String
    private let isPrimary: Bool
    private let includes: [ObjectPath]
    /// The wished handle of its declaration; nil: bluetoothd chooses.
    private let handle: UInt16?

    init(_ definition: ServiceDefinition, includes: [ObjectPath], handle: UInt16?) {
        uuid = definition.uuid.description.lowercased()
        isPrimary = definition.isPrimary
        self.includes = includes
        self.handle = handle
    }

    var interfaces: [DBusInterface] { [Self.interface] }

    func handle(_ call: MethodCall) {}

    func property(_ name: String, of interface: String) -> DBusValue? {
        switch name {
        case "UUID": .string(uuid)
        case "Primary": .bool(isPrimary)
        case "Includes": includes.isEmpty ? nil : .objectPaths(includes)
        case "Handle": handle.map { .uint16($0) }
        default: nil
        }
    }
}

/// A characteristic as bluetoothd sees it; what it is asked goes to the radio at once, on the same thread.
final class CharacteristicObject: DBusObject {
    private static let methods: [DBusInterface.Method] = [
        .init("ReadValue", "a{sv}", returns: "ay"), .init("WriteValue", "aya{sv}"), .init("StartNotify"),
        .init("StopNotify"), .init("Confirm"), .init("AcquireNotify", "a{sv}", returns: "hq"),
    ]
    private static let properties: [DBusInterface.Property] = [
        .init("UUID", "s"), .init("Service", "o"), .init("Flags", "as"), .init("NotifyAcquired", "b"),
    ]
    private static let interfaces = [
        DBusInterface("org.bluez.GattCharacteristic1", methods: methods, properties: properties)
    ]

    private let key: AttributeKey
    private let uuid: String
    private let service: ObjectPath
    private let flags: [String]
    /// Whether bluetoothd asks for a socket for each subscriber; only the property's presence counts.
    private let offersSockets: Bool
    private let radio: BlueZRadio

    init(_ definition: CharacteristicDefinition, service: ObjectPath, offersSockets: Bool, radio: BlueZRadio)
    {
        key = definition.key
        uuid = definition.uuid.description.lowercased()
        self.service = service
        flags = GattFlags.flags(of: definition)
        self.offersSockets = offersSockets && !definition.properties.isDisjoint(with: .anyUpdate)
        self.radio = radio
    }

    var interfaces: [DBusInterface] { Self.interfaces }

    func handle(_ call: MethodCall) {
        let key = key
        radio.assumeIsolated { radio in
            let message = call.message
            if message.isMember("ReadValue") {
                radio.read(key, call)
            } else if message.isMember("WriteValue") {
                radio.write(key, call)
            } else if message.isMember("StartNotify") {
                radio.startNotify(key, call)
            } else if message.isMember("StopNotify") {
                radio.stopNotify(key, call)
            } else if message.isMember("Confirm") {
                radio.confirm(key, call)
            } else {
                radio.acquireNotify(key, call)
            }
        }
    }

    func property(_ name: String, of interface: String) -> DBusValue? {
        switch name {
        case "UUID": .string(uuid)
        case "Service": .objectPath(service)
        case "Flags": .strings(flags)
        case "NotifyAcquired": offersSockets ? false : nil
        default: nil
        }
    }
}

/// A descriptor as bluetoothd sees it.
final class DescriptorObject: DBusObject {
    private static let interfaces = [
        DBusInterface(
            "org.bluez.GattDescriptor1",
            methods: [.init("ReadValue", "a{sv}", returns: "ay"), .init("WriteValue", "aya{sv}")],
            properties: [.init("UUID", "s"), .init("Characteristic", "o"), .init("Flags", "as")])
    ]

    private let key: AttributeKey
    private let uuid: String
    private let characteristic: ObjectPath
    private let flags: [String]
    private let radio: BlueZRadio

    init(_ definition: DescriptorDefinition, characteristic: ObjectPath, radio: BlueZRadio) {
        key = definition.key
        uuid = definition.uuid.description.lowercased()
        self.characteristic = characteristic
        flags = GattFlags.flags(of: definition)
        self.radio = radio
    }

    var interfaces: [DBusInterface] { Self.interfaces }

    func handle(_ call: MethodCall) {
        let key = key
        radio.assumeIsolated { radio in
            if call.message.isMember("ReadValue") { radio.read(key, call) } else { radio.write(key, call) }
        }
    }

    func property(_ name: String, of interface: String) -> DBusValue? {
        switch name {
        case "UUID": .string(uuid)
        case "Characteristic": .objectPath(characteristic)
        case "Flags": .strings(flags)
        default: nil
        }
    }
}

/// The advertisement as bluetoothd sees it.
final class AdvertisementObject: DBusObject {
    private static let interfaces = [
        DBusInterface(
            "org.bluez.LEAdvertisement1", methods: [.init("Release")],
            properties: BlueZAdvertising.propertyTypes.map {
                .init($0.name, $0.type, writable: $0.name == "TxPower")
            })
    ]

    private let radio: BlueZRadio

    init(radio: BlueZRadio) {
        self.radio = radio
    }

    var interfaces: [DBusInterface] { Self.interfaces }

    func handle(_ call: MethodCall) {
        call.reply()
        radio.assumeIsolated { $0.advertisementReleased() }
    }

    func property(_ name: String, of interface: String) -> DBusValue? {
        radio.assumeIsolated { $0.advertisementProperty(name) }
    }

    /// With `--experimental` bluetoothd tells the power that it chose.
    func setProperty(_ name: String, of interface: String, to value: DBusValue) throws(DBusError) {}
}

/// The pairing agent as bluetoothd sees it.
final class AgentObject: DBusObject {
    private static let interfaces = [
        DBusInterface(
            "org.bluez.Agent1",
            methods: [
                .init("Release"), .init("RequestPinCode", "o", returns: "s"), .init("DisplayPinCode", "os"),
                .init("RequestPasskey", "o", returns: "u"), .init("DisplayPasskey", "ouq"),
                .init("RequestConfirmation", "ou"), .init("RequestAuthorization", "o"),
                .init("AuthorizeService", "os"), .init("Cancel"),
            ])
    ]

    private let radio: BlueZRadio

    init(radio: BlueZRadio) {
        self.radio = radio
    }

    var interfaces: [DBusInterface] { Self.interfaces }

    func handle(_ call: MethodCall) {
        radio.assumeIsolated { $0.agentCalled(call) }
    }
}
