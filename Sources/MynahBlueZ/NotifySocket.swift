#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
import MynahDBus

/// Our end of a socket for one central's notifications of one characteristic; each message is one PDU.
final class NotifySocket: Sendable {
    private let descriptor: DBusFileDescriptor
    private let watch: GLibDescriptorWatch

    /// Both ends of a new socket; nil when the system has none left.
    static func pair() -> (ours: DBusFileDescriptor, theirs: DBusFileDescriptor)? {
        var ends: [Int32] = [-1, -1]
        let type =
            Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { return nil }
        return (DBusFileDescriptor(owning: ends[0]), DBusFileDescriptor(owning: ends[1]))
    }

    /// Hears confirmations, room and the end on the executor.
    init(
        _ descriptor: DBusFileDescriptor, _ handler: @escaping @Sendable (GLibDescriptorWatch.Events) -> Void
    ) {
        self.descriptor = descriptor
        watch = GLibDescriptorWatch(descriptor, .readable, handler)
    }

    /// Whether a message can be written now.
    var hasRoom: Bool {
        var entry = pollfd(fd: descriptor.rawValue, events: Int16(POLLOUT), revents: 0)
        return poll(&entry, 1, 0) == 1
    }

    /// Says when there is room, once.
    func waitForRoom() { watch.setEvents([.readable, .writable]) }

    /// Hears only what comes from now on.
    func stopWaitingForRoom() { watch.setEvents(.readable) }

    /// Writes one message; what a closed socket does with it is told by its end.
    func send(_ bytes: [UInt8]) {
        _ = Self.write(descriptor.rawValue, bytes)
    }

    private static func write(_ descriptor: Int32, _ bytes: [UInt8]) -> Int {
        #if canImport(Glibc)
            Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        #else
            Musl.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        #endif
    }

    /// How many confirmations have come: one byte each.
    func takeConfirmations() -> Int {
        var buffer = [UInt8](repeating: 0, count: 64)
        var confirmations = 0
        while true {
            let count = recv(descriptor.rawValue, &buffer, buffer.count, 0)
            guard count > 0 else { return confirmations }
            confirmations += count
        }
    }
}
