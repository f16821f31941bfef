import MynahCore
import MynahDBus

/// Calls bluetoothd on one connection to the bus; each D-Bus call is one method.
///
/// The calls use the well-known name, because bluetoothd's unique name changes when it restarts.
final class BluetoothDaemon {
    /// The rule by which calls wait for bluetoothd's answers.
    private enum Patience {
        case full
        /// Calls wait for answers, but after one has timed out, no call waits any more.
        case limited
        case none
    }

    let connection: DBusConnection
    private let send: BusEventHandler
    private var subscriptions: [DBusSubscription] = []
    private var patience = Patience.full
    /// The objects of advertising sets, by their numbers.
    private var advertisements: [Int: AdvertisementObject] = [:]

    private static let agentPath: ObjectPath = "/org/mynah/agent"
    private static let characteristicInterface = BlueZ.gattCharacteristic.description

    /// Makes the caller for a connection; `send` is called with each event.
    init(_ connection: DBusConnection, send: @escaping BusEventHandler) {
        self.connection = connection
        self.send = send
        connection.onDisconnect { send(.busEnded) }
        let changes = [
            DBusMatch(sender: BlueZ.service, interface: BlueZ.objectManager),
            DBusMatch(
                sender: BlueZ.service, pathNamespace: BlueZ.root, interface: BlueZ.properties,
                member: "PropertiesChanged"),
        ]
        subscriptions = [connection.watchOwner(of: BlueZ.service) { send(.ownerChanged($0)) }]
        subscriptions += changes.map { match in connection.subscribe(to: match) { send(.objectSignal($0)) } }
    }

    /// Sets the rule `limited` for waiting, because the radio stops.
    ///
    /// Calls still wait for answers, but after one has timed out, no call waits any more.
    func limitPatience() {
        patience = .limited
    }

    /// Closes the connection, upon which bluetoothd removes everything that is still registered.
    func close() async {
        subscriptions = []
        await connection.close()
    }

    private func call(
        _ path: ObjectPath, _ interface: String, _ member: String, timeout: Duration = .seconds(10),
        doing: String, body: (inout MessageWriter) -> Void = { _ in }
    ) async throws(RadioError) -> DBusMessage {
        do throws(DBusError) {
            if patience == .none {
                // bluetoothd may still carry out the call.
                try connection.sendWithoutReply(BlueZ.service, path, interface, member, body: body)
                throw DBusError(.noReply)
            }
            return try await connection.call(
                BlueZ.service, path, interface, member, timeout: timeout, body: body)
        } catch {
            if error.name == .noReply, patience == .limited { patience = .none }
            throw BlueZErrors.radioError(error, doing: doing)
        }
    }

    // MARK: Adapters and devices

    /// Lists all adapters and devices.
    func managedObjects() async throws(RadioError) -> BusObjects {
        try BusObjects(
            try await call(
                .root, BlueZ.objectManager, "GetManagedObjects", timeout: .seconds(20),
                doing: "listing its adapters"))
    }

    /// Sets a property of an adapter.
    func set(
        _ property: AdapterProperty, of adapter: ObjectPath, timeout: Duration = .seconds(10)
    ) async throws(RadioError) {
        _ = try await call(adapter, BlueZ.properties, "Set", timeout: timeout, doing: property.doing) {
            $0.append(BlueZ.adapter)
            $0.append(property.name)
            $0.append(DBusValue.variant(property.value))
        }
    }

    /// Ends the link of a central, which takes bluetoothd two seconds.
    func disconnect(_ device: ObjectPath) async throws(RadioError) {
        _ = try await call(device, BlueZ.device, "Disconnect", doing: "disconnecting a central")
    }

    /// Removes a device and all data about it, which also ends its link.
    func removeDevice(_ device: ObjectPath, of adapter: ObjectPath) async throws(RadioError) {
        _ = try await call(adapter, BlueZ.adapter, "RemoveDevice", doing: "deleting a bond") {
            $0.append(device)
        }
    }

    // MARK: The pairing agent

    /// Registers the pairing agent of a device with this input and output capability.
    func registerAgent(_ capability: IOCapability) async throws(RadioError) {
        let path = Self.agentPath
        connection.unexport(path)
        do throws(DBusError) {
            try connection.export(AgentObject(send: send), at: path)
        } catch {
            throw BlueZErrors.radioError(error, doing: "registering the pairing agent")
        }
        _ = try await call(
            BlueZ.root, BlueZ.agentManager, "RegisterAgent", doing: "registering the pairing agent"
        ) {
            $0.append(path)
            $0.append(AgentCapability.name(of: capability))
        }
        _ = try await call(
            BlueZ.root, BlueZ.agentManager, "RequestDefaultAgent", doing: "becoming the pairing agent"
        ) { $0.append(path) }
    }

    func unregisterAgent() async throws(RadioError) {
        _ = try await call(
            BlueZ.root, BlueZ.agentManager, "UnregisterAgent", timeout: .seconds(2),
            doing: "unregistering the agent"
        ) { $0.append(Self.agentPath) }
    }

