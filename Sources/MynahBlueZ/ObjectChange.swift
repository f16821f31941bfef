import MynahDBus

/// A change of bluetoothd's objects, as a signal reports it.
enum ObjectChange {
    /// Interfaces were added to an object, with their properties (`a{sa{sv}}`).
    case added(String, interfaces: DBusValue)
    /// Interfaces of an object were removed.
    case removed(String, interfaces: [String])
    /// Properties of an interface have changed (`a{sv}`).
    case changed(String, interface: String, properties: DBusValue)

    /// The object's path.
    var path: String {
        switch self {
        case .added(let path, _), .removed(let path, _), .changed(let path, _, _): path
        }
    }

    /// Whether the change may affect adapters, and not only the properties of a device.
    var concernsAdapters: Bool {
        if case .changed(_, let interface, _) = self { interface == BlueZ.adapter } else { true }
    }

    /// Whether a device may have been added or have changed.
    var concernsDevices: Bool {
        switch self {
        case .added: true
        case .removed: false
        case .changed(_, let interface, _): interface == BlueZ.device
        }
    }

    /// Whether a device was removed.
    var removesDevice: Bool {
        if case .removed(_, let interfaces) = self { interfaces.contains(BlueZ.device) } else { false }
    }

    /// Parses a signal InterfacesAdded, InterfacesRemoved or PropertiesChanged, or returns `nil` for other
    /// signals.
    init?(_ message: DBusMessage) {
        guard let values = try? message.values() else { return nil }
        if values.count == 2, let path = values[0].objectPathValue?.string {
            if message.isMember("InterfacesAdded") {
                self = .added(path, interfaces: values[1])
            } else if message.isMember("InterfacesRemoved") {
                self = .removed(path, interfaces: values[1].stringsValue ?? [])
            } else {
                return nil
            }
        } else if values.count == 3, let path = message.path?.string, let interface = values[0].stringValue {
            self = .changed(path, interface: interface, properties: values[1])
        } else {
            return nil
        }
    }
}
