import MynahCGLib

/// Watches a socket or pipe, and calls a handler on the executor when it is readable, writable or closed.
public final class GLibFileDescriptorWatch: Sendable {
    /// Conditions of a file descriptor.
    public struct Events: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt8

        /// Makes conditions from their bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The descriptor can be read.
        public static let readable = Events(rawValue: 1)
        /// The descriptor can be written.
        public static let writable = Events(rawValue: 2)
        /// The other end is closed, or the file descriptor is invalid.
        ///
        /// This condition is reported even if it was not requested. It is reported only once, and then the
        /// watch ends.
        public static let hangUp = Events(rawValue: 4)
    }

    private let source: FileDescriptorSource

    /// Calls `handler` on the executor each time one of `events` applies to a file descriptor.
    ///
    /// The watch keeps the file descriptor open.
    public init(
        _ fileDescriptor: DBusFileDescriptor, _ events: Events,
        _ handler: @escaping @Sendable (Events) -> Void
    ) {
        source = FileDescriptorSource(fileDescriptor, events, handler)
        source.attach(to: GLibExecutor.shared.context)
    }

    deinit {
        source.destroy()
    }

    /// Changes the conditions to watch for; must be called on the executor.
    public func setEvents(_ events: Events) {
        precondition(GLibExecutor.shared.isCurrent, "a watch is changed on the executor only")
        source.setEvents(events)
    }
}

private final class FileDescriptorSource: LoopSource, @unchecked Sendable {
    // `@unchecked`: `tag` is set before the source is attached, and then used only on the loop's thread.
    private let fileDescriptor: DBusFileDescriptor
    private let handler: @Sendable (GLibFileDescriptorWatch.Events) -> Void
    private var tag: gpointer?

    init(
        _ fileDescriptor: DBusFileDescriptor, _ events: GLibFileDescriptorWatch.Events,
        _ handler: @escaping @Sendable (GLibFileDescriptorWatch.Events) -> Void
    ) {
        self.fileDescriptor = fileDescriptor
        self.handler = handler
        super.init()
        tag = g_source_add_unix_fd(raw, fileDescriptor.rawValue, events.condition)
    }

    func setEvents(_ events: GLibFileDescriptorWatch.Events) {
        guard let tag else { return }
        g_source_modify_unix_fd(raw, tag, events.condition)
    }

    override func check() -> Bool {
        guard let tag else { return false }
        return g_source_query_unix_fd(raw, tag).rawValue != 0
    }

    override func dispatch() {
        guard let tag else { return }
        let condition = g_source_query_unix_fd(raw, tag).rawValue
        var events: GLibFileDescriptorWatch.Events = []
        if condition & G_IO_IN.rawValue != 0 { events.insert(.readable) }
        if condition & G_IO_OUT.rawValue != 0 { events.insert(.writable) }
        if condition & (G_IO_HUP.rawValue | G_IO_ERR.rawValue | G_IO_NVAL.rawValue) != 0 {
            events.insert(.hangUp)
            // Further polling would report the hang-up again and again.
            g_source_remove_unix_fd(raw, tag)
            self.tag = nil
        }
        if !events.isEmpty { handler(events) }
    }
}

extension GLibFileDescriptorWatch.Events {
    fileprivate var condition: GIOCondition {
        var bits: UInt32 = 0
        if contains(.readable) { bits |= G_IO_IN.rawValue }
        if contains(.writable) { bits |= G_IO_OUT.rawValue }
        return GIOCondition(rawValue: bits)
    }
}
