import MynahCore
import MynahDBus

/// The methods of GattCharacteristic1 and GattDescriptor1 that bluetoothd calls.
enum GATTMethod: Int, Sendable {
    case readValue, writeValue, startNotify, stopNotify, confirm, acquireNotify

    /// The methods of descriptors, which characteristics have too.
    static let ofDescriptors: [DBusInterface.Method] = [
        .init("ReadValue", "a{sv}", returns: "ay", tag: Self.readValue.rawValue),
        .init("WriteValue", "aya{sv}", tag: Self.writeValue.rawValue),
    ]

    static let ofCharacteristics: [DBusInterface.Method] =
        ofDescriptors + [
            .init("StartNotify", tag: Self.startNotify.rawValue),
            .init("StopNotify", tag: Self.stopNotify.rawValue),
            .init("Confirm", tag: Self.confirm.rawValue),
            .init("AcquireNotify", "a{sv}", returns: "hq", tag: Self.acquireNotify.rawValue),
        ]
}

/// A service as a D-Bus object, which bluetoothd reads.
final class ServiceObject: DBusObject {
    static let interface = DBusInterface(
        BlueZ.gattService,
        properties: [
            .init("UUID", "s"), .init("Primary", "b"), .init("Includes", "ao"), .init("Handle", "q"),
        ])

    private let uuid: String
    private let isPrimary: Bool
    private let includes: [ObjectPath]
    /// The requested handle of the service declaration, or `nil` to let bluetoothd choose one.
    private let handle: AttributeHandle?

    init(_ definition: ServiceDefinition, includes: [ObjectPath], handle: AttributeHandle?) {
        uuid = definition.uuid.description.lowercased()
        isPrimary = definition.isPrimary
        self.includes = includes
        self.handle = handle
    }

    var interfaces: [DBusInterface] { [Self.interface] }

    func handle(_ call: MethodCall, _ method: DBusInterface.Method) {}

    func property(_ name: String, of interface: String) -> DBusValue? {
        switch name {
        case "UUID": .string(uuid)
        case "Primary": .bool(isPrimary)
        case "Includes": includes.isEmpty ? nil : .objectPaths(includes)
        case "Handle": handle.map { .uint16($0.rawValue) }
        default: nil
        }
    }
}

/// A characteristic as a D-Bus object, which bluetoothd reads and calls.
///
/// Calls are passed to the radio without a change of thread.
final class CharacteristicObject: DBusObject {
    private static let interfaces = [
        DBusInterface(
            BlueZ.gattCharacteristic, methods: GATTMethod.ofCharacteristics,
            properties: [
                .init("UUID", "s"), .init("Service", "o"), .init("Flags", "as"), .init("NotifyAcquired", "b"),
            ])
    ]

    private let key: AttributeKey
    private let uuid: String
    private let service: ObjectPath
    private let flags: [String]
    /// Whether bluetoothd requests a socket for each subscriber.
    ///
    /// If so, the object has the property NotifyAcquired, whose existence bluetoothd checks.
    private let offersSockets: Bool
    private let send: BusEventHandler

    init(
        _ definition: CharacteristicDefinition, service: ObjectPath, offersSockets: Bool,
        send: @escaping BusEventHandler
    ) {
        key = definition.key
        uuid = definition.uuid.description.lowercased()
        self.service = service
        flags = GattFlags.flags(of: definition)
        self.offersSockets = offersSockets && !definition.properties.isDisjoint(with: .anyUpdate)
        self.send = send
    }

    var interfaces: [DBusInterface] { Self.interfaces }

    func handle(_ call: MethodCall, _ method: DBusInterface.Method) {
        if let method = GATTMethod(rawValue: method.tag) { send(.gattRequest(method, key, call)) }
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

/// A descriptor as a D-Bus object, which bluetoothd reads and calls.
final class DescriptorObject: DBusObject {
    private static let interfaces = [
        DBusInterface(
            BlueZ.gattDescriptor, methods: GATTMethod.ofDescriptors,
            properties: [.init("UUID", "s"), .init("Characteristic", "o"), .init("Flags", "as")])
    ]

    private let key: AttributeKey
    private let uuid: String
    private let characteristic: ObjectPath
    private let flags: [String]
    private let send: BusEventHandler

    init(_ definition: DescriptorDefinition, characteristic: ObjectPath, send: @escaping BusEventHandler) {
        key = definition.key
        uuid = definition.uuid.description.lowercased()
        self.characteristic = characteristic
        flags = GattFlags.flags(of: definition)
        self.send = send
    }

    var interfaces: [DBusInterface] { Self.interfaces }

    func handle(_ call: MethodCall, _ method: DBusInterface.Method) {
        if let method = GATTMethod(rawValue: method.tag) { send(.gattRequest(method, key, call)) }
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
