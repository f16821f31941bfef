import Glibc

/// A socket that listens, made by hand: NIO would leave a Unix socket open to other users until its mode is
/// changed, and would remove a path that is another's by now.
struct ListeningSocket: Sendable {
    /// Tells a socket's file from one that was made later under the same name.
    private struct Identity: Hashable {
        var device: dev_t
        var inode: ino_t
    }

    /// The descriptor, which does not block.
    let descriptor: Int32
    /// The address with the port that the system has chosen.
    let address: ControlAddress
    private let identity: Identity?

    /// Opens a socket at an address.
    ///
    /// The call may wait a moment for another process that opens a socket in the same directory.
    init(_ address: ControlAddress) async throws(ControlError) {
        switch address {
        case .tcp(let host, let port): self = try Self.open(host, port)
        case .unix(let path):
            let lock = await DirectoryLock(of: path)
            defer { lock.release() }
            self = try Self.open(path)
        }
    }

    private init(descriptor: Int32, address: ControlAddress, identity: Identity?) {
        self.descriptor = descriptor
        self.address = address
        self.identity = identity
    }

    /// Removes the path of a Unix socket, if it is still this one's.
    ///
    /// Call it before the socket is closed: its inode may be another's afterwards.
    func removePath() {
        guard case .unix(let path) = address, let identity, Self.socketIdentity(path) == identity else {
            return
        }
        unlink(path)
    }

    // MARK: - TCP

    private static func open(_ host: IPAddress, _ port: UInt16) throws(ControlError) -> ListeningSocket {
        let descriptor = try make(host.isIPv6 ? AF_INET6 : AF_INET)
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, size)
        // Connections inherit it: answers are small and are waited for.
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, size)
        if host.isIPv6 { setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, size) }
        let bound = host.withSocketAddress(port: port) { bind(descriptor, $0, $1) }
        guard bound == 0, listen(descriptor, backlog) == 0, let actual = Self.port(of: descriptor) else {
            let number = errno
            close(descriptor)
            let authority = "\(host.authority):\(port)"
            switch number {
            case EADDRINUSE:
                throw ControlError(
                    .inUse, "the port \(port) is in use",
                    remedy: "choose another, or 0 for a free one; ss -ltnp shows the process that has it")
            case EACCES:
                throw ControlError(
                    .notPermitted, "this user may not listen on port \(port)", remedy: "choose one above 1023"
                )
            case EADDRNOTAVAIL:
                throw ControlError(.invalidAddress, "\(host.text) is not an address of this machine")
            default: throw ControlError(.unavailable, "cannot listen on \(authority): \(reason(number))")
            }
        }
        return ListeningSocket(
            descriptor: descriptor, address: .tcp(host: host, port: actual), identity: nil)
    }

    private static func port(of descriptor: Int32) -> UInt16? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        // In both families the port follows the family, most significant byte first.
        return code == 0 ? withUnsafeBytes(of: &storage) { UInt16($0[2]) << 8 | UInt16($0[3]) } : nil
    }

    // MARK: - Unix

    private static func open(_ path: String) throws(ControlError) -> ListeningSocket {
        try removeLeftover(path)
        let descriptor = try make(AF_UNIX)
        // On Linux the new file takes the mode of the socket: at no time may another user connect.
        fchmod(descriptor, 0o600)
        let bound = withUnixAddress(path) { bind(descriptor, $0, $1) }
        guard bound == 0, listen(descriptor, backlog) == 0 else {
            let number = errno
            close(descriptor)
            if bound == 0 { unlink(path) }
            switch number {
            case EADDRINUSE: throw inUse(path)
            case EACCES, EPERM, EROFS:
                throw ControlError(
                    .notPermitted, "this user may not create \(path): \(reason(number))",
                    remedy: "choose a path in a directory of your own")
            case ENOENT, ENOTDIR:
                throw ControlError(
                    .unavailable, "the directory of \(path) does not exist", remedy: "create it")
            default: throw ControlError(.unavailable, "cannot listen on \(path): \(reason(number))")
            }
        }
        return ListeningSocket(
            descriptor: descriptor, address: .unix(path: path), identity: socketIdentity(path))
    }

    /// Removes a socket that no process listens on; throws if one does, or if the file is not a socket.
    private static func removeLeftover(_ path: String) throws(ControlError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw ControlError(
                .inUse, "\(path) exists and is not a socket", remedy: "choose another path, or remove it")
        }
        let probe = try make(AF_UNIX)
        defer { close(probe) }
        guard withUnixAddress(path, { connect(probe, $0, $1) }) != 0 else { throw inUse(path) }
        switch errno {
        case ECONNREFUSED:
            guard unlink(path) == 0 || errno == ENOENT else {
                throw ControlError(
                    .notPermitted,
                    "this user may not remove \(path), the socket of an ended process: \(reason(errno))",
                    remedy: "choose another path")
            }
        case ENOENT: return
        case EACCES, EPERM:
            throw ControlError(
                .notPermitted, "the socket \(path) is another user's", remedy: "choose another path")
        // Its queue is full, or it has another type: somebody has it.
        default: throw inUse(path)
        }
    }

    private static func inUse(_ path: String) -> ControlError {
        ControlError(
            .inUse, "another process listens on \(path)", remedy: "choose another path, or end that process")
    }

    private static func socketIdentity(_ path: String) -> Identity? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        return Identity(device: status.st_dev, inode: status.st_ino)
    }

    static func withUnixAddress(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count <= ControlAddress.pathLimit else {
            errno = ENAMETOOLONG
            return -1
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    // MARK: -

    private static let backlog: Int32 = 128

    private static func make(_ family: Int32) throws(ControlError) -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(family, type, 0)
        guard descriptor >= 0 else {
            throw ControlError(.unavailable, "a socket cannot be made: \(reason(errno))")
        }
        return descriptor
    }

    private static func reason(_ number: Int32) -> String { String(cString: strerror(number)) }
}

extension IPAddress {
    /// Runs `body` with the address and a port as the system's socket calls take them.
    func withSocketAddress(port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        // Not as sockaddr_in: NIO brings a module of its own for it, and which one declares it depends on the
        // order of a build. The layout is that of ip(7) and ipv6(7).
        var address: [UInt8] = []
        let family = sa_family_t(isIPv6 ? AF_INET6 : AF_INET)
        withUnsafeBytes(of: family) { address += $0 }
        address += [UInt8(port >> 8), UInt8(port & 0xFF)]
        // IPv6 has flow information before the address, and a scope after it.
        address += isIPv6 ? [0, 0, 0, 0] + bytes + [0, 0, 0, 0] : bytes + [UInt8](repeating: 0, count: 8)
        return address.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress else { return -1 }
            return body(start.assumingMemoryBound(to: sockaddr.self), socklen_t(buffer.count))
        }
    }
}

/// Keeps other servers from taking a socket for a leftover while this process is between `bind` and
/// `listen`, or from removing the one that has just replaced a leftover.
///
/// The lock is on the directory itself, so that no lock file is left.
private struct DirectoryLock {
    private let descriptor: Int32

    /// Locks the directory of a path.
    ///
    /// The caller goes on without the lock if the directory cannot be opened, or if another program keeps it
    /// locked: the lock is held for an instant only.
    init(of path: String) async {
        let directory =
            path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return }
        for _ in 0..<100 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK { return }
            // flock(2) either blocks the thread or has to be tried again.
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    func release() {
        if descriptor >= 0 { close(descriptor) }
    }
}
