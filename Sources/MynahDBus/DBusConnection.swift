public import Logging
import MynahCDBus
import MynahSupport

/// A connection to a message bus.
///
/// The connection belongs to `GLibExecutor.shared`. Its synchronous methods may be called only on this
/// executor: from an actor that uses the executor, or from one of the connection's handlers. Any other call
/// stops the process. The asynchronous methods, `uniqueName` and `isClosed` can be used from any thread; on
/// the executor, they need no change of thread. Handlers are called on the executor. After `connect`, nothing
/// blocks.
public final class DBusConnection: @unchecked Sendable {
    // `@unchecked`: each entry checks that it runs on the executor's thread, and only that thread touches the
    // state. `shared` has a lock, because any thread may read it.

    /// The address of a bus.
    public enum Address: Hashable, Sendable {
        /// The bus in `DBUS_SYSTEM_BUS_ADDRESS`, or the machine's system bus if that variable is not set.
        case system
        /// A D-Bus address, such as `unix:path=/run/dbus/system_bus_socket`.
        case address(String)
    }

    let source: ConnectionSource
    let logger: Logger
    private let isTracing: Bool
    private let shared = Lock(Shared())

    var calls = PendingCalls()
    var subscriptions: [Subscription] = []
    var names: [String: NameWatch] = [:]
    var lastIdentifier: UInt64 = 0
    var objects = ExportedObjects()
    /// Called with each reply that belongs to no pending call, for tests of peers.
    package var onUnexpectedReply: (@Sendable (DBusMessage) -> Void)?
    private var disconnectHandlers: [@Sendable () -> Void] = []
    private var drainHandlers: [(limit: Int, handler: @Sendable () -> Void)] = []

    /// The state that any thread may read.
    private struct Shared {
        var uniqueName = ""
        var isClosed = false
    }

    init(_ raw: OpaquePointer, logger: Logger) {
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

    /// The connection's unique name on the bus.
    public var uniqueName: String { shared.withLock { $0.uniqueName } }

    /// Whether the connection has ended, because the bus closed it or `close` was called.
    public var isClosed: Bool { shared.withLock { $0.isClosed } }

    /// Connects to a bus and calls its method `Hello`.
    ///
    /// If the task is cancelled, this ends immediately and throws `cancelled` or `disconnected`.
    public static func connect(
        to address: Address = .system, logger: Logger = Logger(label: "mynah.dbus")
    ) async throws(DBusError) -> DBusConnection {
        try await ConnectionGreeting().connect(to: address.resolved, logger: logger)
    }

    /// Stores the unique name that the bus has given to this connection.
    func greeted(as name: String) {
        shared.withLock { $0.uniqueName = name }
        dbus_bus_set_unique_name(source.connection, name)
    }

    /// Closes the connection.
    ///
    /// Pending calls fail, and the handlers of `onDisconnect` are called.
    public func close() async {
        await GLibExecutor.shared.perform { self.lost() }
    }

    /// Calls `handler` once when the connection ends, or immediately if it has already ended.
    public func onDisconnect(_ handler: @escaping @Sendable () -> Void) {
        checkExecutor()
        if source.isClosed { handler() } else { disconnectHandlers.append(handler) }
    }

    /// The number of bytes that wait to be sent to the bus.
    public var outgoingSize: Int {
        checkExecutor()
        return source.isClosed ? 0 : dbus_connection_get_outgoing_size(source.connection)
    }

    /// Calls `handler` once when fewer than `limit` bytes wait to be sent to the bus.
    ///
    /// If the connection ends first, `handler` is never called.
    public func whenOutgoing(isBelow limit: Int, _ handler: @escaping @Sendable () -> Void) {
        checkExecutor()
        if source.isClosed { return }
        drainHandlers.append((limit, handler))
        // The limit is checked after a turn of the source, and no other event may cause a turn.
        source.setReadyTime(0)
    }

    // MARK: - Inside

    func checkExecutor() {
        precondition(GLibExecutor.shared.isCurrent, "D-Bus may be used on its executor only")
    }

    /// Passes a message to libdbus, which writes as many bytes as the socket has room for.
    ///
    /// Returns the message's serial, or `nil` if the connection is closed.
    @discardableResult
    func send(_ message: DBusMessage) -> UInt32? {
        checkExecutor()
        guard !source.isClosed else { return nil }
        var serial: dbus_uint32_t = 0
        guard dbus_connection_send(source.connection, message.raw, &serial) != 0 else { return nil }
        trace("sent", message)
        return serial
    }

    func receive(_ message: DBusMessage) {
        trace("received", message)
        switch message.kind {
        case .methodReturn, .error:
            guard let call = calls.remove(message.replySerial) else {
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
            // The call gets a copy, because its object may change the exported objects.
            let objects = objects
            objects.dispatch(MethodCall(message, on: self))
        case .unknown:
            break
        }
    }

    /// Handles the end of a turn of the loop: ends calls that have timed out, and calls handlers of
    /// `whenOutgoing`.
    func turnEnded() {
        for call in calls.takeExpired(now: LoopSource.now) {
            call.completion(.failure(DBusError(.noReply, "no answer within \(call.timeout.text)")))
        }
        if source.isClosed { return }
        source.setReadyTime(calls.nextDeadline)
        guard !drainHandlers.isEmpty else { return }
        let waiting = outgoingSize
        let ready = drainHandlers.filter { waiting < $0.limit }
        drainHandlers.removeAll { waiting < $0.limit }
        for entry in ready {
            entry.handler()
        }
    }

    func lost() {
        guard !source.isClosed else { return }
        shared.withLock { $0.isClosed = true }
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
        logger.trace("message", metadata: message.metadata(direction: what))
    }
}

extension DBusMessage {
    /// The description of a message for logs, with its direction.
    fileprivate func metadata(direction: StaticString) -> Logger.Metadata {
        [
            "direction": "\(direction)", "kind": "\(kind)", "serial": "\(serial)",
            "replyTo": "\(replySerial)", "sender": "\(sender ?? "")",
            "destination": "\(destination ?? "")", "path": "\(path?.string ?? "")",
            "interface": "\(interface ?? "")", "member": "\(member ?? "")",
            "error": "\(error?.description ?? "")", "signature": "\(signature)",
        ]
    }
}

/// The name, object path and interface of the bus itself, for calls to it.
enum Bus {
    static let name = "org.freedesktop.DBus"
    static let path: ObjectPath = "/org/freedesktop/DBus"
    static let interface = "org.freedesktop.DBus"
}
