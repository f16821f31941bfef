public import MynahDBus

/// A service as bluetoothd has it.
public struct StandInService: Hashable, Sendable {
    /// The application's object.
    public let path: ObjectPath
    /// The declaration's handle.
    public let handle: UInt16
    /// The last handle of the service.
    public let endHandle: UInt16
    /// The 128-bit text in lower case.
    public let uuid: String
    /// Whether it is a primary service.
    public let isPrimary: Bool
    /// The declaration handles of the services that it includes.
    public let includes: [UInt16]
    /// In handle order.
    public let characteristics: [StandInCharacteristic]
}

/// A characteristic as bluetoothd has it.
public struct StandInCharacteristic: Hashable, Sendable {
    /// The application's object.
    public let path: ObjectPath
    /// The value's handle; the declaration is one before.
    public let handle: UInt16
    /// The 128-bit text in lower case.
    public let uuid: String
    /// As the application gave them.
    public let flags: [String]
    /// The handle of the Client Characteristic Configuration, if there is one.
    public let configurationHandle: UInt16?
    /// The handle of the Extended Properties, if there is one.
    public let extendedPropertiesHandle: UInt16?
    /// In handle order.
    public let descriptors: [StandInDescriptor]
    let wantsNotifySocket: Bool
    let access: AttributeAccess
}

/// A descriptor as bluetoothd has it.
public struct StandInDescriptor: Hashable, Sendable {
    /// The application's object.
    public let path: ObjectPath
    /// The handle.
    public let handle: UInt16
    /// The 128-bit text in lower case.
    public let uuid: String
    /// As the application gave them.
    public let flags: [String]
    let access: AttributeAccess
}

/// Reads the answer to GetManagedObjects as bluetoothd does, and gives out handles.
struct GATTDatabaseReader {
    /// A registration's failure, with the text that bluetoothd sends.
    struct Failure: Error { let message: String }

    static let noObjects = Failure(message: "No object received")
    static let noService = Failure(message: "No valid service object found")
    static let noEntry = Failure(message: "Failed to create entry in database")

    let version: BlueZVersion
    var nextHandle: UInt16
    /// The handles of services that are registered already.
    var taken: [ClosedRange<UInt16>]
    /// The objects that are to be told their handle.
    private(set) var reports: [(path: ObjectPath, interface: String, handle: UInt16)] = []
    /// The violations that bluetoothd only logs, and those that it accepts although it should not.
    private(set) var remarks: [String] = []

    init(version: BlueZVersion, nextHandle: UInt16, taken: [ClosedRange<UInt16>]) {
        self.version = version
        self.nextHandle = nextHandle
        self.taken = taken
    }

    private typealias Object = (path: ObjectPath, properties: DBusValue)

    mutating func read(_ objects: DBusValue) throws(Failure) -> [StandInService] {
        let services = GATTDatabaseReader.objects(of: "org.bluez.GattService1", in: objects)
        let characteristics = GATTDatabaseReader.objects(of: "org.bluez.GattCharacteristic1", in: objects)
        let descriptors = GATTDatabaseReader.objects(of: "org.bluez.GattDescriptor1", in: objects)
        if services.isEmpty, characteristics.isEmpty, descriptors.isEmpty { throw Self.noObjects }
        if services.isEmpty { throw Self.noService }
        // An unknown descriptor's parent or an unknown flag fails everything.
        for (_, properties) in characteristics {
            guard let link = properties["Service"]?.objectPathValue,
                services.contains(where: { $0.path == link })
            else { throw Self.noService }
        }
        for (_, properties) in descriptors {
            guard let link = properties["Characteristic"]?.objectPathValue,
                characteristics.contains(where: { $0.path == link })
            else { throw Self.noService }
        }
        var read: [StandInService] = []
        for service in services {
            let own = characteristics.filter { $0.properties["Service"]?.objectPathValue == service.path }
            let owned = own.map { characteristic in
                (
                    characteristic,
                    descriptors.filter {
                        $0.properties["Characteristic"]?.objectPathValue == characteristic.path
                    }
                )
            }
            read.append(try add(service, owned, before: read))
        }
        return read
    }

    private static func objects(of interface: String, in objects: DBusValue) -> [Object] {
        (objects.entries ?? []).compactMap { entry in
            guard let path = entry.key.objectPathValue, let properties = entry.value[interface] else {
                return nil
            }
            return (path, properties)
        }
    }

