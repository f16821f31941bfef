import Glibc

/// The system calls on file descriptors.
enum Descriptor {
    /// The outcome of a call that reads or writes bytes.
    enum Outcome: Equatable {
        case moved(Int)
        /// The call would block.
        case blocked
        /// The other side has ended it.
        case ended
        case failed(Int32)
    }

    /// Never blocks, and is not inherited.
    static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL, 0) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    /// Opens a socket of this kind, or throws the error.
    static func socket(_ domain: Int32, _ type: Int32, _ number: Int32 = 0) -> Result<Int32, SystemError> {
        let made = systemSocket(domain, type, number)
        guard made >= 0 else { return .failure(SystemError(errno)) }
        prepare(made)
        return .success(made)
    }

    /// `SOCK_STREAM` and the like as `Int32`, because their types differ between C libraries.
    static let stream = 1 as Int32
    static let datagrams = 2 as Int32
    static let raw = 3 as Int32
    static let sequencedPackets = 5 as Int32

    static func receive(_ descriptor: Int32, into buffer: inout [UInt8], flags: Int32 = 0) -> Outcome {
        outcome(recv(descriptor, &buffer, buffer.count, flags), endsAtZero: true)
    }

    static func send(_ descriptor: Int32, _ bytes: [UInt8]) -> Outcome {
        outcome(systemSend(descriptor, bytes), endsAtZero: false)
    }

    static func outcome(_ count: Int, endsAtZero: Bool) -> Outcome {
        if count > 0 || count == 0 && !endsAtZero { return .moved(count) }
        if count == 0 { return .ended }
        switch errno {
        case EAGAIN, EINTR: return .blocked
        case EPIPE, ECONNRESET: return .ended
        default: return .failed(errno)
        }
    }

    /// Calls `body` with an address of a Unix domain socket.
    ///
    /// Returns `nil` if the path is too long for one.
    static func withUnixAddress<Result>(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard bytes.count < room, !bytes.isEmpty else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

extension Descriptor {
    /// The contents of a file of the kernel, or `nil` if it cannot be opened.
    static func contents(of path: String) -> String? {
        let descriptor = systemOpen(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { systemClose(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = systemRead(descriptor, &buffer)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The error of connecting to a stream socket at a path, or `nil` if a process has it.
    ///
    /// That process does not notice: the kernel finds its socket, and refuses to connect a datagram socket to
    /// it (`EPROTOTYPE`). The error is `EPROTOTYPE` too if the socket at the path is of another type, and
    /// `ENAMETOOLONG` if the path is too long for a socket.
    static func unixProblem(_ path: String) -> SystemError? {
        switch socket(AF_UNIX, datagrams) {
        case .failure(let error): return error
        case .success(let probe):
            defer { systemClose(probe) }
            guard let result = withUnixAddress(path, { systemConnect(probe, $0, $1) }) else {
                return SystemError(ENAMETOOLONG)
            }
            // A socket of the probe's own type is not a stream.
            let error = SystemError(result == 0 ? EPROTOTYPE : errno)
            return result != 0 && error.number == EPROTOTYPE && !hasPackets(path) ? nil : error
        }
    }

    /// Whether there is a file at a path that is no socket.
    static func isOtherThanSocket(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFSOCK
    }

    /// Whether the kernel lists a socket for sequenced packets at a path (proc_net(5), unix).
    private static func hasPackets(_ path: String) -> Bool {
        contents(of: "/proc/net/unix")?.split(separator: "\n").contains { line in
            let fields = line.split(separator: " ", maxSplits: 7, omittingEmptySubsequences: true)
            return fields.count == 8 && fields[4] == "0005" && fields[7] == path
        } ?? false
    }
}

/// An error number of `errno`, with the system's text.
struct SystemError: Error, Hashable, CustomStringConvertible {
    var number: Int32

    init(_ number: Int32) {
        self.number = number
    }

    var description: String { String(cString: strerror(number)) }
}
