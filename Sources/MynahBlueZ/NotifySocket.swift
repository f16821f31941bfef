import Glibc
import MynahDBus

/// The radio's end of a socket for notifications of one characteristic to one central.
///
/// Each message is one PDU.
final class NotifySocket: NotificationSocket, Sendable {
    private let fileDescriptor: DBusFileDescriptor
    private let watch: GLibFileDescriptorWatch

    /// Returns both ends of a new socket, or `nil` if the system cannot make one.
    static func pair() -> (ours: DBusFileDescriptor, theirs: DBusFileDescriptor)? {
        var ends: [Int32] = [-1, -1]
        let type =
            Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { return nil }
        return (DBusFileDescriptor(owning: ends[0]), DBusFileDescriptor(owning: ends[1]))
    }

    /// Watches the socket.
    ///
    /// `handler` is called on the executor when the socket has a confirmation or buffer space, and when it is
    /// closed.
    init(
        _ fileDescriptor: DBusFileDescriptor,
        _ handler: @escaping @Sendable (GLibFileDescriptorWatch.Events) -> Void
    ) {
        self.fileDescriptor = fileDescriptor
        watch = GLibFileDescriptorWatch(fileDescriptor, .readable, handler)
    }

    var hasRoom: Bool {
        var entry = pollfd(fd: fileDescriptor.rawValue, events: Int16(POLLOUT), revents: 0)
        return poll(&entry, 1, 0) == 1
    }

    func waitForRoom() { watch.setEvents([.readable, .writable]) }

    func stopWaitingForRoom() { watch.setEvents(.readable) }

    /// Writes one message.
    ///
    /// If the socket is closed, the watch reports it.
    func send(_ bytes: [UInt8]) {
        _ = Self.write(fileDescriptor.rawValue, bytes)
    }

    private static func write(_ fileDescriptor: Int32, _ bytes: [UInt8]) -> Int {
        Glibc.send(fileDescriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Reads the received confirmations, which are one byte each, and returns their number.
    func takeConfirmations() -> Int {
        var buffer = [UInt8](repeating: 0, count: 64)
        var confirmations = 0
        while true {
            let count = recv(fileDescriptor.rawValue, &buffer, buffer.count, 0)
            guard count > 0 else { return confirmations }
            confirmations += count
        }
    }
}
