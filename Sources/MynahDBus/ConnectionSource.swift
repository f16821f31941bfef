import MynahCDBus
import MynahCGLib

/// A GLib source for the sockets and the message queue of a libdbus connection.
///
/// All reading from the bus happens here.
final class ConnectionSource: LoopSource, @unchecked Sendable {
    // `@unchecked`: all state is used only on the loop's thread.
    let connection: OpaquePointer
    weak var owner: DBusConnection?
    private var watches: [Watch] = []
    private var hasMessages = false
    private(set) var isClosed = false

    /// The largest number of messages handled in one turn of the loop, so that the executor's jobs get a turn
    /// too.
    private static let messagesPerTurn = 64

    /// Makes the source of a connection, and takes ownership of the connection.
    init(_ connection: OpaquePointer) {
        self.connection = connection
    }

    /// Adds the connection's descriptors to the loop.
    func start() {
        attach(to: GLibExecutor.shared.context)
        let data = Unmanaged.passUnretained(self).toOpaque()
        // libdbus holds the connection's lock while it calls these three closures, so they must not call any
        // `dbus_connection_…` function.
        dbus_connection_set_watch_functions(
            connection,
            { watch, data in
                ConnectionSource.from(data)?.add(watch)
                return 1
            },
            { watch, data in ConnectionSource.from(data)?.remove(watch) },
            { watch, data in ConnectionSource.from(data)?.toggle(watch) },
            data, nil)
        dbus_connection_set_dispatch_status_function(
            connection,
            { _, status, data in
                // The status is only stored: handling messages here would run handlers in the middle of a
                // send.
                if status == DBUS_DISPATCH_DATA_REMAINS { ConnectionSource.from(data)?.hasMessages = true }
            }, data, nil)
        hasMessages = dbus_connection_get_dispatch_status(connection) == DBUS_DISPATCH_DATA_REMAINS
    }

    /// Closes the connection and removes the source from the loop.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        dbus_connection_set_dispatch_status_function(connection, nil, nil, nil)
        dbus_connection_close(connection)
        dbus_connection_set_watch_functions(connection, nil, nil, nil, nil, nil)
        dbus_connection_unref(connection)
        destroy()
    }

    override func prepare() -> Bool { hasMessages }

    override func check() -> Bool {
        hasMessages || watches.contains { $0.poll.pointee.revents != 0 }
    }

    override func dispatch() {
        guard !isClosed else { return }
        handleWatches()
        var turns = Self.messagesPerTurn
        let owner = owner
        while turns > 0 {
            // The status function sets it again if more messages come while this one is handled.
            hasMessages = false
            guard let message = dbus_connection_pop_message(connection) else { break }
            owner?.receive(DBusMessage(adopting: message))
            if isClosed { return }
            turns -= 1
        }
        if turns == 0 { hasMessages = true }
        owner?.turnEnded()
    }

    // MARK: - Watches

    /// A watch of libdbus for one direction of the socket: reading or writing.
    private final class Watch {
        let raw: OpaquePointer
        let poll: UnsafeMutablePointer<GPollFD>
        var isPolled = false
        var isRemoved = false

        init(_ raw: OpaquePointer) {
            self.raw = raw
            let flags = dbus_watch_get_flags(raw)
            var events: UInt16 = 0
            if flags & DBUS_WATCH_READABLE.rawValue != 0 { events |= UInt16(G_IO_IN.rawValue) }
            if flags & DBUS_WATCH_WRITABLE.rawValue != 0 { events |= UInt16(G_IO_OUT.rawValue) }
            poll = .allocate(capacity: 1)
            poll.initialize(to: GPollFD(fd: dbus_watch_get_unix_fd(raw), events: events, revents: 0))
        }

        deinit { poll.deallocate() }
    }

    private func handleWatches() {
        for watch in watches {
            let events = UInt32(watch.poll.pointee.revents)
            watch.poll.pointee.revents = 0
            guard events != 0, watch.isPolled, !watch.isRemoved else { continue }
            var flags: UInt32 = 0
            if events & G_IO_IN.rawValue != 0 { flags |= DBUS_WATCH_READABLE.rawValue }
            if events & G_IO_OUT.rawValue != 0 { flags |= DBUS_WATCH_WRITABLE.rawValue }
            if events & G_IO_ERR.rawValue != 0 { flags |= DBUS_WATCH_ERROR.rawValue }
            if events & G_IO_HUP.rawValue != 0 { flags |= DBUS_WATCH_HANGUP.rawValue }
            dbus_watch_handle(watch.raw, flags)
        }
    }

    private func add(_ raw: OpaquePointer?) {
        guard let raw else { return }
        remove(raw)
        let watch = Watch(raw)
        watches.append(watch)
        setPolled(watch, dbus_watch_get_enabled(raw) != 0)
    }

    private func remove(_ raw: OpaquePointer?) {
        guard let index = watches.firstIndex(where: { $0.raw == raw }) else { return }
        let watch = watches.remove(at: index)
        setPolled(watch, false)
        watch.isRemoved = true
    }

    private func toggle(_ raw: OpaquePointer?) {
        guard let watch = watches.first(where: { $0.raw == raw }) else { return }
        setPolled(watch, dbus_watch_get_enabled(watch.raw) != 0)
    }

    /// Adds a watch to the poll, or removes it.
    ///
    /// A disabled watch must be removed: after a hang-up, its descriptor would wake up the loop again and
    /// again.
    private func setPolled(_ watch: Watch, _ polled: Bool) {
        guard watch.isPolled != polled else { return }
        watch.isPolled = polled
        watch.poll.pointee.revents = 0
        let source = raw
        if polled { g_source_add_poll(source, watch.poll) } else { g_source_remove_poll(source, watch.poll) }
    }

    private static func from(_ data: UnsafeMutableRawPointer?) -> ConnectionSource? {
        data.map { Unmanaged<ConnectionSource>.fromOpaque($0).takeUnretainedValue() }
    }
}
