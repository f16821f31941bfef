import Logging
import MynahCore
import MynahDBus

// Finding bluetoothd and its adapter, and leaving it as it was found.
extension BlueZRadio {
    /// Connects to the bus, listens, and learns what bluetoothd has.
    func connect() async throws(RadioError) {
        let connection: DBusConnection
        do throws(DBusError) {
            connection = try await DBusConnection.connect(to: options.bus, logger: logger)
        } catch {
            throw BlueZErrors.radioError(error, doing: "connecting to the bus")
        }
        self.connection = connection
        listen(on: connection)
        try await learnObjects()
        hasOwner = true
    }

    private func listen(on connection: DBusConnection) {
        connection.onDisconnect { [weak self] in self?.assumeIsolated { $0.busEnded() } }
        subscriptions = [
            connection.watchOwner(of: BlueZ.service) { [weak self] owner in
                self?.assumeIsolated { $0.ownerChanged(to: owner) }
            },
            connection.subscribe(to: DBusMatch(sender: BlueZ.service, interface: BlueZ.objectManager)) {
                [weak self] message in
                self?.assumeIsolated { $0.objectsChanged(message) }
            },
            connection.subscribe(
                to: DBusMatch(
                    sender: BlueZ.service, pathNamespace: BlueZ.root, interface: BlueZ.properties,
                    member: "PropertiesChanged")
            ) { [weak self] message in
                self?.assumeIsolated { $0.propertiesChanged(message) }
            },
        ]
    }

    func learnObjects() async throws(RadioError) {
        let reply = try await call(
            .root, BlueZ.objectManager, "GetManagedObjects", timeout: .seconds(20), "listing its adapters")
        var learned = BusObjects()
        do throws(DBusError) {
            var reader = reply.reader()
            for entry in try reader.readValue().entries ?? [] {
                guard let path = entry.key.objectPathValue else { continue }
                learned.add(path.string, entry.value)
            }
        } catch {
            throw BlueZErrors.radioError(error, doing: "listing its adapters")
        }
        objects = learned
    }

    /// The adapter that was asked for, or the first that can be a peripheral.
    func selectAdapter() throws(RadioError) -> (path: ObjectPath, address: String) {
        let known = objects.adapters.sorted { $0.key < $1.key }
        func name(_ path: String) -> String { String(path.split(separator: "/").last ?? "") }
        let names = known.map { "\(name($0.key)) (\($0.value.address))" }
        let wanted = options.adapter?.uppercased()
        let chosen = known.first { path, adapter in
            guard let wanted else { return adapter.isComplete }
            return name(path).uppercased() == wanted || adapter.address.uppercased() == wanted
        }
        guard let (path, adapter) = chosen else {
            if let wanted = options.adapter, !known.isEmpty {
                throw RadioError(
                    .noAdapter, "there is no adapter \(wanted)",
                    remedy: "there is \(names.joined(separator: ", "))")
            }
            guard known.isEmpty else {
                throw RadioError(
                    .noAdapter, "the adapter \(names[0]) cannot be a peripheral: it has no LE advertising")
            }
            throw RadioError(
                .noAdapter, "bluetoothd has no Bluetooth adapter",
                remedy: "plug one in, or look for its driver: dmesg | grep -i bluetooth")
        }
        guard let objectPath = try? ObjectPath(path) else {
            throw RadioError(.protocolViolation, "bluetoothd gave its adapter no valid path")
        }
        return (objectPath, adapter.address)
    }

    /// Remembers how the adapter was found, turns it on, gives it the device's name and makes us its agent.
    func prepareAdapter() async throws(RadioError) {
        guard let adapter, let state = objects.adapters[adapter.path.string] else {
            throw RadioError(.noAdapter, "the adapter is gone")
        }
        if found == nil {
            found = Found(
                alias: state.alias, isAliasDefault: state.alias == state.name, isPowered: state.isPowered,
                isPairable: state.isPairable)
        }
        if !state.isPowered { try await set("Powered", true, "turning the adapter on") }
        if !identity.name.isEmpty, state.alias != identity.name {
            try await set("Alias", .string(identity.name), "naming the adapter")
        }
        try await registerAgent()
        if !state.isPairable { try await set("Pairable", true, "allowing to pair") }
    }

    private func registerAgent() async throws(RadioError) {
        guard !isAgentRegistered, objects.hasAgentManager, let connection else { return }
        let path: ObjectPath = "/org/mynah/agent"
        connection.unexport(path)
        do throws(DBusError) {
            try connection.export(AgentObject(radio: self), at: path)
        } catch {
            throw BlueZErrors.radioError(error, doing: "registering the pairing agent")
        }
        let capability = AgentCapability.name(of: identity.ioCapability)
        _ = try await call(BlueZ.root, BlueZ.agentManager, "RegisterAgent", "registering the pairing agent") {
            $0.append(path)
            $0.append(capability)
        }
        isAgentRegistered = true
        _ = try await call(
            BlueZ.root, BlueZ.agentManager, "RequestDefaultAgent", "becoming the pairing agent"
        ) {
            $0.append(path)
        }
    }

    private func set(_ property: String, _ value: DBusValue, _ doing: String) async throws(RadioError) {
        guard let adapter else { return }
        _ = try await call(adapter.path, BlueZ.properties, "Set", doing) {
            $0.append(BlueZ.adapter)
            $0.append(property)
            $0.append(DBusValue.variant(value))
        }
    }

    /// Leaves the adapter as it was found; what fails on the way out is only logged.
    func putBack() async {
        guard let found, let adapter, connection?.isClosed == false, hasOwner,
            let state = objects.adapters[adapter.path.string]
        else { return }
        if isAgentRegistered {
            let path: ObjectPath = "/org/mynah/agent"
            await attempt { () throws(RadioError) in
                _ = try await call(
                    BlueZ.root, BlueZ.agentManager, "UnregisterAgent", timeout: .seconds(2),
                    "unregistering the agent"
                ) { $0.append(path) }
            }
            isAgentRegistered = false
        }
        // An empty alias gives back the name that bluetoothd makes itself.
        if state.alias != found.alias {
            await attempt { () throws(RadioError) in
                try await set(
                    "Alias", .string(found.isAliasDefault ? "" : found.alias), "giving the name back")
            }
        }
        if state.isPairable != found.isPairable {
            await attempt { () throws(RadioError) in
                try await set("Pairable", .bool(found.isPairable), "putting Pairable back")
            }
        }
        if !found.isPowered {
            await attempt { () throws(RadioError) in
                try await set("Powered", false, "turning the adapter off again")
            }
        }
    }

    func attempt(_ body: () async throws(RadioError) -> Void) async {
        do throws(RadioError) {
            try await body()
        } catch {
            logger.debug("left as it is", metadata: ["error": "\(error)"])
        }
    }

    /// Calls bluetoothd, by its name: its unique name changes when it restarts.
    func call(
        _ path: ObjectPath, _ interface: String, _ member: String, timeout: Duration = .seconds(10),
        _ doing: String,
        body: (inout MessageWriter) -> Void = { _ in }
    ) async throws(RadioError) -> DBusMessage {
        guard let connection else { throw RadioError(.lost, "the radio was stopped while \(doing)") }
        do throws(DBusError) {
            return try await connection.call(
                BlueZ.service, path, interface, member, timeout: timeout, body: body)
        } catch {
            throw BlueZErrors.radioError(error, doing: doing)
        }
    }
}