    private mutating func add(
        _ service: Object, _ characteristics: [(Object, [Object])], before: [StandInService]
    ) throws(Failure) -> StandInService {
        guard let uuid = UUIDText.application(service.properties["UUID"]?.stringValue),
            let isPrimary = service.properties["Primary"]?.boolValue
        else { throw Self.noEntry }
        let wish = try handleWish(service, "org.bluez.GattService1")
        let included = includes(of: service, before: before)
        var parsed: [(Object, AttributeAccess, [(Object, AttributeAccess)])] = []
        var count = 1 + included.count
        for (characteristic, descriptors) in characteristics {
            guard let access = AttributeAccess(characteristicFlags: flags(characteristic)) else {
                throw Self.noService
            }
            var inner: [(Object, AttributeAccess)] = []
            for descriptor in descriptors {
                guard let access = AttributeAccess(descriptorFlags: flags(descriptor)) else {
                    throw Self.noService
                }
                inner.append((descriptor, access))
            }
            parsed.append((characteristic, access, inner))
            count += 2 + (access.notifies ? 1 : 0) + (access.isExtended ? 1 : 0) + inner.count
        }
        let start = wish.map { $0 == 0 ? nextHandle : $0 } ?? nextHandle
        guard let last = UInt16(exactly: Int(start) + count - 1), start > 0,
            !taken.contains(where: { $0.overlaps(start...last) })
        else { throw Self.noEntry }
        taken.append(start...last)
        nextHandle = max(nextHandle, last &+ 1)
        if wish == 0 { reports.append((service.path, "org.bluez.GattService1", start)) }
        var cursor = start + UInt16(included.count)
        var read: [StandInCharacteristic] = []
        for (characteristic, access, descriptors) in parsed {
            read.append(try add(characteristic, access, descriptors, &cursor, last: last))
        }
        return StandInService(
            path: service.path, handle: start, endHandle: last, uuid: uuid, isPrimary: isPrimary,
            includes: included,
            characteristics: read)
    }

    private mutating func add(
        _ characteristic: Object, _ access: AttributeAccess, _ descriptors: [(Object, AttributeAccess)],
        _ cursor: inout UInt16, last: UInt16
    ) throws(Failure) -> StandInCharacteristic {
        let interface = "org.bluez.GattCharacteristic1"
        guard let uuid = UUIDText.application(characteristic.properties["UUID"]?.stringValue) else {
            throw Self.noEntry
        }
        let wish = try handleWish(characteristic, interface)
        if wish == 0, version.refusesHandleZero { throw Self.noEntry }
        let value = try place(wish, width: 2, &cursor, last: last)
        if wish == 0 { reports.append((characteristic.path, interface, value)) }
        let configuration = access.notifies ? try place(nil, width: 1, &cursor, last: last) : nil
        let extended = access.isExtended ? try place(nil, width: 1, &cursor, last: last) : nil
        var read: [StandInDescriptor] = []
        for (descriptor, access) in descriptors {
            guard let uuid = UUIDText.application(descriptor.properties["UUID"]?.stringValue) else {
                throw Self.noEntry
            }
            if ["00002902", "00002900"].contains(uuid.prefix(8)), uuid.hasSuffix(UUIDText.base) {
                remarks.append(
                    "\(descriptor.path) declares \(uuid.prefix(8)), which bluetoothd then has twice")
            }
            let wish = try handleWish(descriptor, "org.bluez.GattDescriptor1")
            let handle = try place(wish, width: 1, &cursor, last: last)
            if wish == 0 { reports.append((descriptor.path, "org.bluez.GattDescriptor1", handle)) }
            read.append(
                StandInDescriptor(
                    path: descriptor.path, handle: handle, uuid: uuid, flags: flags(descriptor),
                    access: access))
        }
        return StandInCharacteristic(
            path: characteristic.path, handle: value, uuid: uuid, flags: flags(characteristic),
            configurationHandle: configuration, extendedPropertiesHandle: extended, descriptors: read,
            wantsNotifySocket: characteristic.properties["NotifyAcquired"] != nil, access: access)
    }

    /// The next handle of an attribute that takes `width` handles, or the wished one if it is free; the last
    /// of them.
    private func place(_ wish: UInt16?, width: UInt16, _ cursor: inout UInt16, last: UInt16) throws(Failure)
        -> UInt16
    {
        let next = Int(cursor) + Int(width)
        let handle = wish.flatMap { $0 == 0 ? nil : Int($0) } ?? next
        guard handle >= next, handle <= Int(last), let handle = UInt16(exactly: handle) else {
            throw Self.noEntry
        }
        cursor = handle
        return handle
    }

    /// The handle that the object requests; 0 requests any.
    private func handleWish(_ object: Object, _ interface: String) throws(Failure) -> UInt16? {
        guard let property = object.properties["Handle"] else { return nil }
        guard case .uint16(let wish) = property, wish != 0xFFFF else { throw Self.noEntry }
        return wish
    }

    /// Services of the same application that came earlier; others are only logged.
    private mutating func includes(of service: Object, before: [StandInService]) -> [UInt16] {
        var included: [UInt16] = []
        for path in (service.properties["Includes"]?.arrayValue ?? []).compactMap(\.objectPathValue) {
            if let found = before.first(where: { $0.path == path }) {
                included.append(found.handle)
            } else {
                remarks.append("\(service.path) includes \(path), which has not come before it")
            }
        }
        return included
    }

    private func flags(_ object: Object) -> [String] { object.properties["Flags"]?.stringsValue ?? [] }
}
