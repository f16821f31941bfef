import Logging
import MynahDBus
import MynahSupport

/// Connects to the bus in a task that can be cancelled while the bus does not answer.
final class BusConnector: Sendable {
    private typealias Attempt = Task<Result<DBusConnection, DBusError>, Never>

    private let bus: DBusConnection.Address
    private let logger: Logger
    private let underWay = Lock<Attempt?>(nil)

    init(_ bus: DBusConnection.Address, logger: Logger) {
        self.bus = bus
        self.logger = logger
    }

    /// Whether a connection is being made.
    var isConnecting: Bool { underWay.withLock { $0 != nil } }

    /// Makes a new connection; throws as soon as `cancel` is called.
    func connect() async throws(DBusError) -> DBusConnection {
        let (bus, logger) = (bus, logger)
        let attempt = Attempt {
            do throws(DBusError) {
                return .success(try await DBusConnection.connect(to: bus, logger: logger))
            } catch {
                return .failure(error)
            }
        }
        underWay.withLock { $0 = attempt }
        let result = await attempt.value
        underWay.withLock { $0 = nil }
        return try result.get()
    }

    /// Cancels the current attempt to connect, if there is one.
    func cancel() {
        underWay.withLock { $0 }?.cancel()
    }
}
