public import Logging
import MynahCDBus
import MynahSupport

/// A connection to a message bus.
///
/// It lives on `GLibExecutor.shared`. Its synchronous methods are for code that runs there (an actor that shares the executor, a
/// handler that the connection calls), and stop the process elsewhere; the asynchronous ones can be called from anywhere and cost
/// no hop from the executor. Handlers are called on the executor. After `connect` nothing blocks.
public final class DBusConnection: @unchecked Sendable {
    // `@unchecked`: all state is touched on the executor's thread only; each way in checks it.

    /// Where a bus is.
    public enum Address: Hashable, Sendable {
        /// The bus that `DBUS_SYSTEM_BUS_ADDRESS` names, else the machine's own.
        case system
        /// A D-Bus address: `unix:path=/run/dbus/system_bus_socket`.
        case address(String)
    }

    let source: ConnectionSource
    let logger: Logger
    private let isTracing: Bool
    /// Our unique name on the bus.
    public internal(set) var uniqueName = ""
    /// Whether the bus has gone or `close` was called.
    public private(set) var isClosed = false

    var calls = PendingCalls()
    var subscriptions: [Subscription] = []
    var names: [String: NameWatch] = [:]
    var lastIdentifier: UInt64 = 0
    var objects = ExportedObjects()
    /// Sees answers that nobody waits for, late ones and ones to calls that wanted none: for a test of a peer's manners.
    package var onUnexpectedReply: (@Sendable (DBusMessage) -> Void)?
    private var disconnectHandlers: [@Sendable () -> Void] = []
    private var drainHandlers: [(limit: Int, handler: @Sendable () -> Void)] = []

    private init(_ raw: OpaquePointer, logger: Logger) {
        source = ConnectionSource(raw)
        self.logger = logger
        isTracing = logger.logLevel <= .trace
        source.owner = self
        source.start()
    }

    deinit {
        let source = source
        GLibExecutor.shared.run { source.close() }
    }

    /// Connects to a bus and says hello; a cancelled task gives up at once.
    public static func connect(
        to address: Address = .system, logger: Logger = Logger(label: "mynah.dbus")
    ) async throws(DBusError) -> DBusConnection {
        let greeting = Lock(Greeting())
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                GLibExecutor.shared.run {
                    // Hello goes out at once: until it has come, a bus allows a connection a few seconds only.
                    do throws(DBusError) {
                        let connection = try open(address.resolved, logger: logger)
                        try connection.send(Bus.name, Bus.path, Bus.interface, "Hello") { result in
                            continuation.resume(returning: connection.greeted(result))
                        }
                        let isCancelled = greeting.withLock { greeting in
                            greeting.connection = connection
                            return greeting.isCancelled
                        }
                        if isCancelled { connection.lost() }
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                }
            }
        } onCancel: {
            let connection = greeting.withLock { greeting in
                greeting.isCancelled = true
                return greeting.connection
            }
            if let connection { GLibExecutor.shared.run { connection.lost() } }
        }
        return try result.get()
    }

    /// What a connection in the making and its cancellation, which may come first, share.
    private struct Greeting {
        weak var connection: DBusConnection?
        var isCancelled = false
    }

    /// Takes our name out of the bus's greeting.
    private func greeted(_ result: Result<DBusMessage, DBusError>) -> Result<DBusConnection, DBusError> {
        do throws(DBusError) {
            var reader = try result.get().reader()
            uniqueName = try reader.readString()
            dbus_bus_set_unique_name(source.connection, uniqueName)
            return .success(self)
        } catch {
            lost()
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

    /// Closes the connection: calls under way fail, and the disconnect handlers are called.
    public func close() async {
        await GLibExecutor.shared.perform { self.lost() }
    }

    /// Calls `handler` once when the bus has gone or the connection is closed; at once if it is.
    public func onDisconnect(_ handler: @escaping @Sendable () -> Void) {
        checkExecutor()
        if isClosed { handler() } else { disconnectHandlers.append(handler) }
    }

    /// The bytes that wait for the bus to take them.
    public var outgoingSize: Int {
        checkExecutor()
        return isClosed ? 0 : dbus_connection_get_outgoing_size(source.connection)
    }

    /// Calls `handler` once, when fewer than `limit` bytes wait for the bus; never when the connection ends before.
    public func whenOutgoing(isBelow limit: Int, _ handler: @escaping @Sendable () -> Void) {
        checkExecutor()
        if isClosed { return }
        drainHandlers.append((limit, handler))
        // Looked at after the next turn of the source, which may be due without an event.
        source.setReadyTime(0)
    }

    // MARK: - Inside

    func checkExecutor() {
        precondition(GLibExecutor.shared.isCurrent, "D-Bus is spoken on its executor only")
    }

    /// Hands a message to libdbus, which writes what the socket takes now; nil when the connection is closed.
    @discardableResult
    func send(_ message: DBusMessage) -> UInt32? {
        checkExecutor()
        guard !isClosed else { return nil }
        var serial: dbus_uint32_t = 0
        guard dbus_connection_send(source.connection, message.raw, &serial) != 0 else { return nil }
        trace("sent", message)
        return serial
    }

    func receive(_ message: DBusMessage) {
        trace("received", message)
        switch message.kind {
        case .methodReturn, .error:
            guard let call = calls.take(message.replySerial) else {
                onUnexpectedReply?(message)
                return
            }
            call.completion(message.error.map(Result.failure) ?? .success(message))
        case .signal:
            if message.isInterface("org.freedesktop.DBus.Local"), message.isMember("Disconnected") {
                return lost()
            }
            deliver(message)
        case .methodCall:
            dispatch(MethodCall(message, on: self))
        case .unknown:
            break
        }
    }

    /// After each turn of the source: deadlines, and room for what waits to be sent.
    func turnEnded() {
        for call in calls.takeExpired(now: LoopSource.now) {
            call.completion(.failure(DBusError(.noReply, "no answer within \(call.timeout)")))
        }
        if isClosed { return }
        source.setReadyTime(calls.nextDeadline)
        guard !drainHandlers.isEmpty else { return }
        let waiting = outgoingSize
        let ready = drainHandlers.filter { waiting < $0.limit }
        drainHandlers.removeAll { waiting < $0.limit }
        for entry in ready {
            entry.handler()
        }
    }

    private func lost() {
        guard !isClosed else { return }
        isClosed = true
        logger.debug("connection closed", metadata: ["name": "\(uniqueName)"])
        source.close()
        for call in calls.takeAll() {
            call.completion(.failure(DBusError(.disconnected, "the connection to the bus is closed")))
        }
        let handlers = disconnectHandlers
        disconnectHandlers = []
        drainHandlers = []
        subscriptions = []
        names = [:]
        objects = ExportedObjects()
        for handler in handlers {
            handler()
        }
    }

    private func trace(_ what: StaticString, _ message: DBusMessage) {
        guard isTracing else { return }
        logger.trace(
            "message",
            metadata: [
                "direction": "\(what)", "kind": "\(message.kind)", "serial": "\(message.serial)",
                "replyTo": "\(message.replySerial)", "sender": "\(message.sender ?? "")",
                "destination": "\(message.destination ?? "")", "path": "\(message.path?.string ?? "")",
                "interface": "\(message.interface ?? "")", "member": "\(message.member ?? "")",
                "error": "\(message.error?.description ?? "")", "signature": "\(message.signature)",
            ])
    }
}

/// The bus itself, as a peer.
enum Bus {
    static let name = "org.freedesktop.DBus"
    static let path: ObjectPath = "/org/freedesktop/DBus"
    static let interface = "org.freedesktop.DBus"
}
