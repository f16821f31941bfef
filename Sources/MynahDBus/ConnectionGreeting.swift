import Logging
import MynahCDBus
import MynahSupport

/// Opens a connection and calls `Hello` on the bus.
///
/// The task that connects can be cancelled at any time.
final class ConnectionGreeting: Sendable {
    private struct State {
        weak var connection: DBusConnection?
        var isCancelled = false
    }

    private let state = Lock(State())

    /// Connects to a bus and calls its method `Hello`.
    ///
    /// If the task is cancelled, this ends immediately and throws `cancelled` or `disconnected`.
    func connect(to address: String, logger: Logger) async throws(DBusError) -> DBusConnection {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                GLibExecutor.shared.run {
                    // A bus closes a connection that does not send Hello within a few seconds.
                    do throws(DBusError) {
                        let connection = try Self.open(address, logger: logger)
                        try connection.send(Bus.name, Bus.path, Bus.interface, "Hello") { result in
                            continuation.resume(returning: Self.greeted(connection, result))
                        }
                        let isCancelled = self.state.withLock { state in
                            state.connection = connection
                            return state.isCancelled
                        }
                        if isCancelled { connection.lost() }
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                }
            }
        } onCancel: {
            let connection = state.withLock { state in
                state.isCancelled = true
                return state.connection
            }
            if let connection { GLibExecutor.shared.run { connection.lost() } }
        }
        return try result.get()
    }

    private static func greeted(
        _ connection: DBusConnection, _ result: Result<DBusMessage, DBusError>
    ) -> Result<DBusConnection, DBusError> {
        do throws(DBusError) {
            var reader = try result.get().reader()
            connection.greeted(as: try reader.readString())
            return .success(connection)
        } catch {
            connection.lost()
            return .failure(error)
        }
    }

    private static func open(_ address: String, logger: Logger) throws(DBusError) -> DBusConnection {
        var error = MynahCDBus.DBusError()
        dbus_error_init(&error)
        guard Syntax.isText(address), let raw = dbus_connection_open_private(address, &error) else {
            defer { dbus_error_free(&error) }
            let name = error.name.map { String(cString: $0) } ?? DBusError.Name.noServer.rawValue
            let text = error.message.map { String(cString: $0) } ?? "not a bus address"
            throw DBusError(DBusError.Name(rawValue: name), text)
        }
        dbus_connection_set_exit_on_disconnect(raw, 0)
        return DBusConnection(raw, logger: logger)
    }
}
