import MynahCore
import MynahLifecycle
import MynahSupport

/// The preserved state of one central manager, in memory and in its file.
///
/// The state does not distinguish active from pending connections: after the process has ended, both are
/// pending.
struct PreservedCentralState: PreservableState {
    /// The scan that the manager requested.
    struct Scan: Hashable {
        var services: [BluetoothUUID]
        var options: ScanOptions
    }

    /// A device that is connected or waited for.
    struct Device: Hashable {
        var entry: KnownPeripherals.Entry
        var options: ConnectOptions
        /// The discovered services and the subscriptions, without values.
        var services: [DiscoveredService]
    }

    var name: PreservedName
    var scan: Scan?
    /// The devices, in the order in which the connections were requested.
    var devices: [Device] = []

    static let version = 1
}

// To JSON and back.
extension PreservedCentralState {
    var json: JSON {
        .object([
            .init("mynahState", .integer(Self.version)),
            .init("app", .string(name.app)),
            .init("restoreIdentifier", .string(name.restoreIdentifier)),
            .init("scan", scan?.json ?? .null),
            .init("peripherals", .array(devices.map(\.json))),
        ])
    }

    init(json: JSON, of name: PreservedName) throws(PreservedStateProblem) {
        try json.checkVersion(Self.version)
        guard let identifier = json["restoreIdentifier"]?.stringValue, let app = json["app"]?.stringValue,
            let devices = json["peripherals"]?.arrayValue
        else { throw .init(description: "app, restoreIdentifier or peripherals are missing") }
        guard identifier == name.restoreIdentifier, app == name.app else {
            throw .init(description: "it belongs to \"\(identifier)\" of the app \"\(app)\"")
        }
        self.name = name
        if let scan = json["scan"], scan != .null { self.scan = try Scan(scan) }
        for device in devices { self.devices.append(try Device(device)) }
    }
}

extension PreservedCentralState.Scan {
    fileprivate var json: JSON {
        .object([
            .init("services", .array(services.map { .string($0.description) })),
            .init("active", .bool(options.isActive)),
            .init("allowDuplicates", .bool(options.allowsDuplicates)),
            .init("intervalMicroseconds", .integer(options.interval.wholeMicroseconds)),
            .init("windowMicroseconds", .integer(options.window.wholeMicroseconds)),
            .init("solicited", .array(options.solicitedServiceUUIDs.map { .string($0.description) })),
        ])
    }

    fileprivate init(_ json: JSON) throws(PreservedStateProblem) {
        guard let services = json["services"]?.arrayValue, let isActive = json["active"]?.boolValue,
            let allowsDuplicates = json["allowDuplicates"]?.boolValue,
            let interval = json["intervalMicroseconds"]?.integerValue,
            let window = json["windowMicroseconds"]?.integerValue, 0 < window, window <= interval
        else { throw .init(description: "the scan is not complete") }
        self.services = try Self.uuids(services)
        options = ScanOptions(
            isActive: isActive, allowsDuplicates: allowsDuplicates, interval: .microseconds(interval),
            window: .microseconds(window),
            solicitedServiceUUIDs: try Self.uuids(json["solicited"]?.arrayValue ?? []))
    }

    private static func uuids(_ list: [JSON]) throws(PreservedStateProblem) -> [BluetoothUUID] {
        var uuids: [BluetoothUUID] = []
        for text in list {
            guard let uuid = text.stringValue.flatMap({ BluetoothUUID($0) }) else {
                throw .init(description: "a UUID of the scan is invalid")
            }
            uuids.append(uuid)
        }
        return uuids
    }
}

extension Duration {
    fileprivate var wholeMicroseconds: Int {
        Int(components.seconds) * 1_000_000 + Int(components.attoseconds / 1_000_000_000_000)
    }
}

extension PreservedCentralState.Device {
    /// The options of a connection by their names in the file; the start delay is not preserved.
    private static var options: [(name: String, option: WritableKeyPath<ConnectOptions, Bool>)] {
        [
            ("notifyOnConnection", \.notifyOnConnection), ("notifyOnDisconnection", \.notifyOnDisconnection),
            ("notifyOnNotification", \.notifyOnNotification), ("autoReconnect", \.autoReconnect),
        ]
    }

    fileprivate var json: JSON {
        .object(
            entry.members + [
                .init(
                    "connect",
                    .object(Self.options.map { .init($0.name, .bool(options[keyPath: $0.option])) })),
                .init("services", .array(services.map(\.json))),
            ])
    }

