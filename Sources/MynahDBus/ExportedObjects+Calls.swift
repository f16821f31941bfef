import MynahCDBus

// Calls from peers.
extension ExportedObjects {
    /// Passes a call to the object that declares the method, or answers it for the standard interfaces.
    func dispatch(_ call: MethodCall) {
        let message = call.message
        let path = call.path
        let object = self[path]
        if let object, let method = object.interfaces.method(for: message) {
            guard message.hasSignature(method.arguments) else {
                return call.fail(
                    DBusError(
                        .invalidArguments,
                        "\(method.name) takes '\(method.arguments)', not '\(message.signature)'"))
            }
            return object.handle(call, method)
        }
        switch message.interface {
        case Standard.peer: return answerPeer(call)
        case Standard.introspectable
        where object != nil || managers.contains(path)
            || !children(of: path).isEmpty:
            guard message.isMember("Introspect") else { return unknownMethod(call) }
            let description = introspection(of: object, at: path)
            return call.reply { $0.append(description) }
        case Standard.objectManager where managers.contains(path):
            return answerObjectManager(call)
        case Standard.properties where object != nil:
            if let object { answerProperties(call, object) }
            return
        case nil
        where object == nil && managers.contains(path) && message.isMember("GetManagedObjects"):
            return answerObjectManager(call)
        default:
            break
        }
        guard object != nil || managers.contains(path) else {
            return call.fail(DBusError(.unknownObject, "No such object path '\(path)'"))
        }
        unknownMethod(call)
    }

    private func unknownMethod(_ call: MethodCall) {
        call.fail(
            DBusError(
                .unknownMethod,
                "Method \"\(call.member)\" with signature \"\(call.message.signature)\" on interface "
                    + "\"\(call.message.interface ?? "")\" doesn't exist"))
    }

    private func answerPeer(_ call: MethodCall) {
        switch call.member {
        case "Ping":
            call.reply()
        case "GetMachineId":
            var error = MynahCDBus.DBusError()
            dbus_error_init(&error)
            defer { dbus_error_free(&error) }
            guard let identifier = dbus_try_get_local_machine_id(&error) else {
                return call.fail(DBusError(.failed, "This machine has no identifier"))
            }
            defer { dbus_free(identifier) }
            let text = String(cString: identifier)
            call.reply { $0.append(text) }
        default:
            unknownMethod(call)
        }
    }

    private func answerObjectManager(_ call: MethodCall) {
        guard call.message.isMember("GetManagedObjects"), call.message.hasSignature("") else {
            return unknownMethod(call)
        }
        let all = below(call.path)
        call.reply { body in
            body.appendArray(of: "{oa{sa{sv}}}") { body in
                for (path, object) in all {
                    body.appendEntry { body in
                        body.append(path)
                        body.appendInterfaces(of: object)
                    }
                }
            }
        }
    }

    private func answerProperties(_ call: MethodCall, _ object: any DBusObject) {
        do throws(DBusError) {
            switch (call.member, call.message.signature) {
            case ("Get", "ss"):
                var reader = call.reader()
                let (interface, property) = try object.declared(&reader)
                let name = interface.name.description
                guard let value = object.property(property.name, of: name) else {
                    throw DBusError(.unknownProperty, "\(property.name) has no value")
                }
                call.reply { $0.append(.variant(value)) }
            case ("GetAll", "s"):
                var reader = call.reader()
                let interface = try object.interface(try reader.readString())
                call.reply { body in
                    body.append(.options(interface.properties(of: object)))
                }
            case ("Set", "ssv"):
                var reader = call.reader()
                let (interface, property) = try object.declared(&reader)
                let value = try reader.readVariant { value throws(DBusError) in try value.readValue() }
                guard property.isWritable else {
                    throw DBusError(.propertyReadOnly, "\(property.name) cannot be set")
                }
                guard value.signature == property.type else {
                    throw DBusError(.invalidArguments, "\(property.name) is of type '\(property.type)'")
                }
                try object.setProperty(property.name, of: interface.name.description, to: value)
                call.reply()
            default:
                unknownMethod(call)
            }
        } catch {
            call.fail(error)
        }
    }
}

extension DBusObject {
    fileprivate func interface(_ name: String) throws(DBusError) -> DBusInterface {
        guard let interface = interfaces.first(where: { $0.name.description == name }) else {
            throw DBusError(.unknownInterface, "No such interface '\(name)'")
        }
        return interface
    }

    /// Reads the names of an interface and a property, and returns their declarations.
    fileprivate func declared(
        _ reader: inout MessageReader
    ) throws(DBusError) -> (DBusInterface, DBusInterface.Property) {
        let interface = try interface(try reader.readString())
        let name = try reader.readString()
        guard let property = interface.properties.first(where: { $0.name == name }) else {
            throw DBusError(.unknownProperty, "No such property '\(name)'")
        }
        return (interface, property)
    }
}

extension [DBusInterface] {
    /// Returns the declaration of the called method, or `nil` if there is none.
    ///
    /// If the call has no interface, the first method with the name is returned.
    fileprivate func method(for message: DBusMessage) -> DBusInterface.Method? {
        let anyInterface = dbus_message_get_interface(message.raw) == nil
        for interface in self where anyInterface || message.isInterface(interface.name) {
            if let method = interface.methods.first(where: { message.isMember($0.name) }) { return method }
        }
        return nil
    }
}
