import MynahDBus

extension BlueZStandIn {
    /// The services of all registered applications, by handle.
    public func services(on name: String = "hci0") -> [StandInService] {
        (adapters[name]?.applications ?? []).flatMap(\.services).sorted { $0.handle < $1.handle }
    }

    /// How many applications are registered.
    public func applicationCount(on name: String = "hci0") -> Int { adapters[name]?.applications.count ?? 0 }

    // MARK: - Inside

    /// Asks for the application's objects, and only then answers.
    func registerApplication(_ call: MethodCall, on name: String) {
        var reader = call.reader()
        guard let path = try? reader.readObjectPath(), let connection else {
            return call.fail(
                DBusError("org.bluez.Error.InvalidArguments", "Invalid arguments in method call"))
        }
        let owner = call.sender
        guard adapters[name]?.applications.contains(where: { $0.owner == owner && $0.path == path }) == false
        else {
            return call.fail(DBusError("org.bluez.Error.AlreadyExists", "Already Exists"))
        }
        // Known from here on, so that a second registration is refused.
        adapters[name]?.applications.append(ApplicationState(owner: owner, path: path))
        follow(owner)
        do throws(DBusError) {
            try connection.send(
                owner, path, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"
            ) { [weak self] result in
                self?.assumeIsolated { $0.registerApplication(owner, path, on: name, result, call) }
            }
        } catch {
            call.fail(error)
        }
    }

    private func registerApplication(
        _ owner: String, _ path: ObjectPath, on name: String, _ result: Result<DBusMessage, DBusError>,
        _ call: MethodCall
    ) {
        let mine: (ApplicationState) -> Bool = { $0.owner == owner && $0.path == path }
        guard let adapter = adapters[name], let index = adapter.applications.firstIndex(where: mine) else {
            return
        }
        var reader = GATTDatabaseReader(
            version: configuration.version, nextHandle: adapter.nextHandle,
            taken: services(on: name).map { $0.handle...$0.endHandle })
        do throws(GATTDatabaseReader.Failure) {
            guard case .success(let message) = result, message.hasSignature("a{oa{sa{sv}}}"),
                let objects = try? message.values().first
            else { throw GATTDatabaseReader.noObjects }
            adapters[name]?.applications[index].services = try reader.read(objects)
            adapters[name]?.nextHandle = reader.nextHandle
            log += reader.remarks
            violations += reader.remarks
        } catch {
            adapters[name]?.applications.remove(at: index)
            call.fail(DBusError("org.bluez.Error.Failed", error.message))
            return changed()
        }
        for report in reader.reports {
            tellHandle(report.handle, to: report.path, report.interface, of: owner)
        }
        call.reply()
        changed()
    }

    private func tellHandle(_ handle: UInt16, to path: ObjectPath, _ interface: String, of owner: String) {
        try? connection?.send(
            owner, path, "org.freedesktop.DBus.Properties", "Set",
            body: { body in
                body.append(interface)
                body.append("Handle")
                body.append(.variant(.uint16(handle)))
            },
            completion: { [weak self] result in
                guard case .failure(let error) = result else { return }
                self?.assumeIsolated { $0.log.append("Handle of \(path) not taken: \(error)") }
            })
    }

    func unregisterApplication(_ call: MethodCall, on name: String) {
        var reader = call.reader()
        let path = try? reader.readObjectPath()
        let owner = call.sender
        guard let applications = adapters[name]?.applications,
            let index = applications.firstIndex(where: { $0.owner == owner && $0.path == path })
        else { return call.fail(DBusError("org.bluez.Error.DoesNotExist", "Does Not Exist")) }
        remove(applications[index], from: name)
        adapters[name]?.applications.remove(at: index)
        call.reply()
        changed()
    }

    /// Forgets the subscriptions of an application's characteristics.
    func remove(_ application: ApplicationState, from name: String) {
        for characteristic in application.services.flatMap(\.characteristics) {
            forgetSubscriptions(of: characteristic.handle)
        }
    }

    /// A service whose interfaces go is removed at once.
    func interfacesRemoved(_ message: DBusMessage) {
        var reader = message.reader()
        guard let sender = message.sender, let path = try? reader.readObjectPath(),
            let interfaces = try? reader.readValue(),
            interfaces.stringsValue?.contains("org.bluez.GattService1") == true
        else { return }
        for name in adapters.keys {
            for (index, application) in (adapters[name]?.applications ?? []).enumerated()
            where application.owner == sender {
                for characteristic in application.services.filter({ $0.path == path }).flatMap(
                    \.characteristics)
                {
                    forgetSubscriptions(of: characteristic.handle)
                }
                adapters[name]?.applications[index].services.removeAll { $0.path == path }
            }
        }
        changed()
    }

    private func forgetSubscriptions(of handle: UInt16) {
        subscriberCounts[handle] = nil
        sockets.removeAll { $0.handle == handle }
        for address in centrals.keys {
            centrals[address]?.configurations[handle] = nil
        }
    }
}