    fileprivate init(_ json: JSON) throws(PreservedStateProblem) {
        entry = try KnownPeripherals.Entry(json)
        guard let services = json["services"]?.arrayValue else {
            throw .init(description: "the services of \(entry.identifier) are missing")
        }
        options = ConnectOptions()
        for (name, option) in Self.options {
            options[keyPath: option] = json["connect"]?[name]?.boolValue ?? false
        }
        self.services = []
        for service in services { self.services.append(try DiscoveredService(preserved: service)) }
    }
}

// MARK: Discovered services

extension RemoteService {
    var members: [JSON.Member] {
        [
            .init("uuid", .string(uuid.description)), .init("primary", .bool(isPrimary)),
            .init("start", .handle(handles.lowerBound)), .init("end", .handle(handles.upperBound)),
        ]
    }

    init(preserved json: JSON) throws(PreservedStateProblem) {
        let uuid = try BluetoothUUID(of: json)
        guard let start = json["start"]?.handleValue, let end = json["end"]?.handleValue, start <= end,
            let isPrimary = json["primary"]?.boolValue
        else { throw .init(description: "the discovered service \(uuid) is not complete") }
        self.init(uuid: uuid, isPrimary: isPrimary, handles: start...end)
    }
}

extension DiscoveredService {
    fileprivate var json: JSON {
        .object(
            attribute.members + [
                .init("includes", .array(includedServices.map { .object($0.members) })),
                .init("characteristics", .array(characteristics.map(\.json))),
            ])
    }

    fileprivate init(preserved json: JSON) throws(PreservedStateProblem) {
        self.init(try RemoteService(preserved: json))
        for included in json["includes"]?.arrayValue ?? [] {
            includedServices.append(try RemoteService(preserved: included))
        }
        for found in json["characteristics"]?.arrayValue ?? [] {
            characteristics.append(try DiscoveredCharacteristic(preserved: found, of: uuid))
        }
    }
}

extension RemoteCharacteristic {
    var members: [JSON.Member] {
        [
            .init("uuid", .string(uuid.description)),
            .init("properties", .array(properties.names.map { .string($0) })),
            .init("declaration", .handle(declaration)), .init("handle", .handle(handle)),
            .init("end", .handle(end)),
        ]
    }

    init(preserved json: JSON) throws(PreservedStateProblem) {
        let uuid = try BluetoothUUID(of: json)
        guard let declaration = json["declaration"]?.handleValue, let handle = json["handle"]?.handleValue,
            let end = json["end"]?.handleValue, declaration < handle, handle <= end,
            let names = json["properties"]?.arrayValue
        else { throw .init(description: "the discovered characteristic \(uuid) is not complete") }
        var properties: CharacteristicProperties = []
        for name in names {
            guard let named = CharacteristicProperties.named.first(where: { $0.name == name.stringValue })
            else { throw .init(description: "a property of \(uuid) is unknown") }
            properties.insert(named.property)
        }
        self.init(uuid: uuid, properties: properties, declaration: declaration, handle: handle, end: end)
    }
}

extension DiscoveredCharacteristic {
    fileprivate var json: JSON {
        .object(
            attribute.members + [
                .init("descriptors", descriptors.map { .array($0.map(\.json)) } ?? .null),
                .init("subscribed", delivery.map { .string($0.rawValue) } ?? .null),
            ])
    }

    fileprivate init(preserved json: JSON, of service: BluetoothUUID) throws(PreservedStateProblem) {
        self.init(try RemoteCharacteristic(preserved: json), of: service)
        if let found = json["descriptors"]?.arrayValue {
            var descriptors: [RemoteDescriptor] = []
            for each in found { descriptors.append(try RemoteDescriptor(preserved: each)) }
            self.descriptors = descriptors
        }
        guard let word = json["subscribed"], word != .null else { return }
        guard let delivery = word.stringValue.flatMap({ Delivery(rawValue: $0) }) else {
            throw .init(description: "the subscription to \(uuid) is invalid")
        }
        self.delivery = delivery
    }
}

extension RemoteDescriptor {
    var json: JSON {
        .object([.init("uuid", .string(uuid.description)), .init("handle", .handle(handle))])
    }

    init(preserved json: JSON) throws(PreservedStateProblem) {
        let uuid = try BluetoothUUID(of: json)
        guard let handle = json["handle"]?.handleValue else {
            throw .init(description: "the discovered descriptor \(uuid) has no handle")
        }
        self.init(uuid: uuid, handle: handle)
    }
}

extension BluetoothUUID {
    fileprivate init(of json: JSON) throws(PreservedStateProblem) {
        guard let uuid = json["uuid"]?.stringValue.flatMap({ BluetoothUUID($0) }) else {
            throw .init(description: "a UUID is invalid")
        }
        self = uuid
    }
}
