import Logging
import MynahCore
import MynahDBus

// Finding bluetoothd and its adapter, and leaving it as it was found.
extension BlueZRadio {
    /// Connects to the bus and listens.
    func connect() async throws(RadioError) {
        let (bus, logger) = (options.bus, logger)
        let attempt = Task<Result<DBusConnection, DBusError>, Never> {
            do throws(DBusError) {
                return .success(try await DBusConnection.connect(to: bus, logger: logger))
            } catch {
                return .failure(error)
            }
        }
        connecting = attempt
        let outcome = await attempt.value
        connecting = nil
        let connection: DBusConnection
        do throws(DBusError) {
            connection = try outcome.get()
        } catch {
            throw BlueZErrors.radioError(error, doing: "connecting to the bus")
        }
        do throws(RadioError) {
            try checkWanted()
        } catch {
            await connection.close()
            throw error
        }
        self.connection = connection
        listen(on: connection)
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
        let reply: DBusMessage
        do throws(RadioError) {
            reply = try await call(
                .root, BlueZ.objectManager, "GetManagedObjects", timeout: .seconds(20), "listing its adapters"
            )
        } catch {
            guard error.code == .timedOut, !hasOwner else { throw error }
            // The bus was asked to start it, and systemd passes that over without an adapter in the kernel.
            throw RadioError(
                .unreachable, "bluetoothd is not running, and does not start",
                remedy: "look why: systemctl status bluetooth")
        }
        objects = try BusObjects(reply)
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
        if !state.isPowered { try await turnOn() }
        if !identity.name.isEmpty, state.alias != identity.name {
            try await touch("Alias", .string(identity.name), "naming the adapter")
        }
        try await registerAgent()
        if !state.isPairable { try await touch("Pairable", true, "allowing to pair") }
    }

    /// While bluetoothd is at it by itself, as when rfkill was released, it answers Busy: its end is waited for.
    private func turnOn() async throws(RadioError) {
        var attempts = 0
        while !isPowered {
            do throws(RadioError) {
                return try await touch("Powered", true, "turning the adapter on")
            } catch {
                attempts += 1
                guard error.code == .busy, attempts < 20 else {
                    // 5.66 says only that it failed.
                    let name = adapter.flatMap { $0.path.string.split(separator: "/").last }
                    throw name.flatMap { RFKill().error(for: String($0)) } ?? error
                }
                await pause(for: .milliseconds(250))
            }
        }
    }

    private var isPowered: Bool {
        adapter.flatMap { objects.adapters[$0.path.string] }?.isPowered == true
    }

    private func registerAgent() async throws(RadioError) {
        if let adapter { AgentRouting.set(self, on: options.bus, adapter: adapter.path.string) }
        guard !isAgentRegistered, objects.hasAgentManager, let connection else { return }
        try checkWanted()
        connection.unexport(Self.agentPath)
        do throws(DBusError) {
            try connection.export(AgentObject(radio: self), at: Self.agentPath)
        } catch {
            throw BlueZErrors.radioError(error, doing: "registering the pairing agent")
        }
        let capability = AgentCapability.name(of: identity.ioCapability)
        isAgentRegistered = true
        do throws(RadioError) {
            _ = try await call(
                BlueZ.root, BlueZ.agentManager, "RegisterAgent", "registering the pairing agent"
            ) {
                $0.append(Self.agentPath)
                $0.append(capability)
            }
            _ = try await call(
                BlueZ.root, BlueZ.agentManager, "RequestDefaultAgent", "becoming the pairing agent"
            ) {
                $0.append(Self.agentPath)
            }
        } catch {
            isAgentRegistered = false
            throw error
        }
    }

    private static var agentPath: ObjectPath { "/org/mynah/agent" }

    /// Sets a property that is put back at the end.
    private func touch(_ property: String, _ value: DBusValue, _ doing: String) async throws(RadioError) {
        try checkWanted()
        found?.touched.insert(property)
        try await set(property, value, doing)
    }

