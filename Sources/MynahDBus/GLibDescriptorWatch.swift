import MynahCGLib

/// Tells on the executor when a socket or pipe can be read or written, or has been hung up, until it is let go.
public final class GLibDescriptorWatch: Sendable {
    /// What has happened, or what is waited for.
    public struct Events: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt8

        /// Of these bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// There is something to read.
        public static let readable = Events(rawValue: 1)
        /// There is room to write.
        public static let writable = Events(rawValue: 2)
        /// The other end is closed, or the descriptor is broken; told once without being asked for, and the watch ends.
        public static let hangUp = Events(rawValue: 4)
    }

    private let source: DescriptorSource

    /// Calls `handler` on the executor each time one of `events` has come, and keeps the descriptor open meanwhile.
    public init(
        _ descriptor: DBusFileDescriptor, _ events: Events, _ handler: @escaping @Sendable (Events) -> Void
    ) {
        source = DescriptorSource(descriptor, events, handler)
        source.attach(to: GLibExecutor.shared.context)
    }

    deinit {
        source.destroy()
    }

    /// Waits for other events from now on; called on the executor.
    public func setEvents(_ events: Events) {
        precondition(GLibExecutor.shared.isCurrent, "a watch is changed on the executor only")
        source.setEvents(events)
    }
}

private final class DescriptorSource: LoopSource, @unchecked Sendable {
    // `@unchecked`: the tag is written before the source is attached, then touched on the loop's thread only.
    private let descriptor: DBusFileDescriptor
    private let handler: @Sendable (GLibDescriptorWatch.Events) -> Void
    private var tag: gpointer?

    init(
        _ descriptor: DBusFileDescriptor, _ events: GLibDescriptorWatch.Events,
        _ handler: @escaping @Sendable (GLibDescriptorWatch.Events) -> Void
    ) {
        self.descriptor = descriptor
        self.handler = handler
        super.init()
        tag = g_source_add_unix_fd(raw, descriptor.rawValue, events.condition)
    }

    func setEvents(_ events: GLibDescriptorWatch.Events) {
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
        var events: GLibDescriptorWatch.Events = []
        if condition & G_IO_IN.rawValue != 0 { events.insert(.readable) }
        if condition & G_IO_OUT.rawValue != 0 { events.insert(.writable) }
        if condition & (G_IO_HUP.rawValue | G_IO_ERR.rawValue | G_IO_NVAL.rawValue) != 0 {
            events.insert(.hangUp)
            // It would be told again and again.
            g_source_remove_unix_fd(raw, tag)
            self.tag = nil
        }
        if !events.isEmpty { handler(events) }
    }
}

extension GLibDescriptorWatch.Events {
    fileprivate var condition: GIOCondition {
        var bits: UInt32 = 0
        if contains(.readable) { bits |= G_IO_IN.rawValue }
        if contains(.writable) { bits |= G_IO_OUT.rawValue }
        return GIOCondition(rawValue: bits)
    }
}
