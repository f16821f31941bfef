#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Notices through inotify that a directory, or an entry of it, was deleted or moved away.
struct DirectoryWatch: Sendable {
    /// Becomes readable when something was deleted or moved.
    let descriptor: Int32
    private var watched: Int32 = -1
    private var buffer = [UInt8](repeating: 0, count: 4096)

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// A watch that follows no directory yet; fails if the user has as many as the kernel grants.
    static func make() -> Result<DirectoryWatch, SystemError> {
        let descriptor = inotify_init()
        guard descriptor >= 0 else { return .failure(SystemError(errno)) }
        Descriptor.prepare(descriptor)
        return .success(DirectoryWatch(descriptor))
    }

    /// Watches this directory, and none before; returns what went wrong.
    mutating func follow(_ path: String) -> SystemError? {
        let entries = IN_DELETE | IN_MOVED_FROM
        let itself = IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR
        let added = inotify_add_watch(descriptor, path, UInt32(entries) | UInt32(itself))
        guard added >= 0 else { return SystemError(errno) }
        // The same directory has the same number.
        if watched >= 0, watched != added { inotify_rm_watch(descriptor, watched) }
        watched = added
        return nil
    }

    /// Reads what happened; returns whether the directory or this entry of it may be gone.
    mutating func mayHaveLost(_ entry: String) -> Bool {
        var isLost = false
        while true {
            let count = systemRead(descriptor, &buffer)
            guard count > 0 else { return isLost }
            for event in Self.events(in: buffer[..<count]) where event.watch == watched || event.watch < 0 {
                // An event without a name is about the directory, or about events that were lost.
                if event.name.isEmpty || event.name == entry { isLost = true }
            }
        }
    }

    /// An `inotify_event`.
    struct Event: Hashable {
        /// Negative if the kernel lost events.
        var watch: Int32
        /// Empty if it is about the directory itself.
        var name: String
    }

    /// The events in what was read.
    static func events(in bytes: ArraySlice<UInt8>) -> [Event] {
        let header = MemoryLayout<inotify_event>.size
        var events: [Event] = []
        var rest = bytes
        while rest.count >= header {
            let event = rest.withUnsafeBytes { bytes in
                (
                    watch: bytes.loadUnaligned(fromByteOffset: 0, as: Int32.self),
                    length: Int(bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
                )
            }
            let name = rest.dropFirst(header).prefix(event.length).prefix { $0 != 0 }
            events.append(Event(watch: event.watch, name: String(decoding: name, as: UTF8.self)))
            rest = rest.dropFirst(header + event.length)
        }
        return events
    }
}