    // MARK: Services

    /// Exports the objects of an application.
    func export(_ layout: ApplicationLayout, offersSockets: Bool) throws(RadioError) {
        do throws(DBusError) {
            connection.exportObjectManager(at: layout.root)
            for (path, item) in layout.items {
                let object: any DBusObject =
                    switch item {
                    case .service(let definition, let includes, let handle):
                        ServiceObject(definition, includes: includes, handle: handle)
                    case .characteristic(let definition, let service):
                        CharacteristicObject(
                            definition, service: service, offersSockets: offersSockets, send: send)
                    case .descriptor(let definition, let characteristic):
                        DescriptorObject(definition, characteristic: characteristic, send: send)
                    }
                try connection.export(object, at: path)
            }
        } catch {
            unexport(layout)
            throw BlueZErrors.servicesError(error)
        }
    }

    /// Removes the objects of an application.
    func unexport(_ layout: ApplicationLayout) {
        for (path, _) in layout.items { connection.unexport(path) }
        connection.unexportObjectManager(at: layout.root)
    }

    /// Registers an application whose objects were exported before.
    func registerApplication(_ root: ObjectPath, on adapter: ObjectPath) async throws(DBusError) {
        // bluetoothd lists the objects before it answers, with 25 s for each call.
        _ = try await connection.call(
            BlueZ.service, adapter, BlueZ.gattManager, "RegisterApplication", timeout: .seconds(30)
        ) { body in
            body.append(root)
            body.appendOptions()
        }
    }

    func unregisterApplication(_ root: ObjectPath, on adapter: ObjectPath) async throws(RadioError) {
        _ = try await call(
            adapter, BlueZ.gattManager, "UnregisterApplication", timeout: .seconds(3),
            doing: "withdrawing services"
        ) { $0.append(root) }
    }

    /// Sends values to every subscriber of a characteristic.
    func changeValue(of characteristic: ObjectPath, to values: [[UInt8]]) throws(RadioError) {
        do throws(DBusError) {
            for value in values {
                try connection.emitPropertyChanged(
                    characteristic, Self.characteristicInterface, "Value", bytes: value)
            }
        } catch {
            throw BlueZErrors.radioError(error, doing: "sending a value")
        }
    }

    // MARK: Advertising

    /// The object path of the advertising set with a number.
    private static func advertisementPath(_ number: Int) -> ObjectPath {
        ObjectPath(stringLiteral: "/org/mynah/advertisement" + (number == 0 ? "" : String(number + 1)))
    }

    /// Registers the advertisement of a set in place of the earlier one.
    func registerAdvertisement(
        _ number: Int, _ advertising: BlueZAdvertising, on adapter: ObjectPath
    ) async throws(RadioError) {
        do throws(DBusError) {
            do throws(DBusError) {
                try await exportAndRegister(number, advertising, on: adapter)
            } catch {
                // An earlier registration still exists, because its answer came too late or not at all.
                guard error.name == "org.bluez.Error.AlreadyExists" else { throw error }
                _ = try? await unregisterAdvertisement(number, on: adapter)
                try await exportAndRegister(number, advertising, on: adapter)
            }
        } catch {
            throw BlueZErrors.advertisementError(error)
        }
    }

    private func exportAndRegister(
        _ number: Int, _ advertising: BlueZAdvertising, on adapter: ObjectPath
    ) async throws(DBusError) {
        let (object, path) = (
            AdvertisementObject(advertising, number: number, send: send), Self.advertisementPath(number)
        )
        advertisements[number] = object
        connection.unexport(path)
        try connection.export(object, at: path)
        _ = try await connection.call(
            BlueZ.service, adapter, BlueZ.advertisingManager, "RegisterAdvertisement", timeout: .seconds(10)
        ) { body in
            body.append(path)
            body.appendOptions()
        }
    }

    func unregisterAdvertisement(_ number: Int, on adapter: ObjectPath) async throws(RadioError) {
        if connection.isClosed { return }
        let path = Self.advertisementPath(number)
        defer { connection.unexport(path) }
        _ = try await call(
            adapter, BlueZ.advertisingManager, "UnregisterAdvertisement", timeout: .seconds(3),
            doing: "stopping to advertise"
        ) { $0.append(path) }
    }

    /// Changes the registered advertisement of a set in one signal.
    ///
    /// bluetoothd reads the whole change before it makes the advertising data, so no partial change is sent.
    func changeAdvertisement(_ number: Int, to advertising: BlueZAdvertising) throws(RadioError) {
        guard let (changed, removed) = advertisements[number]?.update(advertising),
            !changed.isEmpty || !removed.isEmpty
        else { return }
        do throws(DBusError) {
            try connection.emitPropertiesChanged(
                Self.advertisementPath(number), BlueZ.advertisement.description, changed, invalidated: removed
            )
        } catch {
            throw BlueZErrors.radioError(error, doing: "changing the advertisement")
        }
    }
}
