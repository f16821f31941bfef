import Glibc

/// A path at which there may be a Unix domain stream socket.
package struct UnixSocketPath: Hashable, Sendable {
    package let path: String

    package init(_ path: String) {
        self.path = path
    }

    /// The error of connecting to the socket, or `nil` if a process listens on it.
    ///
    /// The process does not notice this test, because the test uses a datagram socket: the kernel finds the
    /// stream socket and refuses with `EPROTOTYPE`. The error is `EPROTOTYPE` if the socket at the path has
    /// another type, and `ENAMETOOLONG` if the path is too long.
    package var problem: SystemError? {
        guard let address = SocketAddress(path: path) else { return SystemError(ENAMETOOLONG) }
        let probe = socket(AF_UNIX, Self.datagrams | Self.closeOnExec, 0)
        guard probe >= 0 else { return SystemError(errno) }
        defer { close(probe) }
        let result = address.with { connect(probe, $0, $1) }
        // If the connection succeeds, the socket at the path is a datagram socket, not a stream.
        let error = SystemError(result == 0 ? EPROTOTYPE : errno)
        return result != 0 && error.number == EPROTOTYPE && !hasPackets ? nil : error
    }

    /// Whether the file at the path exists and is not a socket.
    package var isOtherThanSocket: Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFSOCK
    }

    /// Whether the kernel lists a socket of the type `SOCK_SEQPACKET` at the path (proc_net(5), unix).
    private var hasPackets: Bool {
        // The kernel reports a size of 0 for this file, so it is read up to a generous limit.
        guard let file = try? InputFile("/proc/net/unix"), let bytes = try? file.prefix(1 << 26) else {
            return false
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").contains { line in
            let fields = line.split(separator: " ", maxSplits: 7, omittingEmptySubsequences: true)
            return fields.count == 8 && fields[4] == "0005" && fields[7] == path
        }
    }

    private static let datagrams = Int32(SOCK_DGRAM.rawValue)
    private static let closeOnExec = Int32(SOCK_CLOEXEC.rawValue)
}
