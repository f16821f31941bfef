extension DBusConnection {
    /// Makes an object callable at a path; throws when there is one.
    public func export(_ object: any DBusObject, at path: ObjectPath) throws(DBusError) {
        checkExecutor()
        guard !isClosed else { throw DBusError(.disconnected, "the connection to the bus is closed") }
        try objects.add(object, at: path)
    }

    /// Takes an object away; calls that it has not answered yet may still be.
    public func unexport(_ path: ObjectPath) {
        checkExecutor()
        objects.remove(path)
    }

    /// Lets peers ask at `path` for every object below it, in the order of their export (`ObjectManager`).
    public func exportObjectManager(at path: ObjectPath) {
        checkExecutor()
        objects.addManager(at: path)
    }

    /// Takes an object manager away.
    public func unexportObjectManager(at path: ObjectPath) {
        checkExecutor()
        objects.removeManager(at: path)
    }

    /// Sends a signal, to everybody who listens or to one peer.
    public func emit(
        _ path: ObjectPath, _ interface: String, _ member: String, to destination: String? = nil,
        body: (inout MessageWriter) -> Void = { _ in }
    ) throws(DBusError) {
        checkExecutor()
        guard !isClosed else { throw DBusError(.disconnected, "the connection to the bus is closed") }
        send(
            try DBusMessage.signal(
                path: path, interface: interface, member: member, destination: destination, body: body))
    }

    /// Tells that an object's properties have changed; those in `invalidated` without their value.
    public func emitPropertiesChanged(
        _ path: ObjectPath, _ interface: String, _ changed: [(String, DBusValue)], invalidated: [String] = []
    ) throws(DBusError) {
        try emit(path, Standard.properties, "PropertiesChanged") { body in
            body.append(interface)
            body.append(.options(changed))
            body.append(.strings(invalidated))
        }
    }

    /// Tells that a property of type `ay` has changed: the way of a notification, without a tree.
    public func emitPropertyChanged(
        _ path: ObjectPath, _ interface: String, _ name: String, bytes: [UInt8]
    ) throws(DBusError) {
        try emit(path, Standard.properties, "PropertiesChanged") { body in
            body.append(interface)
            body.appendOptions { $0.appendOption(name, bytes: bytes) }
            body.appendArray(of: "s") { _ in }
        }
    }

    /// Tells that an exported object has appeared, with its interfaces and properties.
    public func emitInterfacesAdded(_ path: ObjectPath, from manager: ObjectPath) throws(DBusError) {
        checkExecutor()
        guard let object = objects[path] else { throw DBusError(.unknownObject, "\(path) is not exported") }
        try emit(manager, Standard.objectManager, "InterfacesAdded") { body in
            body.append(path)
            body.appendInterfaces(of: object)
        }
    }

    /// Tells that an object has gone.
    public func emitInterfacesRemoved(
        _ path: ObjectPath, _ interfaces: [String], from manager: ObjectPath
    ) throws(DBusError) {
        try emit(manager, Standard.objectManager, "InterfacesRemoved") { body in
            body.append(path)
            body.append(.strings(interfaces))
        }
    }
}

/// Interfaces that the connection answers for every object.
enum Standard {
    static let properties = "org.freedesktop.DBus.Properties"
    static let objectManager = "org.freedesktop.DBus.ObjectManager"
    static let introspectable = "org.freedesktop.DBus.Introspectable"
    static let peer = "org.freedesktop.DBus.Peer"
}

extension DBusInterface {
    /// The declared properties that the object has now.
    func properties(of object: any DBusObject) -> [(String, DBusValue)] {
        let name = name.description
        return properties.compactMap { property in
            object.property(property.name, of: name).map { (property.name, $0) }
        }
    }
}

extension MessageWriter {
    /// Appends `a{sa{sv}}`.
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
