import Glibc
import MynahCore
import MynahSupport

/// A socket that others connect to.
struct Listener: Sendable {
    let descriptor: Int32
    /// The path to remove with the socket, or `nil` for a TCP socket, or after it was removed.
    private let path: Lock<String?>?

    /// The port, of a TCP socket.
    var port: UInt16? { SocketAddress.port(of: descriptor) }

    /// Listens on a TCP port.
    init(host: String, port: UInt16) async throws(RadioError) {
        let addresses = try await SocketAddress.resolve(host, port)
        descriptor = try Self.bound(addresses, host, port) { systemListen($0) == 0 }
        path = nil
    }

    /// The error of listening on a TCP port, or `nil` if it is free.
    ///
    /// The port is bound and let go again. Nothing listens on it meanwhile, so no controller connects.
    static func problem(host: String, port: UInt16) -> RadioError? {
        do throws(RadioError) {
            let addresses = try SocketAddress.lookUp(host, port).get()
            systemClose(try bound(addresses, host, port) { _ in true })
            return nil
        } catch {
            return error
        }
    }

    /// A socket at the first of these addresses that is free and that `isUsable` accepts.
    private static func bound(
        _ addresses: [SocketAddress.Resolved], _ host: String, _ port: UInt16, isUsable: (Int32) -> Bool
    ) throws(RadioError) -> Int32 {
        var last = SystemError(EADDRNOTAVAIL)
        for address in addresses {
            switch Descriptor.socket(address.family, Descriptor.stream) {
            case .failure(let error): last = error
            case .success(let made):
                var on: Int32 = 1
                setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
                if address.with({ bind(made, $0, $1) }) == 0, isUsable(made) { return made }
                last = SystemError(errno)
                systemClose(made)
            }
        }
        switch last.number {
        case EADDRINUSE:
            throw RadioError(
                .unreachable, "the port \(port) is in use",
                remedy: "choose another, or end the process that has it: ss -ltnp")
        case EACCES:
            throw RadioError(
                .notPermitted, "only root may listen on the port \(port)", remedy: "choose one above 1023")
        default:
            throw RadioError(.unreachable, "cannot listen on \(host):\(port): \(last)")
        }
    }

    /// Listens on a path.
    ///
    /// The socket of a process that has ended is replaced.
    init(path: String) throws(RadioError) {
        let made: Int32
        switch Descriptor.socket(AF_UNIX, Descriptor.stream) {
        case .success(let found): made = found
        case .failure(let error): throw RadioError(.unreachable, "a socket cannot be made: \(error)")
        }
        if Self.isDead(path) { unlink(path) }
        let bound = Descriptor.withUnixAddress(path) { bind(made, $0, $1) }
        guard bound == 0, systemListen(made) == 0 else {
            let error = SystemError(errno)
            systemClose(made)
            throw Self.error(bound == nil ? SystemError(ENAMETOOLONG) : error, at: path)
        }
        descriptor = made
        self.path = Lock(path)
    }

    /// The error of listening on a path, as far as it is known without making a socket there.
    static func problem(path: String) -> RadioError? {
        guard Descriptor.withUnixAddress(path, { _, _ in }) != nil else {
            return error(SystemError(ENAMETOOLONG), at: path)
        }
        var status = stat()
        if lstat(path, &status) == 0, !isDead(path) { return error(SystemError(EADDRINUSE), at: path) }
        return access(Directory.parent(of: path), W_OK | X_OK) == 0
            ? nil : error(SystemError(errno), at: path)
    }

    private static func error(_ error: SystemError, at path: String) -> RadioError {
        switch error.number {
        case ENAMETOOLONG: RadioError.tooLong(path)
        case EADDRINUSE where isDirectory(path):
            RadioError(
                .unreachable, "cannot listen on \(path), which is a directory",
                remedy: "name a socket in it, as in \(path)\(path.hasSuffix("/") ? "" : "/")hci")
        case EADDRINUSE:
            RadioError(.unreachable, "\(path) is in use", remedy: "choose another path, or remove it")
        case ENOENT, ENOTDIR, EACCES, EROFS:
            RadioError(
                error.number == EACCES ? .notPermitted : .unreachable, "cannot listen on \(path): \(error)",
                remedy: "choose a path in a directory that is there and that you may write to")
        default: RadioError(.unreachable, "cannot listen on \(path): \(error)")
        }
    }

    private static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Returns whether the socket at a path has no listener.
    private static func isDead(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
            && Descriptor.unixProblem(path)?.number == ECONNREFUSED
    }

    /// The descriptor of a new connection, or `nil` if there is none.
    func accept() -> Int32? {
        let accepted = systemAccept(descriptor)
        guard accepted >= 0 else { return nil }
        Descriptor.prepare(accepted)
        if path == nil { SocketAddress.hurry(accepted) }
        return accepted
    }

    /// Listens no more.
    func close() {
        systemClose(descriptor)
        removePath()
    }

    /// Removes the path of the socket, once: no client can connect from now on.
    func removePath() {
        path?.withLock { path in
            if let path { unlink(path) }
            path = nil
        }
    }
}

extension RadioError {
    /// The error for a path that does not fit the address of a socket.
    static func tooLong(_ path: String) -> RadioError {
        RadioError(
            .unreachable, "the path \(path) is too long for a socket",
            remedy: "choose one with at most 107 bytes")
    }
}