    private func set(
        _ property: String, _ value: DBusValue, timeout: Duration = .seconds(10), _ doing: String
    ) async throws(RadioError) {
        guard let adapter else { return }
        _ = try await call(adapter.path, BlueZ.properties, "Set", timeout: timeout, doing) {
            $0.append(BlueZ.adapter)
            $0.append(property)
            $0.append(DBusValue.variant(value))
        }
    }

    /// Leaves the adapter as it was found; what fails on the way out is only logged.
    ///
    /// What was touched is put back whatever the adapter says of itself, which may be older than our last word.
    func putBack() async {
        guard let found, let adapter, connection?.isClosed == false, hasOwner,
            objects.adapters[adapter.path.string] != nil
        else { return }
        let limit: Duration = .seconds(2)
        let endedAgent = isAgentRegistered
        if isAgentRegistered {
            isAgentRegistered = false
            await attempt { () throws(RadioError) in
                _ = try await call(
                    BlueZ.root, BlueZ.agentManager, "UnregisterAgent", timeout: limit,
                    "unregistering the agent"
                ) { $0.append(Self.agentPath) }
            }
        }
        // bluetoothd ends pairing with the last agent, a while after it has answered, and passes over whoever asks for
        // it meanwhile; where another agent is left, it stays.
        var touched = found.touched
        if found.isPairable, endedAgent {
            await waitForAdapter(atMost: .milliseconds(500)) { !$0.isPairable }
            if objects.adapters[adapter.path.string]?.isPairable == false { touched.insert("Pairable") }
        }
        // An empty alias gives back the name that bluetoothd makes itself.
        let values: [(String, DBusValue)] = [
            ("Alias", .string(found.isAliasDefault ? "" : found.alias)),
            ("Pairable", .bool(found.isPairable)),
            ("Powered", .bool(found.isPowered)),
        ]
        for (property, value) in values where touched.contains(property) {
            await attempt { () throws(RadioError) in
                try await set(property, value, timeout: limit, "putting \(property) back")
            }
        }
    }

    /// Waits until the adapter is as it is wanted, for a while at most.
    private func waitForAdapter(
        atMost limit: Duration, _ condition: @escaping @Sendable (BusObjects.Adapter) -> Bool
    ) async {
        guard let adapter, let state = objects.adapters[adapter.path.string], !condition(state) else {
            return
        }
        var timer: GLibTimer?
        await withCheckedContinuation { continuation in
            adapterWaiter = (condition, continuation)
            timer = GLibTimer { [weak self] in self?.assumeIsolated { $0.endAdapterWait() } }
            timer?.schedule(after: limit)
        }
        withExtendedLifetime(timer) {}
    }

    private func endAdapterWait() {
        adapterWaiter?.continuation.resume()
        adapterWaiter = nil
    }

    func adapterChanged() {
        guard let waiter = adapterWaiter, let adapter else { return }
        guard objects.adapters[adapter.path.string].map(waiter.condition) ?? true else { return }
        endAdapterWait()
    }

    /// The version as the adapter's own identifier tells it, else as the installed program does.
    func learnVersion() async -> BlueZVersion? {
        if let version = options.version { return version }
        let modalias = adapter.flatMap { objects.adapters[$0.path.string] }?.modalias
        if let version = modalias.flatMap({ BlueZVersion(modalias: $0) }) { return version }
        return await Task.detached { BlueZVersion.installed() }.value
    }

    /// Says what is taken for granted, and what was asked for and is not there.
    func warnOfOldVersion() {
        if version == nil {
            warnOnce(
                "versionUnknown",
                "bluetoothd's version cannot be told; it is taken for \(BlueZVersion.oldest)")
        }
        if options.acquiresNotify, !offersSockets {
            warnOnce(
                "socketsNotOffered",
                "notification sockets are used from BlueZ 5.80 on; subscribers have no names here")
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
            if isMute, life.state == .stopping {
                // Nobody waits for each answer again; what it is told it may still do.
                try connection.sendWithoutReply(BlueZ.service, path, interface, member, body: body)
                throw DBusError(.noReply)
            }
            return try await connection.call(
                BlueZ.service, path, interface, member, timeout: timeout, body: body)
        } catch {
            if error.name == .noReply, life.state == .stopping { isMute = true }
            throw BlueZErrors.radioError(error, doing: doing)
        }
    }
}
