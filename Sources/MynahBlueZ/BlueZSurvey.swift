package import MynahCore
package import MynahDBus
import MynahSupport

/// Reads everything on the bus and in bluetoothd that a peripheral depends on, without changing anything.
package struct BlueZSurvey: Sendable {
    /// A stage of the survey; the survey ends at the first stage that fails.
    package enum Stage: Sendable {
        case bus, daemon, policy, adapter
    }

    /// An adapter.
    package struct Adapter: Sendable {
        /// The adapter's name, such as `hci0`.
        package var name: String
        package var address: String
        package var isPowered: Bool
        package var roles: [String]?
        package var keepsInterval: Bool
        package var activeSets: Int?
        package var freeSets: Int?
        package var services: [BluetoothUUID]

        /// The error with which `mynah run` would fail because no advertising set is free, or `nil` if a set
        /// is free.
        package var setsError: RadioError? { freeSets == 0 ? BlueZErrors.noAdvertisingSet : nil }
    }

    /// The result of a survey.
    package struct Result: Sendable {
        /// The stage that failed and the error with which `mynah run` would fail, or `nil` if no stage
        /// failed.
        package var failure: (stage: Stage, error: RadioError)?
        /// Whether there is no socket for the bus.
        package var isBusMissing = false
        /// Whether the bus can start bluetoothd.
        package var isActivatable = false
        /// The process ID of bluetoothd, or `nil` if bluetoothd does not run.
        package var process: UInt32?
        /// bluetoothd's version, as its adapter reports it, or `nil` if it is not known.
        package var version: BlueZVersion?
        package var adapter: Adapter?

        /// Makes an empty result, before the survey.
        package init() {}
    }

    /// The D-Bus bus to survey.
    package var bus = DBusConnection.Address.system
    /// The name or address of the adapter (`hci0` or `AA:BB:CC:DD:EE:FF`), or `nil` for any adapter.
    package var adapter: String?
    /// The longest time to wait for each answer.
    package var limit = Duration.seconds(5)

    /// Makes a survey of the system bus.
    package init() {}

    /// The name and the address of the bus, for a message.
    package var place: String { "the D-Bus system bus (\(bus.resolved))" }

    /// Carries out the survey, which takes at most four times `limit`.
    package func run() async -> Result {
        var result = Result()
        guard let connection = await connect(&result) else { return result }
        await ask(connection, &result)
        await connection.close()
        return result
    }

    private func connect(_ result: inout Result) async -> DBusConnection? {
        let (bus, limit, place) = (bus, limit, place)
        let attempt = await TimeLimit.value(within: limit) {
            await Self.outcome { () async throws(DBusError) in
                try await DBusConnection.connect(to: bus)
            }
        }
        switch attempt {
        case .success(let connection)?: return connection
        case .failure(let error)?:
            result.failure = (.bus, BlueZErrors.radioError(error, doing: "connecting to the bus"))
            result.isBusMissing = error.name == .fileNotFound
        case nil:
            result.failure = (
                .bus,
                RadioError(
                    .timedOut, "\(place) did not answer within \(limit.components.seconds) s",
                    remedy: "restart the machine, or its bus: sudo systemctl restart dbus")
            )
        }
        return nil
    }

    private func ask(_ connection: DBusConnection, _ result: inout Result) async {
        let owner: String
        switch await self.owner(connection) {
        case .success(let name): owner = name
        case .failure(let error):
            let error = BlueZErrors.radioError(error, doing: "looking for bluetoothd")
            result.failure = (error == BlueZErrors.notRunning ? .daemon : .bus, error)
            result.isActivatable = await activatableNames(connection).contains(BlueZ.service)
            return
        }
        result.process = await process(connection)
        let listing = await outcome { () async throws(DBusError) in
            // The unique name starts no other bluetoothd if this one ends meanwhile.
            try await connection.call(owner, .root, BlueZ.objectManager, "GetManagedObjects")
        }
        do throws(RadioError) {
            let objects: BusObjects
            switch listing {
            case .success(let reply): objects = try BusObjects(reply)
            case .failure(let error): throw BlueZErrors.radioError(error, doing: "listing its adapters")
            }
            chooseAdapter(objects, &result)
        } catch {
            result.failure = (error.code == .notPermitted ? .policy : .daemon, error)
        }
    }

    private func chooseAdapter(_ objects: BusObjects, _ result: inout Result) {
        result.version = objects.adapters.values.lazy.compactMap { BlueZVersion(modalias: $0.modalias) }.first
        do throws(RadioError) {
            let (path, address) = try objects.selectAdapter(adapter)
            guard let found = objects.adapters[path.string] else { return }
            result.adapter = Adapter(
                name: path.string.split(separator: "/").last.map(String.init) ?? "", address: address,
                isPowered: found.isPowered, roles: found.roles, keepsInterval: found.tellsAdvertisingFeatures,
                activeSets: found.activeSets, freeSets: found.freeSets,
                services: found.services.compactMap { BluetoothUUID($0) })
        } catch {
            result.failure = (.adapter, error)
        }
    }

    /// Asks the bus for the unique name of bluetoothd.
    private func owner(_ connection: DBusConnection) async -> Swift.Result<String, DBusError> {
        await outcome { () async throws(DBusError) in
            let reply = try await connection.call(
                Self.bus, Self.busPath, Self.bus, "GetNameOwner"
            ) { $0.append(BlueZ.service) }
            var reader = reply.reader()
            return try reader.readString()
        }
    }

    private func process(_ connection: DBusConnection) async -> UInt32? {
        let reply = await outcome { () async throws(DBusError) in
            try await connection.call(
                Self.bus, Self.busPath, Self.bus, "GetConnectionUnixProcessID"
            ) { $0.append(BlueZ.service) }
        }
        guard var reader = try? reply.get().reader() else { return nil }
        return try? reader.readUInt32()
    }

    private func activatableNames(_ connection: DBusConnection) async -> [String] {
        let reply = await outcome { () async throws(DBusError) in
            try await connection.call(Self.bus, Self.busPath, Self.bus, "ListActivatableNames")
        }
        guard var reader = try? reply.get().reader() else { return [] }
        return (try? reader.readValue())?.stringsValue ?? []
    }

    private static let bus = "org.freedesktop.DBus"
    private static let busPath: ObjectPath = "/org/freedesktop/DBus"

    // MARK: Time limits

    /// Returns the result of calls to the bus, or `noReply` if they take longer than the limit.
    private func outcome<Value: Sendable>(
        _ calls: @escaping @Sendable () async throws(DBusError) -> Value
    ) async -> Swift.Result<Value, DBusError> {
        await TimeLimit.value(within: limit) { await Self.outcome(calls) } ?? .failure(DBusError(.noReply))
    }

    private static func outcome<Value: Sendable>(
        _ calls: @Sendable () async throws(DBusError) -> Value
    ) async -> Swift.Result<Value, DBusError> {
        do throws(DBusError) {
            return .success(try await calls())
        } catch {
            return .failure(error)
        }
    }
}
