import MynahCDBus

extension ExportedObjects {
    /// The introspection XML of a path, for tools like `busctl introspect`.
    func introspection(of object: (any DBusObject)?, at path: ObjectPath) -> String {
        var text = """
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            <node>

            """
        for interface in (object?.interfaces ?? []) + standardInterfaces(of: object, at: path) {
            text += interface.introspection
        }
        for child in children(of: path) {
            text += " <node name=\"\(child)\"/>\n"
        }
        return text + "</node>\n"
    }

    private func standardInterfaces(of object: (any DBusObject)?, at path: ObjectPath) -> [DBusInterface] {
        var interfaces = [
            DBusInterface(
                "org.freedesktop.DBus.Introspectable", methods: [.init("Introspect", returns: "s")]),
            DBusInterface(
                "org.freedesktop.DBus.Peer", methods: [.init("Ping"), .init("GetMachineId", returns: "s")]),
        ]
        if object != nil {
            interfaces.append(
                DBusInterface(
                    "org.freedesktop.DBus.Properties",
                    methods: [
                        .init("Get", "ss", returns: "v"), .init("GetAll", "s", returns: "a{sv}"),
                        .init("Set", "ssv"),
                    ],
                    signals: [.init("PropertiesChanged", "sa{sv}as")]))
        }
        if managers.contains(path) {
            interfaces.append(
                DBusInterface(
                    "org.freedesktop.DBus.ObjectManager",
                    methods: [.init("GetManagedObjects", returns: "a{oa{sa{sv}}}")],
                    signals: [.init("InterfacesAdded", "oa{sa{sv}}"), .init("InterfacesRemoved", "oas")]))
        }
        return interfaces
    }
}

extension DBusInterface {
    fileprivate var introspection: String {
        var text = " <interface name=\"\(name)\">\n"
        for method in methods {
            text += "  <method name=\"\(method.name)\">\n"
            for type in completeTypes(in: method.arguments.description) {
                text += "   <arg type=\"\(type)\" direction=\"in\"/>\n"
            }
            for type in completeTypes(in: method.results.description) {
                text += "   <arg type=\"\(type)\" direction=\"out\"/>\n"
            }
            text += "  </method>\n"
        }
        for signal in signals {
            text += "  <signal name=\"\(signal.name)\">\n"
            for type in completeTypes(in: signal.arguments.description) {
                text += "   <arg type=\"\(type)\"/>\n"
            }
            text += "  </signal>\n"
        }
        for property in properties {
            let access = property.isWritable ? "readwrite" : "read"
            text += "  <property name=\"\(property.name)\" type=\"\(property.type)\" access=\"\(access)\"/>\n"
        }
        return text + " </interface>\n"
    }

    private func completeTypes(in signature: String) -> [String] {
        guard !signature.isEmpty, Syntax.isSignature(signature) else { return [] }
        return signature.withCString { pointer in
            var types: [String] = []
            var iterator = DBusSignatureIter()
            dbus_signature_iter_init(&iterator, pointer)
            repeat {
                guard let type = dbus_signature_iter_get_signature(&iterator) else { break }
                types.append(String(cString: type))
                dbus_free(type)
            } while dbus_signature_iter_next(&iterator) != 0
            return types
        }
    }
}
