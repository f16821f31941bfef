extension DBusConnection {
    /// Makes an object callable at a path.
    ///
    /// Throws `objectPathInUse` if there is already an object at the path.
    public func export(_ object: any DBusObject, at path: ObjectPath) throws(DBusError) {
        checkExecutor()
        guard !source.isClosed else { throw DBusError(.disconnected, "the connection to the bus is closed") }
        try objects.add(object, at: path)
    }

    /// Removes the object at a path.
    ///
    /// The object may still answer calls that it has already received.
    public func unexport(_ path: ObjectPath) {
        checkExecutor()
        objects.remove(path)
    }

    /// Exports an `ObjectManager` at a path.
    ///
    /// The manager lists all exported objects below the path, in the order of their export.
    public func exportObjectManager(at path: ObjectPath) {
        checkExecutor()
        objects.addManager(at: path)
    }

    /// Removes the object manager at a path.
    public func unexportObjectManager(at path: ObjectPath) {
        checkExecutor()
        objects.removeManager(at: path)
    }

    /// Sends a signal to all subscribers, or only to `destination`.
    public func emit(
        _ path: ObjectPath, _ interface: String, _ member: String, to destination: String? = nil,
        body: (inout MessageWriter) -> Void = { _ in }
    ) throws(DBusError) {
        checkExecutor()
        guard !source.isClosed else { throw DBusError(.disconnected, "the connection to the bus is closed") }
        send(
            try DBusMessage.signal(
                path: path, interface: interface, member: member, destination: destination, body: body))
    }

    /// Sends the signal PropertiesChanged of an object.
    ///
    /// `changed` has properties with their new values, and `invalidated` has names of properties without
    /// values.
    public func emitPropertiesChanged(
        _ path: ObjectPath, _ interface: String, _ changed: [(String, DBusValue)], invalidated: [String] = []
    ) throws(DBusError) {
        try emit(path, Standard.properties, "PropertiesChanged") { body in
            body.append(interface)
            body.append(.options(changed))
            body.append(.strings(invalidated))
        }
    }

    /// Sends the signal PropertiesChanged for one property of type `ay`.
    ///
    /// This is faster than `emitPropertiesChanged`, because it writes the bytes without making a `DBusValue`.
    /// Notifications to centrals are sent in this way.
    public func emitPropertyChanged(
        _ path: ObjectPath, _ interface: String, _ name: String, bytes: [UInt8]
    ) throws(DBusError) {
        try emit(path, Standard.properties, "PropertiesChanged") { body in
            body.append(interface)
            body.appendOptions { $0.appendOption(name, bytes: bytes) }
            body.appendArray(of: "s") { _ in }
        }
    }

    /// Sends the signal InterfacesAdded of the object manager at `manager`, for the exported object at
    /// `path`.
    public func emitInterfacesAdded(_ path: ObjectPath, from manager: ObjectPath) throws(DBusError) {
        checkExecutor()
        guard let object = objects[path] else { throw DBusError(.unknownObject, "\(path) is not exported") }
        try emit(manager, Standard.objectManager, "InterfacesAdded") { body in
            body.append(path)
            body.appendInterfaces(of: object)
        }
    }

    /// Sends the signal InterfacesRemoved of the object manager at `manager`, for the object at `path`.
    public func emitInterfacesRemoved(
        _ path: ObjectPath, _ interfaces: [String], from manager: ObjectPath
    ) throws(DBusError) {
        try emit(manager, Standard.objectManager, "InterfacesRemoved") { body in
            body.append(path)
            body.append(.strings(interfaces))
        }
    }
}

/// The names of the interfaces that the connection implements for every object.
enum Standard {
    static let properties = "org.freedesktop.DBus.Properties"
    static let objectManager = "org.freedesktop.DBus.ObjectManager"
    static let introspectable = "org.freedesktop.DBus.Introspectable"
    static let peer = "org.freedesktop.DBus.Peer"
}

extension DBusInterface {
    /// Returns the properties in an object's declarations that currently have a value.
    func properties(of object: any DBusObject) -> [(String, DBusValue)] {
        let name = name.description
        return properties.compactMap { property in
            object.property(property.name, of: name).map { (property.name, $0) }
        }
    }
}

extension MessageWriter {
    /// Appends an `a{sa{sv}}`: the object's interfaces with their properties.
    mutating func appendInterfaces(of object: any DBusObject) {
        appendArray(of: "{sa{sv}}") { body in
            for interface in object.interfaces {
                body.appendEntry { body in
                    body.append(interface.name.description)
                    body.appendOptions { body in
                        for (name, value) in interface.properties(of: object) {
                            body.appendOption(name, value)
                        }
                    }
                }
            }
        }
    }
}
